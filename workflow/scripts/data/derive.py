"""Make the profile of a dataset from its source: embedded, downloaded, or the user's file.

The config says how counts are read from a table (`counts`): a column holds them, or the rows per
value of a column are counted, or the users of each value.
"""

import functools

import numpy as np

from dp_topk.counting import CountingError, File, Form, Rows, query
from workflow.scripts.common import InputError
from workflow.scripts.data.originals import linked, open_original, verify
from workflow.scripts.data.profiles import (
    profile_of,
    read_profile,
    require_enough_items,
    require_exact,
    require_published,
    size,
    total,
    write_facts,
    write_profile,
)


def make_counts(
    dataset, source, raw, counts, facts, ks, how=None, download=None, embedded=None, memory_mb=None
):
    """Write the profile of a dataset to `counts`, and what is known of it to `facts`.

    ks: how many items are to be selected; a dataset that has fewer than each is refused here,
    before anything else is computed.
    embedded: the profile that must come out of a download, where that is known.
    memory_mb: how much memory DuckDB may take.
    """
    users = "unknown"  # see `write_facts`
    if source == "embedded":
        require_published(raw)
        profile = read_profile(raw)
    elif source == "download":
        path = linked(raw)
        verify(path, download)
        original = File(str(path), functools.partial(open_original, path, download))
        profile = counts_of(original, how, memory_mb)
        if embedded is not None:
            _require_equal(path, profile, embedded)
    else:
        profile = file_counts(raw, how, memory_mb)
    if source != "embedded" and how.get("rows_per"):
        users = "once" if how.get("distinct") else "any"
    d = size(profile[1])
    print(f"{dataset}: {d:,} items, total {total(*profile):,}", flush=True)
    require_enough_items(dataset, d, ks)
    if too_large := [str(k) for k in ks if k > d]:
        items = f"{d:,} item{'s' if d > 1 else ''}"
        print(f"warning: {dataset} has {items}; left out for it: k = {', '.join(too_large)}")
    write_profile(counts, *profile)
    write_facts(facts, *profile, dataset=dataset, source=source, users=users)


def _require_equal(path, found, embedded):
    expected = read_profile(embedded)
    if not all(map(np.array_equal, found, expected)):
        raise InputError(
            f"{path} has {size(found[1]):,} items with a total of {total(*found):,}, but "
            f"{embedded} has {size(expected[1]):,} with {total(*expected):,} and not the same "
            "counts: it is another version of the data; put the right one there, or use "
            "source: embedded, or keep it as a dataset of your own with source: file"
        )


def file_counts(path, how, memory_mb=None):
    """The profile of the user's own table; `how` is the `counts` part of the config."""
    return counts_of(File(str(path), functools.partial(open, path, "rb")), how, memory_mb)


def counts_of(file, how, memory_mb=None):
    """The profile of the table in a file."""
    columns, statement = _question(how)
    where = {column: str(value) for column, value in (how.get("where") or {}).items()}
    form = Form(how.get("delimiter"), how.get("names"), how.get("absorb"), lenient=True)
    rows = Rows(file, columns, how.get("skip") or 0, where, form=form, memory_mb=memory_mb)
    try:
        found = rows.answer(statement, once=bool(how.get("item")))
    except CountingError as error:
        raise InputError(f"{error}{error.shown}") from None
    if not len(found["n"]):
        raise InputError(f"{file.name} has no rows to count (after `skip` and `where`)")
    profile = profile_of(found["n"], np.minimum(found["m"].astype(float), 2.0**60))
    require_exact(file.name, *profile)
    return profile


def _question(how):
    """The columns to be read, and the SELECT of counts (n) and how many items have each (m)."""
    if how.get("profile"):
        columns = {"n": ("count", "count"), "m": ("items", "count")}
        return columns, "SELECT n, SUM(m) AS m FROM rows WHERE m > 0 GROUP BY n"
    if how.get("rows_per"):
        columns = {"item": (how["rows_per"], "key")}
        counted = "SELECT COUNT(*) AS n, 1 AS times FROM rows GROUP BY item"
        if how.get("distinct"):
            columns["user"] = (how["distinct"], "key")
            counted = f"SELECT users AS n, 1 AS times FROM ({query('user', 'item', 'rows')})"
    else:
        columns = {"n": (how["column"], "count")}
        counted = "SELECT n, 1 AS times FROM rows"
        if how.get("item"):
            columns["item"] = (how["item"], "key")
            counted = "SELECT MAX(n) AS n, COUNT(*) AS times FROM rows GROUP BY item"
    return columns, f"SELECT n, COUNT(*) AS m, MAX(times) AS times FROM ({counted}) GROUP BY n"
