"""Text files as tables: CSV, or with another delimiter than a comma.

Text is UTF-8; other bytes are kept as they are, so they may stand in names.
"""

import contextlib
import csv
import io
import re

from workflow.scripts.common import InputError
from workflow.scripts.data.table import Table

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon"}


@contextlib.contextmanager
def open_text(file, name, needed, delimiter=None, names=None, absorb=None):
    """The table in an open (binary) text file, with the delimiter that fits what is known of it.

    needed: the columns that must be there.
    names:  the columns of a file without a header line.
    absorb: the column that swallows the surplus of a row with too many fields.
    """
    with _opened(file, name) as (lines, start):
        delimiter = delimiter or _delimiter(start, name, needed, names, absorb)
        yield TextTable(lines, name, delimiter, names, absorb)


class TextTable(Table):
    """The data rows of a CSV, or of a file with another delimiter."""

    def __init__(self, lines, name, delimiter=",", names=None, absorb=None):
        self._line, self._delimiter = "", delimiter
        self._reader = csv.reader(self._kept(lines), strict=True, delimiter=delimiter)
        super().__init__(name, names)
        self.columns = names or self._header()
        self._absorb = None if absorb is None else self.index(absorb)

    def place(self):
        """Where the row read last ends."""
        return f"line {self._reader.line_num}"

    def _kept(self, lines):
        for self._line in lines:
            yield self._line

    def _header(self):
        try:
            header = next(self._reader, None)
        except csv.Error as error:
            raise self.error(f"not a CSV ({error})") from None
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
            delimiter = DELIMITERS.get(self._delimiter, repr(self._delimiter))
            raise self.error(
                f"{len(row)} fields instead of {len(self.columns)}; correct the line, or, for a "
                f"{delimiter} too many, name the column it belongs to as `absorb`"
            )
        inside = self._delimiter.join(row[at : at + surplus + 1])
        return [*row[:at], inside, *row[at + surplus + 1 :]]

    def _loosely_quoted(self, done, error):
        """The row of a line such as `"Ha" he said,1`, whose quotes do not enclose a field.

        Only if it begins and ends there: a row of several lines may have swallowed others.
        """
        with contextlib.suppress(csv.Error):
            row, *rest = csv.reader([self._line, "\n"], delimiter=self._delimiter)
            ends = bool(rest)  # the empty line is a row of its own, not part of a quoted field
            if self._reader.line_num == done + 1 and ends:
                return row
        raise self.error(f"not a CSV ({error}); do the quotes match?")

    def _require_end(self):
        """Empty lines may end a file; between rows, one may be a value that is missing."""
        empty = self.error("empty line between rows")
        if any(self._reader):
            raise empty


@contextlib.contextmanager
def _opened(file, name):
    """The lines of a binary file as the csv module wants them, and the first 64 kB as text."""
    start = file.peek()
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{name} is UTF-16: save it as UTF-8")
    if start[:3] == b"\xef\xbb\xbf":
        file.read(3)
        start = start[3:]
    # Bytes that are not UTF-8 stay distinct (and survive): they may stand in names.
    start = start.decode("utf-8", "surrogateescape")
    if _is_binary(start):
        raise InputError(f"{name} is not a text file; save the table as CSV (UTF-8) or Parquet")
    text = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline="")
    try:
        yield text, start
    finally:
        text.detach()


def _is_binary(start):
    """Whether a file begins with control characters: in its first line, or in many places."""
    control = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
    found = len(control.findall(start))
    return bool(control.search(re.match(r"[^\r\n]*", start)[0])) or found > 3 + len(start) / 100


def _delimiter(start, name, needed, names, absorb):
    """The delimiter of a file that begins like this.

    With a header line, it is the one that gives all columns that are needed; without one, the
    one that gives every row as many fields as there are `names`.
    """
    rows = {delimiter: _first_rows(start, delimiter) for delimiter in DELIMITERS}
    if names:
        fit = [d for d in DELIMITERS if rows[d] and _fit(rows[d], len(names), absorb)]
        if len(fit) > 1 and len(names) > 1:
            raise InputError(
                f"{name} could be read with {' or '.join(DELIMITERS[d] for d in fit)} as its "
                f"delimiter; say which, for example as `delimiter: {fit[0]!r}`"
            )
    else:
        fit = [d for d in DELIMITERS if rows[d] and {*needed} <= {*rows[d][0]}]
    if fit:
        return fit[0]
    return max(DELIMITERS, key=lambda d: len(rows[d][0]) if rows[d] else 0)


def _first_rows(start, delimiter):
    """The rows at the beginning of a file; the last may be cut off, and is left out."""
    rows = []
    with contextlib.suppress(csv.Error):
        rows.extend(filter(None, csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)))
    return rows[:-1] or rows


def _fit(rows, width, absorb):
    return all(len(row) == width or (absorb and len(row) > width) for row in rows)
