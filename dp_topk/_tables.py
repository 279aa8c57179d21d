"""Tables in files as people have them, for DuckDB to count.

Text reaches DuckDB through a pipe, in blocks that were looked at on the way: valid UTF-8 without
NUL, and in every line as many fields as there are columns, each of them quoted whole or not at
all. There, DuckDB and RFC 4180 leave nothing to be understood in two ways. Wherever a block is not
like that, Python's own reader takes the file row by row: it is slow, knows the line, and either
refuses the row or understands it.
"""

import bz2
import contextlib
import csv
import difflib
import gzip
import importlib
import io
import json
import lzma
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np

BLOCK = 1 << 20
LONGEST = 1 << 17  # bytes of a line, beyond which Python's reader says whether it is too long
DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
ZIP = re.compile(rb"PK(\x03\x04|\x05\x06)")  # the latter: nothing in it
GZIP = re.compile(rb"\x1f\x8b\x08")
BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
XZ = re.compile(rb"\xfd7zXZ\0")
ZSTD = re.compile(rb"\x28\xb5\x2f\xfd")
JSON = re.compile(rb"\s*(\[\s*)?\{\s*(\"|\})")


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
    """A block of text could be understood in more than one way."""


class File(NamedTuple):
    """A file that can be opened as often as necessary, and its name in errors."""

    name: str
    open: Callable[[], contextlib.AbstractContextManager[Any]]


class Form(NamedTuple):
    """What is known of a text file beforehand.

    names: the columns of a file without a header line.
    absorb: the column that takes the surplus of a row with too many fields.
    loose: quotes may stand inside a field that begins with one, if it ends on the same line.
    """

    delimiter: str | None = None
    names: list[str] | None = None
    absorb: str | None = None
    loose: bool = False


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


class _Lent(io.RawIOBase):
    """A file that stays open when whoever reads it closes it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(buffer)  # type: ignore[attr-defined]


def _zstd(raw: IO[bytes], name: str) -> Any:
    for module in ("compression.zstd", "backports.zstd"):  # the first since Python 3.14
        with contextlib.suppress(ImportError):
            return importlib.import_module(module).ZstdFile(raw)
    with contextlib.suppress(ImportError):
        return importlib.import_module("pyarrow").CompressedInputStream(_Lent(raw), "zstd")
    raise CountingError(
        f"{name} is compressed with zstd: unpack it (zstd -d), use Python 3.14 or newer, or "
        "install pyarrow (pip install pyarrow)"
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


# ---------------------------------------------------------------- text


class Text:
    """The rows of a text file, or of several that begin alike.

    Every file must have the same header: `columns`. `latin` says that the bytes are not UTF-8;
    they are then passed on one by one as characters, so that names stay distinct.
    """

    kind = "text"

    def __init__(self, file: File, needed: list[str], form: Form) -> None:
        self.files, self.name, self.latin = [file], file.name, False
        self.places: list[int] = []  # of the columns that are read
        with unpacked(file) as content:
            start = _start(content, file.name)
            self.json = not form.names and bool(JSON.match(start))
            self._skipped = 3 if start[:3] == b"\xef\xbb\xbf" else 0
            text = start[self._skipped :].decode("utf-8", "surrogateescape")
        self._lines = 0
        if self.json:
            self.columns, self.delimiter = _keys(text, file.name), ","
        else:
            self.delimiter = form.delimiter or _delimiter(text, file.name, needed, form)
            self.columns = form.names or self._header(text)
        self.absorbing, self._loose = None, form.loose
        if form.absorb is not None:
            self.absorbing = position(self, form.absorb)

    def _header(self, text: str) -> list[str]:
        lines: list[str] = []
        reader = csv.reader(
            _kept(io.StringIO(text, newline=""), lines), strict=True, delimiter=self.delimiter
        )
        try:
            header = next(reader, None)
        except csv.Error as error:
            raise CountingError(f"{self.name}, line 1: not a CSV ({error})") from None
        if not header:
            raise CountingError(f"{self.name} is empty or begins with an empty line")
        self._lines = len(lines)
        self._skipped += len("".join(lines).encode("utf-8", "surrogateescape"))
        return header

    def alike(self, other: "Text") -> bool:
        """Whether the rows of another file may follow those of this one."""
        mine = (self.columns, self.delimiter, self.json)
        return mine == (other.columns, other.delimiter, other.json)

    def blocks(self) -> Iterator[bytes]:
        """Whole lines that can be understood in one way only; Doubt where they cannot."""
        if self.json or self.absorbing is not None or len(self.delimiter.encode()) > 1:
            raise Doubt
        for file in self.files:
            with unpacked(file) as content:
                content.read(self._skipped)
                yield from _verified(content, len(self.columns), self.delimiter, self.latin)

    def rows(self) -> Iterator[tuple[str, list[str]]]:
        """Where each row ends, and its fields; slow, and sure."""
        for file in self.files:
            read = self._json_rows if self.json else self._csv_rows
            yield from read(file)

    def _csv_rows(self, file: File) -> Iterator[tuple[str, list[str]]]:
        encoding = ("latin-1", "strict") if self.latin else ("utf-8", "surrogateescape")
        with unpacked(file) as content:
            content.read(self._skipped)
            text = io.TextIOWrapper(content, *encoding, newline="")
            lines = _Lines(text, f"{file.name}, line", self._lines)
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
            if self._loose and lines.number == begins and ends:
                return row
        where = "" if lines.number == begins else f" from line {begins} on"
        raise CountingError(f"{lines.place}: not a CSV ({error}); do the quotes match{where}?")

    def _absorbed(self, row: list[str], place: str) -> list[str]:
        at, surplus = self.absorbing, len(row) - len(self.columns)
        if surplus < 0 or at is None:
            delimiter = DELIMITERS.get(self.delimiter, repr(self.delimiter))
            raise CountingError(
                f"{place}: {len(row)} fields instead of {len(self.columns)}; correct the line (a "
                f"value with a {delimiter} or a line break in it needs quotes)",
                f", or, for a {delimiter} too many, name the column it belongs to as `absorb`",
            )
        inside = self.delimiter.join(row[at : at + surplus + 1])
        return [*row[:at], inside, *row[at + surplus + 1 :]]

    def _json_rows(self, file: File) -> Iterator[tuple[str, list[str]]]:
        with unpacked(file) as content:
            for number, line in enumerate(content, 1):
                place = f"{file.name}, line {number}"
                if not (text := line.decode("utf-8", "surrogateescape").strip("\ufeff \t\r\n")):
                    continue
                try:
                    row = json.loads(
                        text, object_pairs_hook=_object, parse_int=str, parse_float=str
                    )
                except (ValueError, RecursionError):
                    row = None
                if not isinstance(row, dict):
                    raise CountingError(
                        f"{place}: not an object in JSON; every line must be one, such as "
                        '{"user": "u1", "item": "i1"}, and name every key once'
                    )
                values = [row.get(column) or "" for column in self.columns]
                for column, value in zip(self.columns, values, strict=True):
                    if not isinstance(value, str):
                        raise CountingError(
                            f"{place}: {column!r} must be a text or a number in every row"
                        )
                yield place, values


def position(table: Any, column: str) -> int:
    """The position of a column; names that are near, where there is none."""
    columns, name = table.columns, table.name
    if (times := columns.count(column)) == 1:
        return columns.index(column)
    if times:
        raise CountingError(f"{name} has {times} columns called {column!r}: rename all but one")
    plain = {known.strip().lower(): known for known in columns}
    near = difflib.get_close_matches(column.strip().lower(), plain, 1)
    sentence, shown = f"{name} has no column {column!r}; ", ""
    if near:
        sentence += f"did you mean {printable(plain[near[0]])!r}?"
    else:
        # Without the names that are there: in a file without a header they would be data.
        sentence += "its first line must name every column once"
        shown = "; it has " + ", ".join(repr(printable(known)[:40]) for known in columns[:20])
        if len(columns) == 1:
            other = next((sign for sign in ":^~ " if sign in columns[0]), ":")
            shown += f" only; if {other!r} separates its columns, write `delimiter: {other!r}`"
            sentence += ", with commas, tabs, semicolons or pipes (|) between them"
    if any("\udc80" <= letter <= "\udcff" for known in columns for letter in known):
        sentence += "; that line is not UTF-8 (Latin-1, perhaps): save the file as UTF-8"
    raise CountingError(sentence, shown)


def printable(text: str) -> str:
    """A text that can be printed, whatever bytes it was made of."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _start(content: io.BufferedReader, name: str) -> bytes:
    """The first bytes of a text file; a sentence if it is none."""
    start = content.peek(1 << 16)[: 1 << 16]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise CountingError(f"{name} is UTF-16: save it as UTF-8")
    text = start.decode("utf-8", "surrogateescape")
    control = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
    first = re.match(r"[^\r\n]*", text.removeprefix("\ufeff"))
    if (first and control.search(first[0])) or len(control.findall(text)) > 3 + len(text) / 100:
        raise CountingError(f"{name} is not a text file; save the table as CSV (UTF-8) or Parquet")
    return start


class _Lines:
    """The lines of a text, which remember where they are."""

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


def _kept(lines: Iterator[str], kept: list[str]) -> Iterator[str]:
    for line in lines:
        kept.append(line)
        yield line


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    """A JSON object, if every key is there once."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else None


def _keys(text: str, name: str) -> list[str]:
    """The keys of the first object."""
    try:
        first = json.JSONDecoder().raw_decode(text.strip())[0]
    except ValueError:
        first = None
    if not isinstance(first, dict):
        raise CountingError(f"{name} looks like JSON, but is not one object on each line")
    return list(first)


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


# ---------------------------------------------------------------- blocks without doubt


def _verified(
    content: io.BufferedReader, width: int, delimiter: str, latin: bool
) -> Iterator[bytes]:
    """Blocks of whole rows, a line feed after each, with a field for every column."""
    rest = b""
    while True:
        block = content.read(BLOCK)
        last = not block
        block = rest + block
        if last and block and not block.endswith(b"\n"):
            block += b"\n"
        if not block:
            return
        if b"\0" in block:
            raise Doubt
        block, rest = _rows_of(block, width, ord(delimiter))
        if not block:
            if last or len(rest) > BLOCK:
                raise Doubt  # a quote that does not end, or a very long line
            continue
        if latin:
            yield block.decode("latin-1").encode()
        else:
            if not block.isascii():
                block.decode()
            yield block
        if last:
            if rest:
                raise Doubt
            return


def _rows_of(block: bytes, width: int, delimiter: int) -> tuple[bytes, bytes]:
    """The whole rows at the beginning of a block, and what follows."""
    data = np.frombuffer(block, np.uint8)
    line_ends, separators, returns = data == 10, data == delimiter, None
    if b"\r" in block:
        returns = data == 13
    quotes = data == 34 if b'"' in block else None
    if quotes is not None:
        outside = ~np.logical_xor.accumulate(quotes)
        line_ends &= outside
        separators &= outside
        if returns is not None:
            returns &= outside
    lines = np.flatnonzero(line_ends)
    if not len(lines):
        return b"", block
    cut = int(lines[-1]) + 1
    if np.diff(lines, prepend=-1).max() > LONGEST:
        raise Doubt
    if quotes is not None:
        places = np.flatnonzero(quotes[:cut])
        # Of each two, the first begins a field or follows a doubled quote, and the other ends one.
        # Before the block, there is a line end.
        before = np.where(places[::2] > 0, data[places[::2] - 1], 10)
        after = data[places[1::2] + 1]
        for beside, allowed in ((before, (delimiter, 10, 34)), (after, (delimiter, 10, 13, 34))):
            if not np.isin(beside, allowed).all():
                raise Doubt
    found = np.flatnonzero(returns[:cut]) if returns is not None else lines[:0]
    if (data[found + 1] != 10).any():
        raise Doubt
    whole = block[:cut]
    if len(found):
        # DuckDB has been seen to run rows together where it expects CR LF.
        whole = np.delete(data[:cut], found).tobytes()
    if width == 1:
        if separators[:cut].any() or np.diff(lines, prepend=-1).min() < 2 + bool(len(found)):
            raise Doubt
    else:
        found = np.flatnonzero(separators[:cut])
        if len(found) != len(lines) * (width - 1):
            raise Doubt
        table = found.reshape(-1, width - 1)
        if (table[:, -1] > lines).any() or (table[1:, 0] < lines[:-1]).any():
            raise Doubt
    return whole, block[cut:]


def spooled(content: IO[bytes]) -> IO[bytes]:
    """A file without a name that holds the rest of another."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    while block := content.read(BLOCK):
        copy.write(block)
    copy.seek(0)
    return copy
