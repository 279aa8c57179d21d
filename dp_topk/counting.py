"""Count the users of each item: with DuckDB here, or with the same query in a warehouse.

A user counts once for an item, however often the two occur together, and, where `max_items` says
so, for that many items at most. DuckDB counts rows in files, in tables in memory and in its own
databases, with as much memory as it is given; what does not fit goes to temporary files. For rows
that are elsewhere, `query` gives the query: the warehouse counts, and only the counts leave it.

DuckDB sees the named files only. It cannot reach the network, load extensions or write anything
but its temporary files.
"""

import contextlib
import dataclasses
import functools
import glob
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_topk import _tables
from dp_topk._tables import CountingError, Doubt, File, Form, Text, Typed
from dp_topk.mechanisms import LARGEST_COUNT

__all__ = ["CountingError", "Counts", "count_users", "query", "read_counts"]

LEAST_MB = 200
LONG = 4096  # bytes; keys that are longer are compared by their SHA-256
COUNT = r"0*[0-9]{1,16}(\.00?)?"
IN_ORDER = "\nORDER BY ENCODE(CAST(item AS VARCHAR))"
FIRST_REPEATED = """SELECT place, CAST(item AS VARCHAR) AS item FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY LENGTH(place), place) AS time FROM rows
) WHERE time > 1 ORDER BY LENGTH(place), place LIMIT 1"""

# How the dialects write a name, a text type and MD5 as hexadecimal digits.
DIALECTS = {
    "duckdb": ('"', "VARCHAR", "md5({})"),
    "spark": ("`", "STRING", "md5({})"),
    "bigquery": ("`", "STRING", "TO_HEX(MD5({}))"),
    "postgres": ('"', "TEXT", "md5({})"),
}


class Counts(NamedTuple):
    """Items in byte order, and how many users each of them has."""

    items: list[str]
    counts: NDArray[np.int64]


def query(
    user: str,
    item: str,
    table: str,
    *,
    max_items: int | None = None,
    salt: str = "",
    dialect: str = "duckdb",
) -> str:
    """The query that counts the users of each item, for an engine that has the rows.

    Parameters
    ----------
    user, item : str
        Names of columns.
    table : str
        Name of a table; dots separate it from its schema, catalogue or project.
    max_items : int, optional
        At most this many items of a user count: those with the smallest MD5 of the salt, the user
        and the item. Which ones depends on the rows of that user alone.
    salt : str
        A public text of letters, digits, blanks and ``_.:-``; another salt chooses other items.
    dialect : {"duckdb", "spark", "bigquery", "postgres"}
        The dialect of SQL.

    Returns
    -------
    str
        A SELECT with the columns ``item`` and ``users``. Rows without a user or an item are left
        out.
    """
    if dialect not in DIALECTS:
        raise CountingError(f"there is no dialect {dialect!r}; use one of {', '.join(DIALECTS)}")
    mark, text, md5 = DIALECTS[dialect]
    person, thing = (_quoted(column, mark) for column in (user, item))
    where = ".".join(_quoted(part, mark) for part in table.split("."))
    pairs = f"""SELECT DISTINCT {person} AS person, {thing} AS item
  FROM {where}
  WHERE {person} IS NOT NULL AND {thing} IS NOT NULL"""
    if max_items is not None:
        if not isinstance(max_items, int) or max_items < 1:
            raise CountingError(f"max_items is {max_items!r}; it must be a whole number above 0")
        if not all(sign.isascii() and (sign.isalnum() or sign in " _.:-") for sign in salt):
            raise CountingError("the salt may have letters, digits, blanks and _.:- only")
        who, what = (f"CAST({column} AS {text})" for column in ("person", "item"))
        parts = f"'{salt}', CAST(LENGTH({who}) AS {text}), ':', {who}, {what}"
        hashed = md5.format(f"CONCAT({parts})")
        pairs = f"""SELECT item FROM (
    SELECT item, ROW_NUMBER() OVER (PARTITION BY person ORDER BY {hashed}, item) AS place
    FROM (
  {pairs}
    ) AS distinct_pairs
  ) AS placed
  WHERE place <= {max_items}"""
    return f"""SELECT CAST(item AS {text}) AS item, COUNT(*) AS users
FROM (
  {pairs}
) AS pairs
GROUP BY item"""


def count_users(
    source: Any,
    user: str,
    item: str,
    *,
    among: Iterable[str] | None = None,
    max_items: int | None = None,
    salt: str = "",
    memory_mb: int | None = None,
    progress: bool = False,
) -> Counts:
    """How many users each item has.

    Parameters
    ----------
    source : path, list of paths, "-", table, or (database, table)
        Where the rows are: a file; several files, a folder or a pattern such as ``rows/*.csv``,
        read as one table; standard input ("-"); a pandas, Polars or Arrow table; or a DuckDB
        database file and the name of a table in it.
    user, item : str
        Names of columns.
    among : iterable of str, optional
        The public list of items. Rows with other items are left out, before the items of users are
        limited; items without rows count 0.
    max_items, salt
        As in `query`.
    memory_mb : int, optional
        How much memory DuckDB may use; 500 MB or a quarter of the machine by default.
    progress : bool
        Show progress on a terminal.

    Returns
    -------
    Counts
        Of the items in `among`, or else of the items in the rows.

    Raises
    ------
    CountingError
        In one sentence, what is wrong and where; never a value of a row.
    """
    columns = {"user": (user, "key"), "item": (item, "name")}
    names = None if among is None else sorted(set(among))
    rows = Rows(source, columns, among=names, memory_mb=memory_mb, progress=progress)
    found = rows.answer(query("user", "item", "rows", max_items=max_items, salt=salt) + IN_ORDER)
    items, counts = found["item"].tolist(), found["users"]
    if names is None:
        return Counts(items, counts)
    known = dict(zip(items, counts.tolist(), strict=True))
    return Counts(names, np.array([known.get(name, 0) for name in names], np.int64))


def read_counts(
    source: Any,
    item: str,
    count: str,
    *,
    memory_mb: int | None = None,
    progress: bool = False,
) -> Counts:
    """The counts of a table that has them, one row for each item.

    Parameters
    ----------
    source, memory_mb, progress
        As in `count_users`.
    item, count : str
        Names of columns. A count is a whole number up to 2^53; 12.0 and 12.00 are 12.

    Returns
    -------
    Counts
    """
    columns = {"item": (item, "name"), "count": (count, "count")}
    statement = """SELECT CAST(item AS VARCHAR) AS item, MAX(count) AS users, COUNT(*) AS times
FROM rows GROUP BY item"""
    rows = Rows(source, columns, memory_mb=memory_mb, progress=progress)
    found = rows.answer(statement + IN_ORDER, once=True)
    return Counts(found["item"].tolist(), found["users"])


def _quoted(name: str, mark: str = '"') -> str:
    if not name or not name.isprintable() or "\\" in name or (mark == "`" and mark in name):
        raise CountingError(f"{name!r} cannot be written as a name in SQL; rename it")
    return mark + name.replace(mark, mark + mark) + mark


# ---------------------------------------------------------------- questions to DuckDB


@dataclasses.dataclass
class Rows:
    """The rows of a source, for SELECT statements from `rows`.

    columns: for each column of `rows`, the column of the source and what it holds: a "name" or a
    "key", which must not be empty (a key is only compared), or a "count".
    skip, where: rows that are left out before anything else, by number and by values of columns.
    among: the values of `item` to which rows are limited.
    form: what is known of text files beforehand.
    """

    source: Any
    columns: dict[str, tuple[str, str]]
    skip: int = 0
    where: dict[str, str] = dataclasses.field(default_factory=dict)
    among: list[str] | None = None
    form: Form = Form()  # noqa: RUF009
    memory_mb: int | None = None
    progress: bool = False

    def answer(self, statement: str, *, once: bool = False) -> dict[str, NDArray[Any]]:
        """What a statement gives, each column as an array.

        once: no two rows may have the same `item`; the statement counts them as `times`.
        """
        self._duckdb, self._memory = _duckdb(), _memory_mb(self.memory_mb)
        self._database, self._in_memory = ":memory:", None
        self._allowed: list[str] = []  # files that DuckDB reads itself
        self._opened: dict[str, io.FileIO] = {}
        self._bytes = 0  # of all files
        with contextlib.ExitStack() as self._stack:
            self._folder = self._stack.enter_context(_spill_folder())
            tables = self._tables()
            self._bytewise = self.form.lenient and isinstance(tables[0], Text)  # for its characters
            with contextlib.suppress(Doubt):
                found = self._asked(tables, statement, placed=False)
                if not once or (found["times"] < 2).all():
                    return found
            # Something is wrong or hard to read: once more, slowly, with the place of every row.
            if once:
                again = self._asked(tables, FIRST_REPEATED, placed=True)
                if len(again["item"]):
                    raise self._fault("once", "item", again["place"][0], again["item"][0])
            return self._asked(tables, statement, placed=True)

    def _asked(self, tables: list[Text | Typed], statement: str, placed: bool) -> dict[str, Any]:
        """The answer from the tables; Doubt where it needs the places of rows."""
        self._opened, self._passed = {}, 0  # files and rows of this attempt
        reads, pipes, fills, wrong = [], [], [], None  # fills: what writes into the pipes
        found: dict[str, Any] = {}
        names = ["place", *self.columns, *(f"where {at}" for at in range(len(self.where)))]
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(len(tables)))
            for table in tables:
                if isinstance(table, Text):
                    reader, writer = os.pipe()
                    stack.callback(os.close, reader)
                    pipes.append(f"/dev/fd/{reader}")
                    blocks = table.rewritten() if placed else table.blocks()
                    fills.append(pool.submit(self._fill, writer, blocks))
                    relation, values = table.reader(pipes[-1], placed)
                else:
                    relation, values = table.relation, table.columns
                values = [table.place if placed else "''", *values]
                named = (f'{value} AS "{name}"' for value, name in zip(values, names, strict=True))
                reads.append(f"SELECT {', '.join(named)} FROM {relation}")
            raw = " UNION ALL ".join(reads)
            con = stack.enter_context(self._connected(*pipes))
            if self.among is not None:
                con.execute("CREATE TEMP TABLE among AS SELECT UNNEST(?)", [self.among])
            where = [*self.where.values()]
            if self._bytewise:
                where = [value.encode().decode("latin-1") for value in where]
            if self.progress and sys.stderr.isatty():
                known = all(table.row == "row" for table in tables)
                total = con.sql(f"SELECT COUNT(*) FROM ({raw})").fetchone()[0] if known else 0
                stack.enter_context(self._shown(con, total))
            try:
                sql = f"WITH rows AS ({self._rows(raw, con.sql(raw).types)})\n{statement}"
                found = con.execute(sql, where).fetchnumpy()
            except RuntimeError:  # DuckDB's answer to Ctrl-C
                raise KeyboardInterrupt from None
            except self._duckdb.Error as error:
                wrong = self._translated(error, tables, placed)
        for fill in fills:
            fill.result()  # or the reason why rows and answer ended early
        if wrong:
            raise wrong
        return found

    def _fill(self, writer: int, blocks: Iterator[bytes]) -> None:
        """Fill a pipe until DuckDB has read enough."""
        with contextlib.suppress(BrokenPipeError), open(writer, "wb") as pipe:
            for block in blocks:
                self._passed += block.count(b"\n")
                pipe.write(block)

    def _rows(self, raw: str, types: list[Any]) -> str:
        """The SELECT that makes `rows` of what was read; the values in `where` are parameters."""
        if self.skip:
            raw = f"SELECT * FROM ({raw}) AS whole OFFSET {self.skip}"
        read = ["place"]
        for (name, (_, kind)), type_ in zip(self.columns.items(), types[1:], strict=False):
            read.append(f'{_checked(name, kind, str(type_))} AS "{name}"')
        sql = f"SELECT {', '.join(read)} FROM ({raw}) AS raw WHERE true"
        for at in range(len(self.where)):
            sql += f" AND COALESCE(CAST(\"where {at}\" AS VARCHAR), '') = ?"
        if self.among is not None:
            sql = f"SELECT * FROM ({sql}) AS read WHERE CAST(item AS VARCHAR) IN (FROM among)"
        return sql

    def _translated(self, error: Exception, tables: list[Text | Typed], placed: bool) -> Exception:
        """An exception that says what happened, without what DuckDB says about rows."""
        said = str(error)
        if "No space left" in said or "max_temp_directory_size" in said:
            return CountingError(
                f"no space is left for temporary files in {os.path.dirname(self._folder)}; set "
                "TMPDIR to another folder"
            )
        if isinstance(error, self._duckdb.OutOfMemoryException):
            return CountingError(
                f"{self._memory} MB of memory is too little to count these rows; allow more"
            )
        if not placed:
            return Doubt()
        if fault := said.partition("fault\x1f")[2]:
            return self._fault(*fault.split("\x1f", 3))
        for table in tables:
            if table.row == "object":
                near = re.search(r"in (line|record)\S* (\d+)", said)
                return CountingError(
                    f"{table.name}{f', near {near[1]} {near[2]}' if near else ''}: not the JSON "
                    "expected, objects only, one per line or all in one array, with no key repeated"
                )
        return CountingError(f"{tables[0].name} is cut short or damaged")

    def _fault(self, kind: str, name: str, place: str, value: str) -> CountingError:
        """What is wrong with a row, in one sentence."""
        if self._bytewise:
            value = value.encode("latin-1").decode("utf-8", "surrogateescape")
        where = f"in column {self.columns[name][0]!r}"
        shown = f"; it is {_tables.printable(value[:40])!r}"
        if kind == "once":
            return CountingError(
                f"{place}: the same {name} again {where}; its count must be in one row, since "
                "adding up two could count a user twice",
                f"; leave out `item` if these are different items{shown}",
            )
        if kind == "count":
            thousand = " (1.000 may be a thousand)" * bool(re.fullmatch("[0-9]+[.]000+", value))
            return CountingError(
                f"{place}: something other than a count {where}; it must be a whole number from 0 "
                f"to {LARGEST_COUNT} (2^53) without separators{thousand}",
                shown,
            )
        return CountingError(f"{place}: no {name} {where}; every row needs one")

    @contextlib.contextmanager
    def _connected(self, *pipes: str) -> Iterator[Any]:
        """DuckDB with access to what it is given; nothing can make it use anything else."""
        limits = {
            "memory_limit": f"{self._memory}MB",
            "threads": 1,  # more would split a text where its quotes are not known yet
            "temp_directory": self._folder,
        }
        database = self._database
        with self._duckdb.connect(database, database != ":memory:", config=limits) as con:
            if self._in_memory is not None:
                con.register("source", self._in_memory)
            for setting in (
                "enable_progress_bar_print = false",  # to standard output, whatever that is
                f"allowed_paths = {_tables.listed([*self._allowed, *pipes])}",
                "enable_external_access = false",
                "autoload_known_extensions = false",
                "autoinstall_known_extensions = false",
                "allow_community_extensions = false",
                "python_enable_replacements = false",
                "lock_configuration = true",
            ):
                con.execute(f"SET {setting}")
            yield con

    @contextlib.contextmanager
    def _shown(self, con: Any, total: int) -> Iterator[None]:
        """Show on the terminal how many rows were read, and how long the others may take.

        total: how many rows there are, where no pipe counts them.
        """
        done, began = threading.Event(), time.monotonic()

        def show() -> None:
            while not done.wait(0.5):
                share = self._share() if self._opened else max(0.0, con.query_progress() / 100)
                rows = self._passed or round(share * total)
                text = f"{rows:,} rows, " if rows else ""
                if share > 0:
                    left = (time.monotonic() - began) * (1 - share) / share
                    text += f"{share:.0%}, {left:.0f} s left"
                print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

        with ThreadPoolExecutor(1) as pool:
            pool.submit(show)
            try:
                yield
            finally:
                done.set()

    def _share(self) -> float:
        """How much of the files was read; compressed ones count as they are on disk."""
        read = 0
        for path, file in [*self._opened.items()]:
            try:
                read += file.tell()
            except ValueError:  # it is closed
                read += os.path.getsize(path)
        return read / (self._bytes or 1)

    # ------------------------------------------------------------ sources

    def _tables(self) -> list[Text | Typed]:
        """The source, as tables that have the columns that are needed."""
        source, needed = self.source, [*(name for name, _ in self.columns.values()), *self.where]
        if isinstance(source, tuple) and len(source) == 2 and is_database(source[0]):
            self._database, name = os.fspath(source[0]), str(source[1])
            relation = ".".join(map(_quoted, name.split(".")))
            return [self._typed(f"table {name!r} of {self._database}", relation, needed)]
        if not isinstance(source, (str, os.PathLike, list, tuple, File)):
            self._in_memory = source
            return [self._typed("the table", "source", needed)]
        texts: dict[Any, Text] = {}  # by what they have in common
        others: dict[str, list[tuple[str, str]]] = {}  # by kind: names, and paths for DuckDB
        for file in self._files(source):
            with _tables.unpacked(file) as content:
                kind, start = _tables.kind_and_start(content, file.name, self.form)
                if kind != "text":
                    others.setdefault(kind, []).append((file.name, self._given(content)))
            if kind == "text":
                table = Text(file, needed, start, self.form)
                first = texts.setdefault(table.shape, table)
                if first is not table:
                    first.files.append(file)
            elif kind != "parquet":
                _tables.require_keys(file, start, needed)
        tables: list[Text | Typed] = [*texts.values()]
        for kind, files in others.items():
            names, paths = zip(*files, strict=True)
            name = names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
            if kind == "parquet":
                relation = f"read_parquet({_tables.listed(paths)}, union_by_name=true)"
                tables.append(self._typed(name, relation, needed))
            else:
                tables.append(_tables.json_table(name, paths, kind, needed))
        return tables

    def _typed(self, name: str, relation: str, needed: list[str]) -> Typed:
        try:
            with self._connected() as con:
                columns = con.sql(f"SELECT * FROM {relation} LIMIT 0").columns
        except self._duckdb.CatalogException:
            raise CountingError(f"there is no {name}") from None
        except self._duckdb.Error:
            raise CountingError(f"{name} is cut short, damaged or of an unknown kind") from None
        for column in needed:
            _tables.position(column, columns, name)
        return Typed(name, relation, [*map(_quoted, needed)])

    def _given(self, content: Any) -> str:
        """A path where DuckDB can read a file itself, or a copy if the file is packed."""
        if not isinstance(getattr(content.raw, "raw", content.raw), io.FileIO):
            content = self._stack.enter_context(self._open(self._copied(content)))
        kept = os.dup(content.fileno())
        self._stack.callback(os.close, kept)
        self._allowed.append(f"/dev/fd/{kept}")
        return self._allowed[-1]

    def _copied(self, content: IO[bytes]) -> str:
        """The path of a copy of what can be read only once."""
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as copy:
            shutil.copyfileobj(content, copy, _tables.BLOCK)
        return copy.name

    def _files(self, source: Any) -> list[File]:
        """All files of a source."""
        if isinstance(source, File):
            return [source]
        paths = source
        if not isinstance(source, (list, tuple)):
            if os.path.isdir(source):
                entries = (entry for entry in os.scandir(source) if entry.name[0] not in "._")
                paths = sorted(entry.path for entry in entries if entry.is_file())
            elif not os.path.exists(source) and glob.has_magic(os.fspath(source)):
                paths = sorted(glob.glob(os.fspath(source)))
            else:
                return [self._file(os.fspath(source))]
        files = [file for path in paths for file in self._files(path)]
        if not files:
            raise CountingError(f"there is no file in {source} or matching it")
        return files

    def _file(self, path: str) -> File:
        name = "standard input" if path == "-" else path
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            with sys.stdin.buffer if path == "-" else open(path, "rb") as pipe:
                path = self._copied(pipe)
        self._bytes += os.path.getsize(path)
        return File(name, functools.partial(self._open, path))

    def _open(self, path: str) -> io.FileIO:
        self._opened[path] = opened = io.FileIO(path)
        return opened


def _checked(name: str, kind: str, type_: str) -> str:
    """SQL for a value that fails if the value is wrong."""
    column, text = f'"{name}"', f"COALESCE(CAST(\"{name}\" AS VARCHAR), '')"
    error = f"error('fault' || CONCAT_WS(CHR(31), '', '{kind}', '{name}', place, {text}))"
    if kind == "count":
        text = f"TRIM({text}, ' \t\r\n\v\f')"
        number = f"CAST(SPLIT_PART({text}, '.', 1) AS HUGEINT)"
        right = f"REGEXP_FULL_MATCH({text}, '{COUNT}') AND {number} <= {LARGEST_COUNT}"
        return f"CASE WHEN {right} THEN CAST({number} AS BIGINT) ELSE {error} END"
    empty, digest = f"{column} IS NULL", ""
    if type_ == "VARCHAR":
        empty += f" OR {column} = ''"
        if kind == "key":
            digest = f"WHEN STRLEN({column}) > {LONG} THEN CHR(0) || SHA256({column})"
    return f"CASE WHEN {empty} THEN {error} {digest} ELSE {column} END"


def is_database(path: Any) -> bool:
    with contextlib.suppress(OSError, TypeError), open(path, "rb") as file:
        return file.read(12)[8:] == b"DUCK"
    return False


def _memory_mb(asked: int | None) -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6
    allowed = max(LEAST_MB, min(500, machine // 4)) if asked is None else asked
    if allowed < LEAST_MB:
        raise CountingError(f"{asked} MB of memory is too little; allow at least {LEAST_MB} MB")
    return allowed


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise CountingError(
            "counting needs DuckDB: pip install 'dp-topk[count]', or pip install duckdb"
        ) from None
    return duckdb


@contextlib.contextmanager
def _spill_folder() -> Iterator[str]:
    """A folder for temporary files that nobody else can read.

    It is deleted by a process that waits for this one to end, and outlives it when it is killed.
    """
    place = os.environ.get("TMPDIR") or tempfile.gettempdir()
    if not os.path.isdir(place):
        raise CountingError(
            f"TMPDIR is {place!r}, which is not a folder; create it, or set another"
        )
    folder = tempfile.mkdtemp(prefix="dp-topk-", dir=place)
    guard = ["/bin/sh", "-c", 'read -r _; command -p rm -rf "$1"', "sh", folder]
    with subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True):
        yield folder
