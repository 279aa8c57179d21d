"""Tables in files as people have them, for DuckDB to count.

DuckDB's own reader of CSV cannot be left alone with a file. Version 2.0 at its strictest skips
empty lines, takes blanks off around quotes, drops surplus fields that are empty, keeps NUL, and
where lines end with CR LF it runs rows together or loses them, all without an error; and it takes
a line break inside quotes for a fault where one of its buffers ends there. So text reaches it
through a pipe, in blocks that were looked at on the way: line feeds at the ends of rows only (NUL
stands for those inside quotes), a field for every column, each quoted whole or not at all. A file
with anything else in it is read by Python, row by row: that is slow, knows the line, and either
refuses the row or hands it on all in quotes.
"""

import bz2
import contextlib
import csv
import difflib
import gzip
import importlib
import io
import itertools
import json
import lzma
import math
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np

BLOCK = 1 << 20
LONGEST_LINE = 2 << 20  # bytes
LONGEST_OBJECT = 32 << 20  # bytes; DuckDB refuses longer ones, wherever they stand
DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
BOM = "\ufeff".encode()
ZIP = re.compile(rb"PK(\x03\x04|\x05\x06)")  # the latter: nothing in it
JSON = re.compile(r"\ufeff?\s*(\[\s*)?\{\s*[\"}]")
CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
FOREIGN = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8
# What macOS adds to an archive about its folders and files.
ADDED = re.compile(r"__MACOSX/|(.*/)?\.DS_Store$")


class CountingError(ValueError):
    """What is wrong with the rows, where, and what to do: one sentence without values of rows.

    Attributes
    ----------
    shown : str
        A phrase with the value, for those who may see it; may be empty.
    """

    def __init__(self, sentence: str, shown: str = "") -> None:
        super().__init__(sentence)
        self.shown = shown


class Doubt(Exception):
    """A text could be understood in more than one way."""


class File(NamedTuple):
    """A file that can be opened as often as necessary, and its name in errors."""

    name: str
    open: Callable[[], contextlib.AbstractContextManager[Any]]


class Form(NamedTuple):
    """What is known of a text file beforehand.

    names: the columns of a file without a header line.
    absorb: the column that takes the surplus of a row with too many fields.
    lenient: quotes may stand inside a field that begins with one, if it ends on the same line, and
    bytes are characters, whatever their encoding; they can be compared, but not shown.
    """

    delimiter: str | None = None
    names: list[str] | None = None
    absorb: str | None = None
    lenient: bool = False


# ---------------------------------------------------------------- compressed files


@contextlib.contextmanager
def unpacked(file: File) -> Iterator[io.BufferedReader]:
    """The content of a file, as its first bytes say what it is."""
    try:
        with contextlib.ExitStack() as stack:
            raw = stack.enter_context(file.open())
            content = stack.enter_context(io.BufferedReader(raw, BLOCK))
            start = content.peek(16)
            opened = next((how for begins, how in UNPACKERS.items() if begins.match(start)), None)
            if opened:
                raw = stack.enter_context(opened(content, file.name))
                content = stack.enter_context(io.BufferedReader(raw, BLOCK))
            yield content
    except Exception as error:
        known = isinstance(error, (EOFError, zlib.error, lzma.LZMAError))
        known |= isinstance(error, OSError) and error.errno is None  # of gzip and bz2
        if known or type(error).__name__ == "ZstdError":  # of whichever module it is
            raise CountingError(f"{file.name} is cut short or damaged ({error})") from None
        raise


def _zstd(raw: IO[bytes], name: str) -> Any:
    for module in ("compression.zstd", "backports.zstd"):  # the first since Python 3.14
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).ZstdFile(raw)
    raise CountingError(
        f"{name} is compressed with zstd: pip install backports.zstd, or unpack it (zstd -d)"
    )


@contextlib.contextmanager
def open_member(
    archive: Any, member: str | None, max_bytes: int | None = None, name: Any = None
) -> Iterator[Any]:
    """Open one file inside a zip for reading; nothing is unpacked, no other file is touched.

    `archive` is a path, or an open file called `name` in errors. Where `member` is None, the
    archive must hold a single file.
    """
    name = name or archive
    try:
        with zipfile.ZipFile(archive) as opened:
            there = opened.namelist()
            files = [file for file in there if not (file.endswith("/") or ADDED.match(file))]
            if member is None and len(files) != 1:
                raise CountingError(
                    f"{name} is an archive of {len(files)} files (as Excel files are): unpack it, "
                    "or save the table as CSV, and give the one file that has the counts"
                )
            if member is not None and member not in there:
                listed = ", ".join(map(repr, there[:5])) or "nothing"
                raise CountingError(f"{name} has no member {member!r} (it holds {listed})")
            info = opened.getinfo(files[0] if member is None else member)
            if max_bytes and info.file_size > max_bytes:  # zipfile never reads more than this size
                raise CountingError(
                    f"{info.filename!r} in {name} has {info.file_size:,} bytes unpacked, more "
                    f"than max_bytes ({max_bytes:,}); raise that if the file is right"
                )
            if info.flag_bits & 1:
                raise CountingError(
                    f"{info.filename!r} in {name} is encrypted: use one that is not"
                )
            with opened.open(info) as file:
                yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise CountingError(f"{name} is not a usable zip archive ({error})") from None


# How compressed files begin, and what opens them.
UNPACKERS: dict[re.Pattern[bytes], Callable[[Any, str], Any]] = {
    ZIP: lambda raw, name: open_member(raw, None, name=name),
    re.compile(rb"\x1f\x8b\x08"): lambda raw, name: gzip.GzipFile(fileobj=raw),
    re.compile(rb"BZh[1-9]1AY&SY"): lambda raw, name: bz2.BZ2File(raw),
    re.compile(rb"\xfd7zXZ\0"): lambda raw, name: lzma.LZMAFile(raw),  # noqa: SIM115
    re.compile(rb"\x28\xb5\x2f\xfd"): _zstd,
}


def is_zip(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a zip."""
    with open(path, "rb") as file:
        return bool(ZIP.match(file.read(4)))


# ---------------------------------------------------------------- text


class Text:
    """The rows of a CSV, or of several files that begin alike."""

    row = "line"

    def __init__(self, file: File, needed: list[str], text: str, form: Form) -> None:
        self.name, self.files, self._form = file.name, [file], form
        delimiters = [form.delimiter] if form.delimiter else DELIMITERS
        rows = {delimiter: _first_rows(text, delimiter) for delimiter in delimiters}
        self.delimiter = self._delimiter(rows, needed)
        # Line breaks inside quotes are likely to come again.
        self._breaks = any("\n" in field for row in rows[self.delimiter] for field in row)
        start = io.StringIO(text, newline="")
        start.seek(1 if text.startswith("\ufeff") else 0)
        reader = csv.reader(start, strict=True, delimiter=self.delimiter)
        try:
            self._columns: list[str] = form.names or next(reader, [])
        except csv.Error as error:
            raise CountingError(f"{file.name}, line 1: not a CSV ({error})") from None
        if not self._columns:
            raise CountingError(f"{file.name} is empty or begins with an empty line")
        self._lines = reader.line_num  # of the header
        self._skipped = len(text[: start.tell()].encode("utf-8", "surrogateescape"))
        self.place = f"c{len(self._columns)}"  # of a row, if it is placed
        self._places = [position(column, self._columns, file.name) for column in needed]
        self._absorbing = position(form.absorb, self._columns, self.name) if form.absorb else None
        # Files that have all this in common are read one after the other.
        self.shape = (*self._columns, self.delimiter, self._skipped, self._lines, self._breaks)

    def _delimiter(self, rows: dict[str, list[list[str]]], needed: list[str]) -> str:
        """The delimiter of a file, by the first rows that each delimiter gives.

        With a header line, it is the one that gives all columns that are needed; without one, the
        one that gives every row as many fields as there are `names`.
        """
        if self._form.names:
            least = len(self._form.names)
            most = math.inf if self._form.absorb else least
            fit = [d for d in rows if all(least <= len(row) <= most for row in rows[d])]
            if len(fit) > 1 and least > 1:
                raise CountingError(
                    f"{self.name} could be read with {' or '.join(DELIMITERS[d] for d in fit)} as "
                    f"its delimiter; say which, for example as `delimiter: {fit[0]!r}`"
                )
        else:
            fit = [d for d in rows if {*needed} <= {*rows[d][0]}]
        return fit[0] if fit else max(rows, key=lambda d: len(rows[d][0]))

    def reader(self, path: str, placed: bool) -> tuple[str, list[str]]:
        """How DuckDB reads `blocks` (if placed, `rewritten`), and the SQL of the values."""
        value = "REPLACE(c{}, CHR(0), CHR(10))" if placed or self._breaks else "c{}"
        types = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(self._columns) + placed))
        relation = (
            f"read_csv('{path}', columns={{{types}}}, auto_detect=false, header=false, "
            f"delim={literal(self.delimiter)}, quote='\"', escape='\"', new_line='\\n', "
            f"strict_mode=true, max_line_size={LONGEST_LINE}, buffer_size={4 * LONGEST_LINE})"
        )
        return relation, [value.format(at) for at in self._places]

    def blocks(self) -> Iterator[bytes]:
        """The rows as they are; Doubt where DuckDB might not read them as Python does."""
        if self._absorbing is not None or len(self.delimiter.encode()) > 1:
            raise Doubt
        for file in self.files:
            with unpacked(file) as content:
                content.read(self._skipped)
                block, more = b"", b"\n"
                while more:
                    more = content.read(BLOCK)
                    block += more or (b"\n" if block else b"")
                    rows, block = self._clear(block)
                    if block and (not more or len(block) > LONGEST_LINE):
                        raise Doubt  # a quote that does not end, or a very long line
                    bytewise = self._form.lenient and not rows.isascii()
                    yield rows.decode("latin-1").encode() if bytewise else rows

    def _clear(self, block: bytes) -> tuple[bytes, bytes]:
        """The whole rows at the beginning of a block, with line feeds at their ends, and the rest.

        Doubt where not everybody would read these rows alike.
        """
        delimiter = ord(self.delimiter)
        data = bare = np.frombuffer(block, np.uint8)  # bare: with NUL for all that is in quotes
        quoted, cut = b'"' in block, block.rfind(b"\n") + 1
        if quoted:
            bare = np.where(np.logical_xor.accumulate(data == 34), np.uint8(0), data)
            cut = int(np.flatnonzero(bare == 10).max(initial=-1)) + 1
        data, bare = data[:cut], bare[:cut]
        clear: Any = b"\0" not in block
        if b"\r" in block:
            kept = bare != 13
            clear = clear and (data[np.flatnonzero(~kept) + 1] == 10).all()
            data, bare = data[kept], bare[kept]
        if quoted:
            # Of each two quotes, the first begins a field or follows a doubled one, and the other
            # ends a field or is doubled itself. Before a block there is a line feed, as at its end.
            quotes = np.flatnonzero(data == 34)
            beside = data[np.concatenate([quotes[::2] - 1, quotes[1::2] + 1])]
            inside = (data == 10) & (bare != 10)
            clear = clear and np.isin(beside, (delimiter, 10, 34)).all()
            if inside.any():
                clear, data = clear and self._breaks, np.where(inside, np.uint8(0), data)
        ends = bare == 10
        # A row with too few fields DuckDB refuses, so that there is none with too many either.
        between = np.count_nonzero(ends) * (len(self._columns) - 1)
        clear = clear and np.count_nonzero(bare == delimiter) == between
        empty = ends[:1].any() or (ends[1:] & ends[:-1]).any()
        rows = data.tobytes()
        if not clear or empty or rows.startswith(BOM):
            raise Doubt
        return rows, block[cut:]

    def rewritten(self) -> Iterator[bytes]:
        """The same columns and, as the last, the place of each row, everything in quotes."""
        rows = itertools.chain.from_iterable(map(self._rows, self.files))
        quoted: dict[str, Any] = {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"}
        while some := [*itertools.islice(rows, 256)]:
            text = io.StringIO()
            csv.writer(text, delimiter=self.delimiter, **quoted).writerows(some)
            yield text.getvalue().encode()

    def _rows(self, file: File) -> Iterator[list[str]]:
        """What `_values` gives, and the place where each row ends."""
        name, line, empty = printable(file.name), "", ""

        def lines() -> Iterator[str]:
            nonlocal line  # the last one that was read
            for line in text:
                if "\0" in line:
                    number = self._lines + reader.line_num + 1
                    raise CountingError(f"{name}, line {number}: it contains a NUL; remove it")
                yield line

        with unpacked(file) as content:
            content.read(self._skipped)
            encoding = "latin-1" if self._form.lenient else "utf-8"
            text = io.TextIOWrapper(content, encoding, "surrogateescape", newline="")
            reader = csv.reader(lines(), strict=True, delimiter=self.delimiter)
            row: list[str] | None = []
            while row is not None:
                begins, fault = self._lines + reader.line_num + 1, None
                try:
                    row = next(reader, None)
                except csv.Error as error:
                    row, fault = self._loosely_quoted(line), error
                ends = self._lines + reader.line_num
                place = f"{name}, line {ends}"
                # A row of several lines may have swallowed others.
                if fault and (ends > begins or not row):
                    since = f" from line {begins} on" if ends > begins else ""
                    raise CountingError(
                        f"{place}: not a CSV ({fault}); do the quotes match{since}?"
                    )
                if not row:
                    empty = empty or place
                elif empty:
                    raise CountingError(f"{empty}: empty line between rows")
                else:
                    yield [*self._values(row, place), place]

    def _loosely_quoted(self, line: str) -> list[str] | None:
        """The fields of a line such as `"Ha" he said,1`, whose quotes do not enclose a field."""
        with contextlib.suppress(csv.Error):
            row, *rest = csv.reader([line, "\n"], delimiter=self.delimiter)
            if self._form.lenient and rest:  # the empty line is not part of a quoted field
                return row
        return None

    def _values(self, row: list[str], place: str) -> list[str]:
        """A row with NUL for line breaks, and nothing in columns that are not read."""
        at, surplus = self._absorbing, len(row) - len(self._columns)
        if surplus > 0 and at is not None:
            row[at : at + surplus + 1] = [self.delimiter.join(row[at : at + surplus + 1])]
        elif surplus:
            delimiter = DELIMITERS.get(self.delimiter, repr(self.delimiter))
            raise CountingError(
                f"{place}: {len(row)} fields instead of {len(self._columns)}; correct the line (a "
                f"value that contains a {delimiter} or a line break needs quotes)",
                f", or, for a {delimiter} too many, name the column it belongs to as `absorb`",
            )
        values = [""] * len(self._columns)
        for at in self._places:
            values[at] = row[at].replace("\n", "\0")
        try:
            "".join(values).encode()
        except UnicodeEncodeError:
            sentence = f"{place}: bytes that are not UTF-8; save the file as UTF-8"
            raise CountingError(sentence) from None
        return values


def position(column: str, columns: list[str], name: str, first: str = "line") -> int:
    """The position of a column; a sentence with the nearest name if it is missing.

    first: what has the names of the columns.
    """
    if (times := columns.count(column)) == 1:
        return columns.index(column)
    if times:
        raise CountingError(f"{name} has {times} columns called {column!r}: rename all but one")
    sentence, shown = f"{name} has no column {column!r}; ", ""
    plain = {known.strip().lower(): known for known in columns}
    alone = len(columns) == 1 and first == "line"
    near = difflib.get_close_matches(column.strip().lower(), plain, 1)
    if near and not (alone and column in columns[0]):
        sentence += f"did you mean {printable(plain[near[0]])!r}?"
    else:
        # Without the names that are there: in a file without a header they would be data.
        sentence += f"its first {first} must name every column once"
        shown = "; it has " + ", ".join(repr(printable(known)[:40]) for known in columns[:20])
    if alone:
        other = next((sign for sign in ":^~ " if sign in columns[0]), ":")
        shown += f" only; if {other!r} separates its columns, write `delimiter: {other!r}`"
        sentence += ", with commas, tabs, semicolons or pipes (|) between them"
    if FOREIGN.search("".join(columns)):
        sentence += "; that line is not UTF-8 (Latin-1, perhaps): save the file as UTF-8"
    raise CountingError(sentence, shown)


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def listed(texts: Iterable[str]) -> str:
    """A list of texts in SQL."""
    return f"[{', '.join(map(literal, texts))}]"


def printable(text: str) -> str:
    """A text that can be printed, whatever bytes it was made of."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def kind_and_start(content: io.BufferedReader, name: str, form: Form) -> tuple[str, str]:
    """What a file is, "text", "parquet" or a format of JSON, and the characters it begins with."""
    start = content.peek(BLOCK)[:BLOCK]
    if start[8:12] == b"DUCK":
        raise CountingError(f"{name} is a DuckDB database; name its table, too")
    if start.startswith(b"PAR1"):
        return "parquet", ""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CountingError(f"{name} is UTF-16: save it as UTF-8")
    text = start.decode("utf-8", "surrogateescape")
    objects = None if form.names else JSON.match(text)
    # Of UTF-8 the header alone: whether rows are refused must not depend on how many there are.
    foreign = FOREIGN.search(text[:-3])  # the last may be cut
    many = foreign and len(CONTROL.findall(text)) > 3 + len(text) / 100
    header = "" if objects else re.split("[\r\n]", text, maxsplit=1)[0]
    if many or CONTROL.search(header):
        raise CountingError(f"{name} is not a text file; save the table as CSV (UTF-8) or Parquet")
    return ("text" if not objects else "array" if objects[1] else "newline_delimited"), text


def require_keys(file: File, start: str, needed: list[str]) -> None:
    """Refuse a file of JSON, which begins like this, if its first object lacks a column."""
    try:
        try:
            keys = _first_keys(start)
        except ValueError:  # the object may be longer than what was looked at
            with unpacked(file) as content:
                keys = _first_keys(content.read(LONGEST_OBJECT).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        raise CountingError(f"{file.name} begins like JSON, but is not JSON") from None
    for column in needed:
        position(column, keys, file.name, "object")


def _first_keys(text: str) -> list[str]:
    return [*json.JSONDecoder().raw_decode(text, text.index("{"))[0]]


def _first_rows(start: str, delimiter: str) -> list[list[str]]:
    """The rows at the beginning of a file, at least one; the last may be cut, and is left out."""
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        rows.extend(filter(None, csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)))
    return rows[:-1] or rows or [[]]


# ---------------------------------------------------------------- what DuckDB reads itself


class Typed(NamedTuple):
    """A table that DuckDB reads itself: its name in errors, and the SQL of it and its columns."""

    name: str
    relation: str
    columns: list[str]
    row: str = "row"

    @property
    def place(self) -> str:
        """The SQL of the place of a row."""
        return literal(printable(f"{self.name}, {self.row} ")) + " || ROW_NUMBER() OVER ()"


def json_table(name: str, paths: Iterable[str], form: str, needed: list[str]) -> Typed:
    """Objects in JSON files, in which lists and objects are not values.

    DuckDB's reader refuses anything but objects, and a key that occurs twice. It keeps in memory
    what comes through a pipe, so it must be given files.
    """
    types = ", ".join(f"{literal(column)}: 'JSON'" for column in dict.fromkeys(needed))
    relation = (
        f"read_json({listed(paths)}, columns={{{types}}}, format='{form}', "
        f"maximum_object_size={LONGEST_LINE})"
    )
    value = (
        "CASE WHEN LEFT({0}, 1) IN ('[', '{{') OR CONTAINS({0}, '\\u0000') "
        "THEN NULL ELSE {0} ->> '$' END"
    )
    names = ['"' + column.replace('"', '""') + '"' for column in needed]
    return Typed(name, relation, [*map(value.format, names)], "object")
