"""Count the users of each item: with DuckDB here, or with the same query in a warehouse.

A user counts once for an item, however often the two occur together, and, where `max_items` says
so, for that many items at most. DuckDB counts rows in files, in tables in memory and in its own
databases, with as much memory as it is given; what does not fit goes to temporary files. For rows
that are elsewhere, `query` gives the query: the warehouse counts, and only the counts leave it.

DuckDB sees the named files only. It cannot reach the network, load extensions or write anything
but its temporary files.
"""

from __future__ import annotations

import contextlib
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_topk._tables import (
    BLOCK,
    JSON,
    CountingError,
    Doubt,
    File,
    Form,
    Json,
    Text,
    listed,
    numbered,
    position,
    printable,
    spooled,
    start_of_text,
    unpacked,
)
from dp_topk.mechanisms._profile import LARGEST_COUNT

__all__ = ["CountingError", "Counts", "count_users", "query", "read_counts"]

LEAST_MB = 200
LONG = 4096  # bytes; keys that are longer are compared by their SHA-256
COUNT = r"0*[0-9]{1,16}(\.00?)?"
FIRST_REPEATED = """SELECT place, item FROM (
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
        Name of a table; dots part it from its schema, catalogue or project.
    max_items : int, optional
        At most this many items of a user count: those with the smallest MD5 of the salt, the user
        and the item. Which ones depends on the rows of that user alone.
    salt : str
        A public text of letters, digits, blanks and ``_.:-``; another salt chooses other items.
    dialect : {"duckdb", "spark", "bigquery", "postgres"}
        Whose SQL it is.

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
        Where the rows are: a file, several files, a folder or a pattern such as ``rows/*.csv``,
        which are one table; standard input ("-"); a pandas, Polars or Arrow table; or a DuckDB
        database file and the name of a table in it.
    user, item : str
        Names of columns.
    among : iterable of str, optional
        The public list of items. Rows with other items are left out, before the items of users are
        limited; items without rows count 0.
    max_items, salt
        As in `query`.
    memory_mb : int, optional
        How much memory DuckDB may take; 500 MB or a quarter of the machine by default.
    progress : bool
        Show on a terminal how far it is.

    Returns
    -------
    Counts
        Of the items in `among`, or else of the items in the rows.

    Raises
    ------
    CountingError
        In one sentence, what is wrong and where; never a value of a row.
    """
    statement = query("user", "item", "rows", max_items=max_items, salt=salt)

    columns = {"user": (user, "key"), "item": (item, "name")}
    listed = None if among is None else sorted(set(among))
    found = answer(source, columns, statement, among=listed, memory_mb=memory_mb, progress=progress)
    items, counts = found["item"].tolist(), found["users"].tolist()
    if listed is not None:
        known = dict(zip(items, counts, strict=True))
        return Counts(listed, np.array([known.get(name, 0) for name in listed], np.int64))
    return _in_order(items, counts)


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
    found = answer(source, columns, statement, once=True, memory_mb=memory_mb, progress=progress)
    return _in_order(found["item"].tolist(), found["users"].tolist())


def _in_order(items: list[str], counts: list[int]) -> Counts:
    order = sorted(range(len(items)), key=items.__getitem__)
    return Counts([items[at] for at in order], np.array(counts, np.int64)[order])


def _quoted(name: str, mark: str = '"') -> str:
    if not name or not name.isprintable() or "\\" in name or (mark == "`" and mark in name):
        raise CountingError(f"{name!r} cannot be written as a name in SQL; rename it")
    return mark + name.replace(mark, mark + mark) + mark


# ---------------------------------------------------------------- questions to DuckDB


def answer(
    source: Any,
    columns: dict[str, tuple[str, str]],
    statement: str,
    *,
    skip: int = 0,
    where: dict[str, str] | None = None,
    among: list[str] | None = None,
    once: bool = False,
    form: Form | None = None,
    memory_mb: int | None = None,
    progress: bool = False,
) -> dict[str, NDArray[Any]]:
    """What a SELECT from `rows` gives, each column as an array.

    columns: for each column of `rows`, the column of the source and what it holds: a "name" or a
    "key", which must not be empty (a key is only compared); a "count"; or any "text".
    skip, where: rows that are left out before anything else, by number and by values.
    among: the values of `item` to which rows are limited.
    once: no two rows may have the same `item`; the statement counts them as `times`.
    form: what is known of text files beforehand.
    """
    with contextlib.ExitStack() as stack:
        engine = _Engine(source, form or Form(), memory_mb, progress, stack)
        tables = engine.tables([column for column, _ in columns.values()])
        question = _Question(columns, skip, where or {}, among)
        with contextlib.suppress(Doubt):
            found = engine.asked(tables, question, statement)
            if not once or (found["times"] < 2).all():
                return found
        # Something is wrong or hard to read: once more, slowly, with the place of every row.
        question = question._replace(placed=True)
        if once:
            again = engine.asked(tables, question, FIRST_REPEATED)
            for place, item in zip(again["place"], again["item"], strict=True):
                raise engine.fault(tables, question, "once", "item", place, item)
        return engine.asked(tables, question, statement)


class _Question(NamedTuple):
    """Which columns and rows are asked for; see `answer`."""

    columns: dict[str, tuple[str, str]]
    skip: int
    where: dict[str, str]
    among: list[str] | None
    placed: bool = False  # there is a column `place`, which errors name

    def names(self) -> list[str]:
        """The columns of the tables that are read."""
        return [_quoted(name) for name in (["place"] if self.placed else []) + [*self.columns]]

    def sql(self, raw: str, types: Iterable[str]) -> str:
        """The SELECT that makes `rows` of what was read; the values in `where` are parameters."""
        if self.skip:
            raw = f"SELECT * FROM ({raw}) AS whole OFFSET {self.skip}"
        read = ["place"] if self.placed else []
        for (name, (_, kind)), type_ in zip(self.columns.items(), types, strict=True):
            if name not in self.where:
                read.append(f"{self._value(name, kind, type_)} AS {_quoted(name)}")
        tests = [f"COALESCE(CAST({_quoted(name)} AS VARCHAR), '') = ?" for name in self.where]
        sql = f"SELECT {', '.join(read)} FROM ({raw}) AS raw WHERE {' AND '.join(['true', *tests])}"
        if self.among is not None:
            sql = f"SELECT * FROM ({sql}) AS read WHERE CAST(item AS VARCHAR) IN (FROM among)"
        return sql

    def _value(self, name: str, kind: str, type_: str) -> str:
        """The SQL of a value, which fails where the value is not right."""
        column, error = _quoted(name), "error('fault')"
        if self.placed:
            parts = f"'{kind}', '{name}', place, COALESCE(CAST({column} AS VARCHAR), '')"
            error = f"error('fault' || CONCAT_WS(CHR(31), '', {parts}))"
        if kind == "text":
            return f"COALESCE(CAST({column} AS VARCHAR), '')"
        if kind == "count":
            text = f"TRIM(CAST({column} AS VARCHAR), ' \t\r\n\v\f')"
            number = f"CAST(SPLIT_PART({text}, '.', 1) AS HUGEINT)"
            return (
                f"CASE WHEN REGEXP_FULL_MATCH({text}, '{COUNT}') AND {number} <= {LARGEST_COUNT} "
                f"THEN CAST({number} AS BIGINT) ELSE {error} END"
            )
        if type_ != "VARCHAR":
            return f"CASE WHEN {column} IS NULL THEN {error} ELSE {column} END"
        digest = f"WHEN STRLEN({column}) > {LONG} THEN CHR(0) || SHA256({column})"
        return (
            f"CASE WHEN {column} IS NULL OR {column} = '' THEN {error} "
            f"{digest if kind == 'key' else ''} ELSE {column} END"
        )


class _Engine:
    """DuckDB, and the rows of a source."""

    def __init__(
        self,
        source: Any,
        form: Form,
        memory_mb: int | None,
        progress: bool,
        stack: contextlib.ExitStack,
    ) -> None:
        self._source, self._form, self._memory = source, form, _memory_mb(memory_mb)
        self._progress = progress and sys.stderr.isatty()
        self._stack, self._duckdb = stack, _duckdb()
        self._folder = stack.enter_context(_spill_folder())
        self._database, self._in_memory = ":memory:", None
        self._allowed: list[str] = []  # files that DuckDB reads itself
        self._opened: dict[str, Any] = {}  # the files of this attempt
        self._sizes: dict[str, int] = {}  # of all files, in bytes

    def asked(self, tables: list[Any], question: _Question, statement: str) -> dict[str, Any]:
        """The answer from the tables; Doubt where it needs the places of rows."""
        self._opened.clear()
        placed = question.placed
        with contextlib.ExitStack() as stack:
            pipes = {table: _Pipe(table.blocks(placed)) for table in tables if table.piped}
            for pipe in pipes.values():
                stack.callback(pipe.close)
            paths = {table: pipe.path for table, pipe in pipes.items()}
            con = stack.enter_context(self._connected(paths.values()))
            raw = " UNION ALL ".join(
                table.relation(question.names(), paths.get(table, ""), at if placed else None)
                for at, table in enumerate(tables)
            )
            types = ["VARCHAR"] * len(question.columns)
            if len(pipes) < len(tables):
                types = [str(kind) for kind in con.sql(raw).types][-len(types) :]
            if question.among is not None:
                con.execute("CREATE TEMP TABLE among AS SELECT UNNEST(?)", [question.among])
            if self._progress:
                known = all(isinstance(table, _Typed) for table in tables)
                total = con.sql(f"SELECT COUNT(*) FROM ({raw})").fetchone()[0] if known else 0
                stack.enter_context(self._shown(con, [*pipes.values()], total))
            for pipe in pipes.values():
                pipe.start(con)
            values = [*question.where.values()]
            if self._bytewise(tables):
                values = [value.encode().decode("latin-1") for value in values]
            problem, found = None, {}
            try:
                sql = f"WITH rows AS ({question.sql(raw, types)})\n{statement}"
                found = con.execute(sql, values).fetchnumpy()
            except self._duckdb.Error as error:
                problem = self._translated(error, tables, question)
            for pipe in pipes.values():
                pipe.close()
                if pipe.error is not None:
                    raise pipe.error
            if problem is not None:
                raise problem
            return found

    def _bytewise(self, tables: list[Any]) -> bool:
        """Whether the rows have bytes in place of characters."""
        return self._form.latin and isinstance(tables[0], Text)

    def _translated(
        self, error: Exception, tables: list[Any], question: _Question
    ) -> BaseException:
        """The exception that says what happened, without what DuckDB says of rows."""
        said = str(error)
        if isinstance(error, self._duckdb.InterruptException):
            return KeyboardInterrupt()
        if "No space left" in said or "max_temp_directory_size" in said:
            return CountingError(
                f"there is no room left for temporary files in {os.path.dirname(self._folder)}; "
                "TMPDIR names another folder"
            )
        if isinstance(error, self._duckdb.OutOfMemoryException):
            return CountingError(
                f"{self._memory} MB of memory are too few to count these rows; allow more"
            )
        if not question.placed:
            return Doubt()
        if fault := re.search("fault\x1f(.*?)\x1f(.*?)\x1f(.*?)\x1f(.*)", said, re.DOTALL):
            return self.fault(tables, question, *fault.groups())
        table = next((table for table in tables if isinstance(table, Json)), tables[0])
        return CountingError(table.unreadable(said))

    def fault(
        self, tables: list[Any], question: _Question, kind: str, name: str, place: str, value: str
    ) -> CountingError:
        """What is wrong with a row, in one sentence."""
        # SQL knows tables by their numbers, and never sees their names.
        place = re.sub("^\x1e(\\d+)", lambda found: tables[int(found[1])].name, place)
        if self._bytewise(tables):
            value = value.encode("latin-1").decode("utf-8", "surrogateescape")
        where = f"{place}: {{}} in column {question.columns[name][0]!r}; "
        shown = f"; it is {printable(value[:40])!r}"
        if kind == "once":
            return CountingError(
                f"{where.format(f'an {name} a second time')}a count must stand in one row, since "
                "adding up two could count a user twice",
                f"; take away `item` if these are different items{shown}",
            )
        if kind == "count":
            thousand = re.fullmatch("[0-9]+[.]000+", value)
            return CountingError(
                f"{where.format('something else than a count')}it must be a whole number from 0 to "
                f"{LARGEST_COUNT} (2^53) without separators"
                f"{' (1.000 may be a thousand)' if thousand else ''}",
                shown,
            )
        return CountingError(f"{where.format(f'no {name}')}every row needs one")

    @contextlib.contextmanager
    def _connected(self, pipes: Iterable[str] = ()) -> Iterator[Any]:
        """DuckDB, which can use what it is given, and cannot be told to use anything else."""
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
                f"allowed_paths = {listed([*self._allowed, *pipes])}",
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
    def _shown(self, con: Any, pipes: list[_Pipe], total: int) -> Iterator[None]:
        """Show on the terminal how many rows were read, and how long the others may take.

        total: how many rows there are, where there is no pipe to count them.
        """
        done, began = threading.Event(), time.monotonic()

        def show() -> None:
            while not done.wait(0.5):
                share = self._share() if pipes else max(0.0, con.query_progress() / 100)
                rows = sum(pipe.rows for pipe in pipes) if pipes else round(share * total)
                text = f"{rows:,} rows, " if rows else ""
                if share > 0:
                    left = (time.monotonic() - began) * (1 - share) / share
                    text += f"{share:.0%}, {left:.0f} s left"
                print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)

        thread = threading.Thread(target=show, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _share(self) -> float:
        """How much of the files has been read; compressed ones as they are on disk."""
        files = [*self._opened.items()]
        read = sum(self._sizes[path] if file.closed else file.tell() for path, file in files)
        return read / (sum(self._sizes.values()) or 1)

    # ------------------------------------------------------------ sources

    def tables(self, needed: list[str]) -> list[Any]:
        """The source, as tables that have the columns that are needed."""
        source = self._source
        if isinstance(source, tuple) and len(source) == 2 and is_database(source[0]):
            self._database, name = os.fspath(source[0]), str(source[1])
            relation = ".".join(map(_quoted, name.split(".")))
            return [self._typed(f"table {name!r} of {self._database}", relation, needed)]
        if not isinstance(source, (str, os.PathLike, list, tuple, File)):
            self._in_memory = source
            return [self._typed("the table", "source", needed)]
        tables: list[Any] = []
        names, parquet = [], []
        for file in self._files(source):
            with unpacked(file) as content:
                start = content.peek(12)
                if start.startswith(b"PAR1"):
                    parquet.append(self._given(content))
                    names.append(file.name)
                    continue
                if start[8:12] == b"DUCK":
                    raise CountingError(f"{file.name} is a DuckDB database; name its table, too")
                text = start_of_text(content, file.name)
                if JSON.match(text) and not self._form.names:
                    table: Any = Json(file, needed, text, self._given(content))
                else:
                    table = Text(file, needed, text, self._form)
            if not any(other.goes_on_with(table) for other in tables):
                tables.append(table)
        if names:
            relation = f"read_parquet({listed(parquet)}, union_by_name=true)"
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            tables.append(self._typed(names[0] + more, relation, needed))
        return tables

    def _given(self, content: io.BufferedReader) -> str:
        """The path by which DuckDB reads a file itself, or a copy where that is packed."""
        plain = isinstance(getattr(content, "raw", None), io.FileIO)
        copy = content if plain else spooled(content)
        kept = os.dup(copy.fileno())
        self._stack.callback(os.close, kept)
        self._allowed.append(f"/dev/fd/{kept}")
        return self._allowed[-1]

    def _typed(self, name: str, relation: str, needed: list[str]) -> _Typed:
        try:
            with self._connected() as con:
                columns = con.sql(f"SELECT * FROM {relation} LIMIT 0").columns
        except self._duckdb.CatalogException:
            raise CountingError(f"there is no {name}") from None
        except self._duckdb.Error:
            raise CountingError(f"{name} is cut short, damaged or of an unknown kind") from None
        return _Typed(name, relation, columns, needed)

    def _files(self, source: Any) -> Iterator[File]:
        if isinstance(source, File):
            yield source
            return
        if isinstance(source, (list, tuple)):
            files: list[Any] = [*source]
        elif os.path.isdir(source):
            files = [entry.path for entry in os.scandir(source) if entry.name[0] not in "._"]
            files = sorted(filter(os.path.isfile, files))
        elif not os.path.exists(source) and glob.has_magic(os.fspath(source)):
            files = sorted(glob.glob(os.fspath(source)))
        else:
            path = os.fspath(source)
            if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
                yield self._copied(path)
            else:
                yield File(path, functools.partial(self._open, path))
            return
        if not files:
            raise CountingError(f"there is no file in {source}, or none that is called so")
        for file in files:
            yield from self._files(file)

    def _copied(self, path: str) -> File:
        """A copy of a pipe, which can be read only once."""
        with sys.stdin.buffer if path == "-" else open(path, "rb") as pipe:
            copy = self._stack.enter_context(spooled(pipe))

        @contextlib.contextmanager
        def from_the_start() -> Iterator[Any]:
            copy.seek(0)
            yield copy

        return File("standard input" if path == "-" else path, from_the_start)

    def _open(self, path: str) -> Any:
        opened = open(path, "rb", BLOCK)  # noqa: SIM115
        self._opened[path], self._sizes[path] = opened, os.fstat(opened.fileno()).st_size
        return opened


class _Typed:
    """A table whose columns have types: Parquet, in memory or in a database."""

    piped = False

    def __init__(self, name: str, source: str, columns: list[str], needed: list[str]) -> None:
        self.name, self.columns, self._source = name, columns, source
        self._needed = [_quoted(columns[position(self, column)]) for column in needed]

    def relation(self, names: list[str], path: str, number: int | None) -> str:
        """The columns that are read, by the names that they have here."""
        pairs = zip([*numbered(number, "row"), *self._needed], names, strict=True)
        return f"SELECT {', '.join(f'{a} AS {b}' for a, b in pairs)} FROM {self._source}"

    def unreadable(self, said: str) -> str:
        """What to say where DuckDB finds fault with the file."""
        return f"{self.name} is cut short or damaged"


class _Pipe:
    """A pipe to DuckDB that a thread fills with blocks of bytes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._reader, self._writer = os.pipe()
        self.path, self._blocks, self.rows = f"/dev/fd/{self._reader}", blocks, 0
        self.error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def start(self, con: Any) -> None:
        """Fill the pipe, and stop DuckDB where that cannot be done."""
        self._thread = threading.Thread(target=self._fill, args=[con], daemon=True)
        self._thread.start()

    def _fill(self, con: Any) -> None:
        try:
            with open(self._writer, "wb", 0) as pipe:
                for block in self._blocks:
                    self.rows += block.count(b"\n")
                    view = memoryview(block)
                    while view:
                        view = view[pipe.write(view) :]
        except BrokenPipeError:
            pass  # DuckDB has read enough, and says why
        except BaseException as error:
            self.error = error
            con.interrupt()

    def close(self) -> None:
        """Let the thread end, also where DuckDB did not read all."""
        if self._reader >= 0:
            os.close(self._reader)
            self._reader = -1
            if self._thread is None:
                os.close(self._writer)
            else:
                self._thread.join()


def is_database(path: Any) -> bool:
    """Whether a file is a DuckDB database."""
    try:
        with open(path, "rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except (OSError, TypeError):
        return False


def _memory_mb(asked: int | None) -> int:
    if asked is None:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6
        return max(LEAST_MB, min(500, machine // 4))
    if asked < LEAST_MB:
        raise CountingError(f"{asked} MB of memory are too few; allow at least {LEAST_MB} MB")
    return asked


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
        raise CountingError(f"TMPDIR is {place!r}, which is no folder; make it, or name another")
    folder = tempfile.mkdtemp(prefix="dp-topk-", dir=place)
    remove = shutil.which("rm", path=os.defpath) or "/bin/rm"
    guard = subprocess.Popen(
        ["/bin/sh", "-c", 'read -r _; exec "$1" -rf "$2"', "sh", remove, folder],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield folder
    finally:
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait()
