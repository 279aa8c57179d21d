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
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np

BLOCK = 1 << 20
LONGEST_LINE = 2 << 20  # bytes
LONGEST_OBJECT = 32 << 20  # bytes; longer ones DuckDB refuses, wherever they stand
DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
BOM = "\ufeff".encode()
ZIP = re.compile(rb"PK(\x03\x04|\x05\x06)")  # the latter: nothing in it
GZIP = re.compile(rb"\x1f\x8b\x08")
BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
XZ = re.compile(rb"\xfd7zXZ\0")
ZSTD = re.compile(rb"\x28\xb5\x2f\xfd")
JSON = re.compile(r"\ufeff?\s*(\[\s*)?\{\s*[\"}]")


class CountingError(ValueError):
    """What is wrong with the rows, where, and what to do: one sentence without values of rows.

    Attributes
    ----------
    shown : str
        A phrase with the value, for those who may see it; empty where there is none.
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
    loose: quotes may stand inside a field that begins with one, if it ends on the same line.
    latin: bytes are characters, whatever their encoding; they can be compared, but not shown.
    """

    delimiter: str | None = None
    names: list[str] | None = None
    absorb: str | None = None
    loose: bool = False
    latin: bool = False


# ---------------------------------------------------------------- compressed files


@contextlib.contextmanager
def unpacked(file: File) -> Iterator[io.BufferedReader]:
    """The content of a file, as its first bytes say what it is."""
    with _sentence_if_damaged(file.name), contextlib.ExitStack() as stack:
        raw: Any = stack.enter_context(file.open())
        if not isinstance(raw, io.BufferedReader):
            raw = io.BufferedReader(raw, BLOCK)
            stack.callback(raw.detach)
        start = raw.peek(16)[:16]
        if ZIP.match(start):
            content: Any = stack.enter_context(open_member(raw, None, name=file.name))
        elif GZIP.match(start):
            content = stack.enter_context(gzip.GzipFile(fileobj=raw))
        elif BZIP2.match(start):
            content = stack.enter_context(bz2.BZ2File(raw))
        elif XZ.match(start):
            content = stack.enter_context(lzma.LZMAFile(raw))
        elif ZSTD.match(start):
            content = stack.enter_context(_zstd(raw, file.name))
        else:
            yield raw
            return
        buffered = io.BufferedReader(content, BLOCK)
        stack.callback(buffered.detach)
        yield buffered


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
            info = _info(opened, member, name)
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


def is_zip(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a zip."""
    with open(path, "rb") as file:
        return bool(ZIP.match(file.read(4)))


def _info(opened: zipfile.ZipFile, member: str | None, name: str) -> zipfile.ZipInfo:
    """The entry of a member, or of the only file that there is."""
    if member is None:
        # macOS adds what it knows about folders and files as files of their own.
        added = re.compile(r"__MACOSX/|(.*/)?\.DS_Store$")
        entries = (info for info in opened.infolist() if not info.is_dir())
        files = [info for info in entries if not added.match(info.filename)]
        if len(files) == 1:
            return files[0]
        raise CountingError(
            f"{name} is an archive of {len(files)} files (Excel's are such, too): unpack it, or "
            "save the table as CSV, and give the one file that has the counts"
        )
    if member in opened.namelist():
        return opened.getinfo(member)
    listed = ", ".join(map(repr, opened.namelist()[:5])) or "nothing"
    raise CountingError(f"{name} has no member {member!r} (it holds {listed})")


def _zstd(raw: IO[bytes], name: str) -> Any:
    for module in ("compression.zstd", "backports.zstd"):  # the first since Python 3.14
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).ZstdFile(raw)
    raise CountingError(
        f"{name} is compressed with zstd: pip install backports.zstd, or unpack it (zstd -d)"
    )


@contextlib.contextmanager
def _sentence_if_damaged(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        damage = isinstance(error, (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile))
        damage |= isinstance(error, OSError) and error.errno is None  # of bz2
        damage |= type(error).__name__ == "ZstdError"  # of whichever module it is
        if not damage:
            raise
        raise CountingError(f"{name} is cut short or damaged ({error})") from None


def spooled(content: IO[bytes]) -> IO[bytes]:
    """A file without a name that holds the rest of another."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    while block := content.read(BLOCK):
        copy.write(block)
    copy.seek(0)
    return copy


# ---------------------------------------------------------------- text


class Text:
    """The rows of a CSV, or of several files that begin alike."""

    piped = True

    def __init__(self, file: File, needed: list[str], text: str, form: Form) -> None:
        self.files, self.name, self._form = [file], file.name, form
        self.delimiter = form.delimiter or _delimiter(text, file.name, needed, form)
        header = "\ufeff" if text.startswith("\ufeff") else ""
        self._lines = 0
        if form.names:
            self.columns = form.names
        else:
            self.columns, lines = self._header(text.removeprefix(header))
            self._lines, header = len(lines), header + "".join(lines)
        self._skipped = len(header.encode("utf-8", "surrogateescape"))
        self._places = [position(self, column) for column in needed]
        fields = itertools.chain(*_first_rows(text, self.delimiter))
        self._breaks = any("\n" in field for field in fields)  # likely to come again
        self._absorbing = position(self, form.absorb) if form.absorb is not None else None
        self._shape = (self.columns, self.delimiter, self._skipped, self._lines, self._breaks)

    def _header(self, text: str) -> tuple[list[str], list[str]]:
        """The names in the first row, and its lines."""
        reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=self.delimiter)
        try:
            names = next(reader, None)
        except csv.Error as error:
            raise CountingError(f"{self.name}, line 1: not a CSV ({error})") from None
        if not names:
            raise CountingError(f"{self.name} is empty or begins with an empty line")
        return names, [*itertools.islice(io.StringIO(text, newline=""), reader.line_num)]

    def goes_on_with(self, other: Any) -> bool:
        """Whether the rows of another table may follow these; takes them, if so."""
        if not isinstance(other, Text) or self._shape != other._shape:
            return False
        self.files += other.files
        return True

    def relation(self, names: list[str], path: str, number: int | None) -> str:
        """How DuckDB reads what `blocks` gives."""
        placed = number is not None
        width = len(names) if placed else len(self.columns)
        places = range(width) if placed else self._places
        value = "REPLACE(c{}, CHR(0), CHR(10))" if placed or self._breaks else "c{}"
        pairs = zip(places, names, strict=True)
        read = ", ".join(f"{value.format(at)} AS {name}" for at, name in pairs)
        types = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(width))
        return (
            f"SELECT {read} FROM read_csv('{path}', columns={{{types}}}, auto_detect=false, "
            f"header=false, delim={literal(',' if placed else self.delimiter)}, quote='\"', "
            f"escape='\"', new_line='\\n', strict_mode=true, max_line_size={LONGEST_LINE}, "
            f"buffer_size={4 * LONGEST_LINE})"
        )

    def blocks(self, placed: bool) -> Iterator[bytes]:
        """The rows as they are; or the place of each, and the columns that are read."""
        if placed:
            yield from self._rewritten()
            return
        if self._absorbing is not None or len(self.delimiter.encode()) > 1:
            raise Doubt
        for file in self.files:
            with unpacked(file) as content:
                content.read(self._skipped)
                for rows in _clear(content, len(self.columns), ord(self.delimiter), self._breaks):
                    bytewise = self._form.latin and not rows.isascii()
                    yield rows.decode("latin-1").encode() if bytewise else rows

    def unreadable(self, said: str) -> str:
        """What to say where DuckDB finds fault with the rows, which must not happen."""
        return f"{self.name} cannot be read"

    def _rewritten(self) -> Iterator[bytes]:
        """The rows as Python reads them, everything in quotes."""
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for file in self.files:
            for place, row in self._rows(file):
                row = [row[at] for at in self._places]
                try:
                    "".join(row).encode()
                except UnicodeEncodeError:
                    sentence = f"{place}: bytes that are not UTF-8; save the file as UTF-8"
                    raise CountingError(sentence) from None
                writer.writerow([place, *(value.replace("\n", "\0") for value in row)])
                if text.tell() > BLOCK:
                    yield text.getvalue().encode()
                    text.seek(0)
                    text.truncate()
        yield text.getvalue().encode()

    def _rows(self, file: File) -> Iterator[tuple[str, list[str]]]:
        """Where each row ends, and its fields."""
        encoding = ("latin-1", "strict") if self._form.latin else ("utf-8", "surrogateescape")
        with unpacked(file) as content:
            content.read(self._skipped)
            text = io.TextIOWrapper(content, *encoding, newline="")
            lines = _Lines(text, f"{printable(file.name)}, line", self._lines)
            reader = csv.reader(lines, strict=True, delimiter=self.delimiter)
            begins = lines.number + 1
            try:
                while True:
                    try:
                        row = next(reader, None)
                    except csv.Error as error:
                        row = self._loosely_quoted(lines, begins, error)
                    if row is None:
                        return
                    if not row:
                        empty = lines.place
                        if any(reader):
                            raise CountingError(f"{empty}: empty line between rows")
                        return
                    if len(row) != len(self.columns):
                        row = self._absorbed(row, lines.place)
                    yield lines.place, row
                    begins = lines.number + 1
            finally:
                text.detach()

    def _loosely_quoted(self, lines: "_Lines", begins: int, error: csv.Error) -> list[str]:
        """The row of a line such as `"Ha" he said,1`, whose quotes do not enclose a field.

        Only if it begins and ends there: a row of several lines may have swallowed others.
        """
        with contextlib.suppress(csv.Error):
            row, *rest = csv.reader([lines.last, "\n"], delimiter=self.delimiter)
            ends = bool(rest)  # the empty line is a row of its own, not part of a quoted field
            if self._form.loose and lines.number == begins and ends:
                return row
        where = "" if lines.number == begins else f" from line {begins} on"
        raise CountingError(f"{lines.place}: not a CSV ({error}); do the quotes match{where}?")

    def _absorbed(self, row: list[str], place: str) -> list[str]:
        at, surplus = self._absorbing, len(row) - len(self.columns)
        if surplus < 0 or at is None:
            delimiter = DELIMITERS.get(self.delimiter, repr(self.delimiter))
            raise CountingError(
                f"{place}: {len(row)} fields instead of {len(self.columns)}; correct the line (a "
                f"value with a {delimiter} or a line break in it needs quotes)",
                f", or, for a {delimiter} too many, name the column it belongs to as `absorb`",
            )
        inside = self.delimiter.join(row[at : at + surplus + 1])
        return [*row[:at], inside, *row[at + surplus + 1 :]]


def position(table: Any, column: str) -> int:
    """The position of a column; names that are near, where there is none."""
    columns, name = table.columns, table.name
    if (times := columns.count(column)) == 1:
        return columns.index(column)
    if times:
        raise CountingError(f"{name} has {times} columns called {column!r}: rename all but one")
    plain = {known.strip().lower(): known for known in columns}
    alone = len(columns) == 1 and not isinstance(table, Json)
    near = difflib.get_close_matches(column.strip().lower(), plain, 1)
    sentence, shown = f"{name} has no column {column!r}; ", ""
    if near and not (alone and column in columns[0]):
        sentence += f"did you mean {printable(plain[near[0]])!r}?"
    else:
        # Without the names that are there: in a file without a header they would be data.
        first = "object" if isinstance(table, Json) else "line"
        sentence += f"its first {first} must name every column once"
        shown = "; it has " + ", ".join(repr(printable(known)[:40]) for known in columns[:20])
    if alone:
        other = next((sign for sign in ":^~ " if sign in columns[0]), ":")
        shown += f" only; if {other!r} separates its columns, write `delimiter: {other!r}`"
        sentence += ", with commas, tabs, semicolons or pipes (|) between them"
    if any("\udc80" <= letter <= "\udcff" for known in columns for letter in known):
        sentence += "; that line is not UTF-8 (Latin-1, perhaps): save the file as UTF-8"
    raise CountingError(sentence, shown)


def numbered(number: int | None, what: str) -> list[str]:
    """The SQL of the place of each row, in a table that SQL knows by a number."""
    return [] if number is None else [f"CHR(30) || '{number}, {what} ' || ROW_NUMBER() OVER ()"]


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def listed(texts: Iterable[str]) -> str:
    """A list of texts in SQL."""
    return f"[{', '.join(map(literal, texts))}]"


def printable(text: str) -> str:
    """A text that can be printed, whatever bytes it was made of."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def start_of_text(content: io.BufferedReader, name: str) -> str:
    """The first characters of a text file; a sentence if it is none."""
    start = content.peek(BLOCK)[:BLOCK]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CountingError(f"{name} is UTF-16: save it as UTF-8")
    text = start.decode("utf-8", "surrogateescape")
    control = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
    first = re.match(r"[^\r\n]*", text)
    # Of UTF-8 the header alone: whether rows are refused must not depend on how many there are.
    foreign = any("\udc80" <= sign <= "\udcff" for sign in text[:-3])  # the last may be cut
    many = foreign and len(control.findall(text)) > 3 + len(text) / 100
    header = "" if JSON.match(text) or not first else first[0]  # JSON has a user's values there
    if many or control.search(header):
        raise CountingError(f"{name} is not a text file; save the table as CSV (UTF-8) or Parquet")
    return text


class _Lines:
    """The lines of a text, and where the one is that was read last."""

    def __init__(self, lines: Iterator[str], where: str, number: int) -> None:
        self._lines, self._where, self.number, self.last = lines, where, number, ""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        self.last = next(self._lines)
        self.number += 1
        if "\0" in self.last:
            raise CountingError(f"{self.place}: there is a NUL; take it out")
        return self.last

    @property
    def place(self) -> str:
        """Where the row that was read last ends."""
        return f"{self._where} {self.number}"


def _delimiter(start: str, name: str, needed: list[str], form: Form) -> str:
    """The delimiter of a file that begins like this.

    With a header line, it is the one that gives all columns that are needed; without one, the
    one that gives every row as many fields as there are `names`.
    """
    rows = {delimiter: _first_rows(start, delimiter) for delimiter in DELIMITERS}
    if form.names:
        width, more = len(form.names), form.absorb is not None
        fit = [
            d
            for d in DELIMITERS
            if rows[d] and all(len(r) == width or (more and len(r) > width) for r in rows[d])
        ]
        if len(fit) > 1 and width > 1:
            raise CountingError(
                f"{name} could be read with {' or '.join(DELIMITERS[d] for d in fit)} as its "
                f"delimiter; say which, for example as `delimiter: {fit[0]!r}`"
            )
    else:
        fit = [d for d in DELIMITERS if rows[d] and {*needed} <= {*rows[d][0]}]
    if fit:
        return fit[0]
    return max(DELIMITERS, key=lambda d: len(rows[d][0]) if rows[d] else 0)


def _first_rows(start: str, delimiter: str) -> list[list[str]]:
    """The rows at the beginning of a file; the last may be cut off, and is left out."""
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        rows.extend(filter(None, csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)))
    return rows[:-1] or rows


def _clear(content: io.BufferedReader, width: int, delimiter: int, breaks: bool) -> Iterator[bytes]:
    """Blocks of rows that everybody reads alike; Doubt where there are others."""
    block, more = b"", b"\n"
    while more:
        more = content.read(BLOCK)
        block += more or (b"\n" if block[-1:] not in (b"", b"\n") else b"")
        rows, block = _clear_rows(block, width, delimiter, breaks)
        if block and (not more or len(block) > LONGEST_LINE):
            raise Doubt  # a quote that does not end, or a very long line
        yield rows


def _clear_rows(block: bytes, width: int, delimiter: int, breaks: bool) -> tuple[bytes, bytes]:
    """The whole rows at the beginning of a block, with line feeds at their ends, and the rest.

    breaks: there may be line breaks inside quotes.
    """
    data = np.frombuffer(block, np.uint8)
    outside, cut = np.ones(len(data), bool), block.rfind(b"\n") + 1
    clear: Any = b"\0" not in block
    if b'"' in block:
        outside = ~np.logical_xor.accumulate(data == 34)
        cut = int(np.flatnonzero(outside & (data == 10)).max(initial=-1)) + 1
    data, outside = data[:cut], outside[:cut]
    if b"\r" in block:
        returns = outside & (data == 13)
        clear = clear and (data[np.flatnonzero(returns) + 1] == 10).all()
        data, outside = data[~returns], outside[~returns]
    if b'"' in block:
        # Of each two quotes, the first begins a field or follows a doubled one, and the other ends
        # a field or is doubled itself. Before the block there is a line feed, as at its end.
        quotes = np.flatnonzero(data == 34)
        beside = [quotes[::2] - 1, quotes[1::2] + 1]
        clear = clear and np.isin(data[np.concatenate(beside)], (delimiter, 10, 34)).all()
        inside = ~outside & (data == 10)
        if inside.any():
            clear, data = clear and breaks, np.where(inside, np.uint8(0), data)
    ends, separators = outside & (data == 10), outside & (data == delimiter)
    # A row with too few fields DuckDB refuses, so that there is none with too many either.
    clear = clear and np.count_nonzero(separators) == np.count_nonzero(ends) * (width - 1)
    empty = ends[:1].any() or (ends[1:] & ends[:-1]).any()
    rows = data.tobytes()
    if not clear or empty or rows.startswith(BOM):
        raise Doubt
    return rows, block[cut:]


# ---------------------------------------------------------------- JSON


class Json:
    """Objects in JSON, one on each line or all of them in an array, of one or several files.

    DuckDB's reader refuses what is no object, and a key that is there twice. It keeps in memory
    what comes through a pipe, so that it must be given files.
    """

    piped = False

    def __init__(self, file: File, needed: list[str], start: str, path: str) -> None:
        self.name, self._paths, self._array = file.name, [path], "[" in start[: start.index("{")]
        self._first = file.name
        columns = _keys(start)
        if columns is None:  # the first object may go on after this start
            with unpacked(file) as content:
                start = content.read(LONGEST_OBJECT).decode("utf-8", "surrogateescape")
            columns = _keys(start)
        if columns is None:
            raise CountingError(f"{self.name} begins like JSON, but is none")
        self.columns = columns
        self._keys = [self.columns[position(self, column)] for column in needed]

    def goes_on_with(self, other: Any) -> bool:
        """Whether the rows of another table may follow these; takes them, if so."""
        if not isinstance(other, Json) or self._array != other._array:
            return False
        self._paths += other._paths
        self.name = f"{self._first} and {len(self._paths) - 1} more"
        return True

    def relation(self, names: list[str], path: str, number: int | None) -> str:
        """How DuckDB reads them; lists and objects are no values."""
        keys = [*dict.fromkeys(self._keys)]
        columns = [f"j{keys.index(key)}" for key in self._keys]
        read = numbered(number, "object") + [
            f"CASE WHEN LEFT({value}, 1) IN ('[', '{{') OR CONTAINS({value}, '\\u0000') "
            f"THEN NULL ELSE {value} ->> '$' END"
            for value in columns
        ]
        pairs = ", ".join(f"{value} AS {name}" for value, name in zip(read, names, strict=True))
        types = ", ".join(f"{literal(key)}: 'JSON'" for key in keys)
        form = "array" if self._array else "newline_delimited"
        return (
            f"SELECT {pairs} FROM read_json({listed(self._paths)}, columns={{{types}}}, "
            f"format='{form}', maximum_object_size={LONGEST_LINE}) "
            f"AS objects({', '.join(dict.fromkeys(columns))})"
        )

    def unreadable(self, said: str) -> str:
        """What to say where DuckDB finds fault with the objects."""
        near = re.search(r"in (line|record/value) (\d+)", said)
        place = f", near {near[1].partition('/')[0]} {near[2]}" if near else ""
        return (
            f"{self.name}{place}: not JSON as it must be, objects only, one on each line or all in "
            "an array, and in each of them every key once"
        )


def _keys(start: str) -> list[str] | None:
    """The keys of the first object, if it can be read."""
    try:
        return [*json.JSONDecoder().raw_decode(start, start.index("{"))[0]]
    except (ValueError, RecursionError):
        return None
