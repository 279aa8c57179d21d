"""Make the profile of a dataset from its source: embedded, downloaded, or the user's file.

How counts are read from a CSV stands in the config (`counts`): a column holds them, or the
rows per value of a column are counted. No row is ever guessed at: one that does not fit ends
the step with the file, the line and the value. Text is UTF-8; other bytes are kept as they
are, so they may stand in names. Columns and values are compared exactly; blanks around a
number do not matter, and 12.0 is 12.
"""

import contextlib
import csv
import difflib
import io
import itertools
import operator
import re
from collections import Counter

import numpy as np

from workflow.scripts.common import InputError, logged
from workflow.scripts.download import open_original, verify
from workflow.scripts.profiles import (
    LARGEST,
    profile_of,
    read_profile,
    require_exact,
    size,
    total,
    write_facts,
    write_profile,
)


def embedded_counts(path):
    """The profile that the repository ships."""
    return read_profile(path)


def file_counts(path, how):
    """The profile of the user's own CSV; `how` is the `counts` part of the config."""
    with open(path, "rb") as file:
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
    """The profile of an open (binary) CSV, called `name` in errors."""
    with _text(file, name) as lines:
        table = Table(lines, name, how.get("names"), how.get("absorb"))
        rows = itertools.islice(table, how.get("skip") or 0, None)
        for column, value in (how.get("where") or {}).items():
            rows = _rows_where(rows, table.index(column), str(value))
        if how.get("profile"):
            profile = _from_profile(table, rows)
        elif column := how.get("column"):
            profile = _from_column(table, rows, column)
        else:
            profile = _from_rows_per(table, rows, how["rows_per"])
    if not len(profile[0]):
        raise InputError(f"{name} has no rows to count (after `skip` and `where`)")
    require_exact(name, *profile)
    return profile


def _from_column(table, rows, column):
    at = table.index(column)
    return profile_of(np.fromiter((table.number(row[at], column) for row in rows), np.int64))


def _from_rows_per(table, rows, column):
    tally = Counter(map(operator.itemgetter(table.index(column)), rows))
    if "" in tally:
        raise InputError(f"{table.name} has {tally['']:,} rows with nothing in column {column!r}")
    return profile_of(np.fromiter(tally.values(), np.int64, len(tally)))


def _from_profile(table, rows):
    count, items = table.index("count"), table.index("items")
    pairs = np.fromiter(
        ((table.number(row[count], "count"), table.number(row[items], "items")) for row in rows),
        dtype=np.dtype((np.int64, 2)),
    )
    pairs = pairs[pairs[:, 1] > 0]
    return profile_of(pairs[:, 0], pairs[:, 1])


def _rows_where(rows, at, value):
    return (row for row in rows if row[at] == value)


class Table:
    """The data rows of a CSV, every one with a field for every column."""

    def __init__(self, lines, name, names=None, absorb=None):
        self.name = name
        self._line = ""
        self._reader = csv.reader(self._kept(lines), strict=True)
        self.columns = names or self._header()
        self._absorb = None if absorb is None else self.index(absorb)

    def _kept(self, lines):
        for self._line in lines:
            yield self._line

    def _header(self):
        try:
            header = next(self._reader, None)
        except csv.Error as error:
            raise self._error(f"not a CSV ({error})") from None
        if not header:
            raise InputError(f"{self.name} is empty or begins with an empty line")
        return header

    def __iter__(self):
        width, done = len(self.columns), self._reader.line_num
        while True:
            try:
                for row in self._reader:
                    if not row:
                        return self._require_end()
                    yield row if len(row) == width else self._absorbed(row)
                    done = self._reader.line_num
            except csv.Error as error:
                row = self._loosely_quoted(done, error)
                yield row if len(row) == width else self._absorbed(row)
                done = self._reader.line_num
            else:
                return

    def _absorbed(self, row):
        at, surplus = self._absorb, len(row) - len(self.columns)
        if surplus < 0 or at is None:
            raise self._error(
                f"{len(row)} fields instead of {len(self.columns)}; correct the line, or, for a "
                "comma too many, name the column it belongs to as `absorb`"
            )
        return [*row[:at], ",".join(row[at : at + surplus + 1]), *row[at + surplus + 1 :]]

    def _loosely_quoted(self, done, error):
        """The row of a line such as `"Ha" he said,1`, whose quotes do not enclose a field.

        Only if it begins and ends there: a row of several lines may have swallowed others.
        """
        with contextlib.suppress(csv.Error):
            row, *rest = csv.reader([self._line, "\n"])
            ends = bool(rest)  # the empty line is a row of its own, not part of a quoted field
            if self._reader.line_num == done + 1 and ends:
                return row
        raise self._error(f"not a CSV ({error}); do the quotes match?")

    def _require_end(self):
        """Empty lines may end a file; between rows, one may be a value that is missing."""
        empty = self._error("empty line between rows")
        if any(self._reader):
            raise empty

    def index(self, column):
        """The position of a column."""
        if (times := self.columns.count(column)) == 1:
            return self.columns.index(column)
        if times:
            raise InputError(f"{self.name} has {times} columns called {column!r}")
        plain = {name.strip().lower(): name for name in self.columns}
        near = difflib.get_close_matches(column.strip().lower(), plain, 1)
        listed = ", ".join(repr(name[:40]) for name in self.columns[:20])
        hint = f"did you mean {plain[near[0]]!r}?" if near else f"it has {listed}"
        raise InputError(f"{self.name} has no column {column!r}; {hint}")

    def number(self, text, column):
        """A count in the row read last."""
        digits = text.strip()
        if not (digits.isascii() and digits.isdigit()):
            whole = re.fullmatch(r"([0-9]+)\.0", digits)  # 1.000 may be a thousand
            digits = whole[1] if whole else ""
        if digits and len(digits) < 100 and (value := int(digits)) <= LARGEST:
            return value
        raise self._error(
            f"{column!r} is {text[:40]!r}, but must be a whole number from 0 to {LARGEST} "
            "(2^53) without separators"
        )

    def _error(self, what):
        return InputError(f"{self.name}, line {self._reader.line_num}: {what}")


@contextlib.contextmanager
def _text(file, name):
    """Lines of a binary file as the csv module wants them, without a byte-order mark."""
    start = file.peek(4)[:4]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{name} is UTF-16: save it as UTF-8")
    if start[:3] == b"\xef\xbb\xbf":
        file.read(3)
    # Bytes that are not UTF-8 stay distinct (and survive): they may stand in names.
    text = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline="")
    try:
        yield text
    finally:
        text.detach()


def main(source, raw, counts, facts, dataset, how=None, download=None, embedded=None):
    """Write the profile of a dataset to `counts`, and what is known of it to `facts`."""
    if source == "embedded":
        profile = embedded_counts(raw)
    elif source == "download":
        profile = downloaded_counts(raw, download, how, embedded)
    else:
        profile = file_counts(raw, how)
    write_profile(counts, *profile)
    write_facts(facts, *profile, dataset=dataset, source=source)
    print(f"{dataset}: {size(profile[1]):,} items, total {total(*profile):,}", flush=True)


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        main(
            raw=snakemake.input.raw,
            embedded=snakemake.input.get("embedded"),
            counts=snakemake.output.counts,
            facts=snakemake.output.facts,
            dataset=snakemake.params.dataset,
            source=snakemake.params.source,
            how=snakemake.params.counts,
            download=snakemake.params.get("download"),
        )
