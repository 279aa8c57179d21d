"""Make the profile of a dataset from its source: embedded, downloaded, or the user's file.

How counts are read from a table stands in the config (`counts`): a column holds them, or the
rows per value of a column are counted, or the users of each value.
"""

import functools

import numpy as np

from dp_topk._tables import CountingError, File, Form
from dp_topk.counting import answer, query
from workflow.scripts.common import InputError
from workflow.scripts.data.originals import linked, open_original, verify
from workflow.scripts.data.profiles import (
    profile_of,
    read_profile,
    require_exact,
    require_published,
    size,
    total,
    write_facts,
    write_profile,
)


def file_counts(path, how, memory_mb=None):
    """The profile of the user's own table; `how` is the `counts` part of the config."""
    return counts_of(File(str(path), functools.partial(open, path, "rb")), how, memory_mb)


def downloaded_counts(path, download, how, embedded=None, memory_mb=None):
    """The profile of a downloaded original, once that is verified.

    `embedded`: the profile that must come out, where that is known.
    """
    verify(path, download)
    original = File(str(path), functools.partial(open_original, path, download))
    profile = counts_of(original, how, memory_mb)
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


# The counts (n) and how many items have each (m), from `rows` with the columns of `_columns`.
STATEMENTS = {
    "profile": "SELECT n, SUM(m) AS m FROM rows WHERE m > 0 GROUP BY n",
    "column": "SELECT n, COUNT(*) AS m FROM rows GROUP BY n",
    "item": """SELECT n, COUNT(*) AS m, MAX(times) AS times
        FROM (SELECT MAX(n) AS n, COUNT(*) AS times FROM rows GROUP BY item) GROUP BY n""",
    "rows_per": """SELECT n, COUNT(*) AS m
        FROM (SELECT COUNT(*) AS n FROM rows GROUP BY item) GROUP BY n""",
    "distinct": f"""SELECT users AS n, COUNT(*) AS m
        FROM ({query("user", "item", "rows")}) GROUP BY n""",
}


def counts_of(file, how, memory_mb=None):
    """The profile of the table in a file."""
    order = ("profile", "distinct", "item", "column", "rows_per")
    statement = STATEMENTS[next(kind for kind in order if how.get(kind))]
    columns = _columns(how)
    filters = how.get("where") or {}
    where = {f"where {number}": str(value) for number, value in enumerate(filters.values())}
    texts = zip(where, ((column, "text") for column in filters), strict=True)
    form = Form(how.get("delimiter"), how.get("names"), how.get("absorb"), loose=True, latin=True)
    try:
        found = answer(
            file,
            columns | dict(texts),
            statement,
            skip=how.get("skip") or 0,
            where=where,
            once=bool(how.get("item")),
            form=form,
            memory_mb=memory_mb,
        )
    except CountingError as error:
        raise InputError(f"{error}{error.shown}") from None
    if not len(found["n"]):
        raise InputError(f"{file.name} has no rows to count (after `skip` and `where`)")
    profile = profile_of(found["n"], np.minimum(found["m"].astype(float), 2.0**60))
    require_exact(file.name, *profile)
    return profile


def _columns(how):
    """What the statement calls each column of the table, and what that holds."""
    if how.get("profile"):
        return {"n": ("count", "count"), "m": ("items", "count")}
    named = {"n": (how.get("column"), "count"), "item": (how.get("item"), "key")}
    if how.get("rows_per"):
        named = {"item": (how["rows_per"], "key"), "user": (how.get("distinct"), "key")}
    return {name: about for name, about in named.items() if about[0]}


def make_counts(
    dataset, source, raw, counts, facts, ks, how=None, download=None, embedded=None, memory_mb=None
):
    """Write the profile of a dataset to `counts`, and what is known of it to `facts`.

    ks: how many items are to be selected; a dataset that has fewer than each is refused here,
    before anything else is computed.
    memory_mb: how much memory DuckDB may take.
    """
    if source == "embedded":
        require_published(raw)
        profile = read_profile(raw)
    elif source == "download":
        profile = downloaded_counts(linked(raw), download, how, embedded, memory_mb)
    else:
        profile = file_counts(raw, how, memory_mb)
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
