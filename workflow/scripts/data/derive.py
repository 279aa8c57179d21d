"""Make the profile of a dataset from its source: embedded, downloaded, or the user's file.

How counts are read from a table stands in the config (`counts`): a column holds them, or the
rows per value of a column are counted, or the users of each value.
"""

import itertools
import operator
from collections import Counter

import numpy as np

from workflow.scripts.common import InputError
from workflow.scripts.data.distinct import DistinctUsers
from workflow.scripts.data.formats import BLOCK
from workflow.scripts.data.originals import linked, open_original, verify
from workflow.scripts.data.profiles import (
    profile_of,
    read_profile,
    require_exact,
    size,
    total,
    write_facts,
    write_profile,
)
from workflow.scripts.data.rows import open_table


def file_counts(path, how):
    """The profile of the user's own table; `how` is the `counts` part of the config."""
    with open(path, "rb", BLOCK) as file:
        return counts_of(file, path, how)


def downloaded_counts(path, download, how, embedded=None):
    """The profile of a downloaded original, once that is verified.

    `embedded`: the profile that must come out, where that is known.
    """
    verify(path, download)
    with open_original(path, download) as file:
        profile = counts_of(file, path, how)
    if embedded is not None:
        _require_equal(path, profile, embedded)
    return profile


def _require_equal(path, found, embedded):
    expected = read_profile(embedded)
    if not all(map(np.array_equal, found, expected)):
        raise InputError(
            f"{path} has {size(found[1]):,} items with a total of {total(*found):,}, but "
            f"{embedded} has {size(expected[1]):,} with {total(*expected):,} and not the same "
            "counts: it is another version of the data; put the right one there, or use "
            "source: embedded, or keep it as a dataset of your own with source: file"
        )


def counts_of(file, name, how):
    """The profile of the table in an open (binary) file, called `name` in errors."""
    with open_table(file, name, how) as table:
        rows = itertools.islice(table, how.get("skip") or 0, None)
        for column, value in (how.get("where") or {}).items():
            rows = _rows_where(rows, table.index(column), str(value))
        if how.get("profile"):
            profile = _from_profile(table, rows)
        elif column := how.get("column"):
            if how.get("item"):
                rows = _with_names_once(table, rows, how["item"])
            profile = _from_column(table, rows, column)
        elif how.get("distinct"):
            profile = _from_distinct(table, rows, how["rows_per"], how["distinct"])
        else:
            profile = _from_rows_per(table, rows, how["rows_per"])
    if not len(profile[0]):
        raise InputError(f"{name} has no rows to count (after `skip` and `where`)")
    require_exact(name, *profile)
    return profile


def _rows_where(rows, at, value):
    return (row for row in rows if row[at] == value)


def _from_column(table, rows, column):
    at = table.index(column)
    return profile_of(np.fromiter((table.number(row[at], column) for row in rows), np.int64))


def _with_names_once(table, rows, column):
    """The rows, as long as no item comes a second time: that is almost always a mistake."""
    at, seen = table.index(column), {""}
    for row in rows:
        if (name := row[at]) in seen:
            again = f"{name[:40]!r} a second time" if name else "nothing"
            raise table.error(
                f"{again} in column {column!r}; each item must have one row and a name (take "
                "away `item` if these are different items)"
            )
        seen.add(name)
        yield row


def _from_rows_per(table, rows, column):
    tally = Counter(map(operator.itemgetter(table.index(column)), rows))
    if "" in tally:
        raise InputError(
            f"{table.name} has {tally['']:,} rows with nothing in column {column!r}; fill them "
            "in, or take them out"
        )
    return profile_of(np.fromiter(tally.values(), np.int64, len(tally)))


def _from_distinct(table, rows, column, user_column):
    users = DistinctUsers()
    users.add(_pairs(table, rows, column, user_column))
    return profile_of(users.counts())


def _pairs(table, rows, column, user_column):
    of_item, of_user = table.index(column), table.index(user_column)
    for row in rows:
        item, user = row[of_item], row[of_user]
        if not (item and user):
            raise table.error(f"nothing in column {(user_column if item else column)!r}")
        yield item, user


def _from_profile(table, rows):
    count, items = table.index("count"), table.index("items")
    pairs = np.fromiter(
        ((table.number(row[count], "count"), table.number(row[items], "items")) for row in rows),
        dtype=np.dtype((np.int64, 2)),
    )
    pairs = pairs[pairs[:, 1] > 0]
    return profile_of(pairs[:, 0], pairs[:, 1])


def make_counts(dataset, source, raw, counts, facts, ks, how=None, download=None, embedded=None):
    """Write the profile of a dataset to `counts`, and what is known of it to `facts`.

    ks: how many items are to be selected; a dataset that has fewer than each is refused here,
    before anything else is computed.
    """
    if source == "embedded":
        profile = read_profile(raw)  # as the repository ships it
    elif source == "download":
        profile = downloaded_counts(linked(raw), download, how, embedded)
    else:
        profile = file_counts(raw, how)
    print(f"{dataset}: {size(profile[1]):,} items, total {total(*profile):,}", flush=True)
    _compare_with_ks(dataset, size(profile[1]), ks)
    write_profile(counts, *profile)
    users = _users(how) if source != "embedded" else "unknown"
    write_facts(facts, *profile, dataset=dataset, source=source, users=users)


def _compare_with_ks(dataset, d, ks):
    """Refuse a dataset with fewer items than the smallest k; say which k are left out."""
    items = f"{d:,} item{'s' if d > 1 else ''}"
    if d < min(ks):
        possible = sorted({max(1, d * fifth // 5) for fifth in range(1, 6)})
        raise InputError(
            f"{dataset} has {items}, fewer than the smallest k, {min(ks)}; "
            f"set `ks: {possible}` in your config"
        )
    if too_large := [k for k in ks if k > d]:
        print(f"warning: {dataset} has {items}; left out for it: k = {_listed(too_large)}")


def _listed(numbers):
    return ", ".join(map(str, numbers))


def _users(how):
    """How often a user may count for one item; see write_facts."""
    if not how.get("rows_per"):
        return "unknown"
    return "once" if how.get("distinct") else "any"
