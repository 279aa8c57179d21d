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
import csv
import functools
import glob
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_topk._tables import (
    BLOCK,
    CountingError,
    Doubt,
    File,
    Form,
    Text,
    position,
    spooled,
    unpacked,
)
from dp_topk.mechanisms._profile import LARGEST_COUNT

__all__ = ["CountingError", "Counts", "count_users", "query", "read_counts"]

LEAST_MB = 200
LONG = 4096  # bytes; values that are longer are compared by their SHA-256
COUNT = r"\s*0*[0-9]{1,16}(\.00?)?\s*"

# How the dialects write a name, a text type and MD5 as hexadecimal digits.
DIALECTS = {
    "duckdb": ('"', "VARCHAR", "md5({})"),
    "spark": ("`", "STRING", "md5({})"),
    "bigquery": ("`", "STRING", "TO_HEX(MD5({}))"),
    "postgres": ('"', "TEXT", "md5({})"),
}


Check = Callable[[str, dict[str, str]], None]


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

    columns = {"user": (user, "key"), "item": (item, "key")}
    listed = None if among is None else sorted(set(among))

    def check(place: str, row: dict[str, str]) -> None:
        for name, (column, _) in columns.items():
            if not row[name]:
                raise CountingError(f"{place}: no {name} in column {column!r}; every row needs one")

    with Engine(source, memory_mb, progress) as engine:
        found = engine.answer(columns, statement, lambda: check, among=listed)
    return _counts(found["item"].tolist(), found["users"], listed)


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

    def checks() -> Check:
        seen: set[str] = set()

        def check(place: str, row: dict[str, str]) -> None:
            if not row["item"]:
                raise CountingError(f"{place}: no item in column {item!r}; every row needs one")
            if row["item"] in seen:
                raise CountingError(
                    f"{place}: an item that an earlier row has; a count must stand in one row, "
                    "since adding up two could count a user twice"
                )
            seen.add(row["item"])
            checked_count(place, row["count"], count)

        return check

    def doubtful(found: dict[str, NDArray[Any]]) -> bool:
        return len(set(found["item"])) < len(found["item"])

    with Engine(source, memory_mb, progress) as engine:
        columns = {"item": (item, "key"), "count": (count, "count")}
        statement = "SELECT CAST(item AS VARCHAR) AS item, count AS users FROM rows"
        found = engine.answer(columns, statement, checks, doubtful=doubtful)
    return _counts(found["item"].tolist(), found["users"], None)


def _counts(items: list[str], counts: NDArray[Any], among: list[str] | None) -> Counts:
    if among is not None:
        known = dict(zip(items, counts.tolist(), strict=True))
        return Counts(among, np.array([known.get(item, 0) for item in among], np.int64))
    order = sorted(range(len(items)), key=items.__getitem__)
    return Counts([items[place] for place in order], counts.astype(np.int64)[order])


def checked_count(place: str, text: str, column: str) -> int:
    """A count in a row; a sentence where it is none."""
    digits, _, zeros = text.strip().partition(".")
    whole = digits.isascii() and digits.isdigit() and "." + zeros in (".", ".0", ".00")
    whole = whole and (bool(zeros) or "." not in text)
    if whole and int(digits[-20:]) <= LARGEST_COUNT and not digits[:-20].strip("0"):
        return int(digits[-20:])
    thousand = digits.isdigit() and len(zeros) > 2 and not zeros.strip("0")
    raise CountingError(
        f"{place}: something else than a count in column {column!r}; it must be a whole "
        f"number from 0 to {LARGEST_COUNT} (2^53) without separators"
        f"{' (1.000 may be a thousand)' if thousand else ''}",
        f"; it is {text[:40]!r}",
    )


def _quoted(name: str, mark: str = '"') -> str:
    if not name or not name.isprintable() or "\\" in name or (mark == "`" and mark in name):
        raise CountingError(f"{name!r} cannot be written as a name in SQL; rename it")
    return mark + name.replace(mark, mark + mark) + mark


# ---------------------------------------------------------------- DuckDB


class Engine:
    """DuckDB, and the rows of a source.

    Parameters
    ----------
    source, memory_mb, progress
        As in `count_users`; a `File` also serves as a source.
    form : Form, optional
        What is known of text files beforehand.
    any_bytes : bool
        Names need not be UTF-8, because no name is in the answer.
    """

    def __init__(
        self,
        source: Any,
        memory_mb: int | None = None,
        progress: bool = False,
        form: Form | None = None,
        any_bytes: bool = False,
    ) -> None:
        self._source, self._form, self._any_bytes = source, form or Form(), any_bytes
        self._memory = _memory_mb(memory_mb)
        self._progress = progress and sys.stderr.isatty()
        self._database, self._in_memory = ":memory:", None
        self._parquet: list[Any] = []
        self._sizes: dict[str, int] = {}  # of the files, in bytes
        self._opened: dict[str, Any] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Engine:
        self._duckdb = _duckdb()
        self._folder = self._stack.enter_context(_spill_folder())
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.close()

    def answer(
        self,
        columns: dict[str, tuple[str, str]],
        statement: str,
        checks: Callable[[], Check],
        *,
        skip: int = 0,
        where: dict[str, str] | None = None,
        among: list[str] | None = None,
        doubtful: Callable[[dict[str, NDArray[Any]]], bool] = lambda found: False,
    ) -> dict[str, NDArray[Any]]:
        """What a SELECT from `rows` gives, each column as an array.

        columns: for each column of `rows`, the column of the source and what it is: a "key",
        which must not be empty; a "count"; or any "text".
        checks: gives a function that raises CountingError for a row that is not right.
        skip, where: rows that are left out before anything else, by number and by value.
        among: the values of `item` to which rows are limited.
        doubtful: whether an answer shows that something is wrong with a row.
        """
        tables = self._tables([column for column, _ in columns.values()])
        for table in tables:
            table.places = [position(table, column) for column, _ in columns.values()]
        narrow = _Narrow(skip, where or {}, among)
        check, latin = None, False
        while True:
            try:
                found = self._asked(tables, columns, statement, narrow, check, latin)
                if not doubtful(found):
                    return self._whole(found, tables, columns)
            except (UnicodeDecodeError, UnicodeEncodeError) as error:
                if self._any_bytes and not latin:
                    check, latin = None, True
                    continue
                if check is not None:
                    raise CountingError(f"{error.reason}; save the file as UTF-8") from None
            except Doubt:
                pass
            if check is not None:
                raise CountingError(f"{tables[0].name} cannot be counted by DuckDB")
            check = checks()

    def _asked(
        self,
        tables: list[Any],
        columns: dict[str, tuple[str, str]],
        statement: str,
        narrow: _Narrow,
        check: Check | None,
        latin: bool,
    ) -> dict[str, NDArray[Any]]:
        """The answer; with a check, from rows that Python has read one by one."""
        self._opened.clear()
        with contextlib.ExitStack() as stack:
            feeds = {}
            for table in tables:
                if isinstance(table, Text):
                    table.latin = latin
                    feeds[table] = stack.enter_context(_Feed(table, columns, check))
            con = stack.enter_context(self._connected([feed.path for feed in feeds.values()]))
            typed = [table for table in tables if table not in feeds]
            if check:
                for table in typed:
                    for place, row in table.rows(con):
                        check(place, dict(zip(columns, row, strict=True)))
            raw = " UNION ALL ".join(feeds.get(table, table).relation(columns) for table in tables)
            types = ["VARCHAR"] * len(columns)
            if typed:
                types = [str(kind) for kind in con.sql(raw).types]
            sql, parameters = narrow.applied(con, raw, columns, types, latin)
            if self._progress:
                total = 0 if feeds else con.sql(f"SELECT COUNT(*) FROM ({raw})").fetchone()[0]
                stack.enter_context(self._shown(con, [*feeds.values()], total))
            problem = None
            for feed in feeds.values():
                feed.start(con)
            try:
                answer = con.execute(f"WITH rows AS ({sql})\n{statement}", parameters).fetchnumpy()
            except self._duckdb.Error as error:
                problem = error
            for feed in feeds.values():
                feed.close()
            for feed in feeds.values():
                if feed.error is not None and not isinstance(feed.error, BrokenPipeError):
                    raise feed.error
            if problem is not None:
                raise self._translated(problem)
            return answer

    def _translated(self, error: Exception) -> Exception:
        """The exception that says what happened, without what DuckDB says of rows."""
        said = str(error)
        if isinstance(error, self._duckdb.InterruptException):
            return KeyboardInterrupt()  # type: ignore[return-value]
        if "No space left" in said or "max_temp_directory_size" in said:
            return CountingError(
                f"there is no room left for temporary files in {os.path.dirname(self._folder)}; "
                "TMPDIR names another folder"
            )
        if isinstance(error, self._duckdb.OutOfMemoryException):
            return CountingError(
                f"{self._memory} MB of memory are too few to count these rows; allow more"
            )
        return Doubt()

    def _whole(self, found: dict[str, Any], tables: list[Any], columns: Any) -> dict[str, Any]:
        """The answer with long items in full, in place of what they were compared by."""
        items = found.get("item")
        if items is None or not any(item[0] == "\0" for item in items):
            return found
        names, at = {}, list(columns).index("item")
        with self._connected() as con:
            for table in tables:
                is_text = isinstance(table, Text)
                for _, row in table.rows() if is_text else table.rows(con):
                    item = row[table.places[at] if is_text else at]
                    if len(data := item.encode()) > LONG:
                        names["\0" + hashlib.sha256(data).hexdigest()] = item
        found["item"] = np.array([names.get(item, item) for item in items], object)
        return found

    # ------------------------------------------------------------ progress

    @contextlib.contextmanager
    def _shown(self, con: Any, feeds: list[_Feed], total: int) -> Iterator[None]:
        """Show on the terminal how many rows were read, and how long the others may take.

        total: how many rows there are, where nothing is fed.
        """
        done, began = threading.Event(), time.monotonic()

        def show() -> None:
            while not done.wait(0.5):
                share = self._share() if feeds else max(0.0, con.query_progress() / 100)
                rows = sum(feed.rows for feed in feeds) if feeds else round(share * total)
                text = f"{rows:,} rows"
                if share > 0:
                    left = (time.monotonic() - began) * (1 - share) / share
                    text += f", {share:.0%}, {left:.0f} s left"
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
        read = 0
        for path, file in [*self._opened.items()]:
            try:
                read += file.tell()
            except ValueError:  # closed
                read += self._sizes[path]
        return read / (sum(self._sizes.values()) or 1)

    # ------------------------------------------------------------ sources

    def _tables(self, needed: list[str]) -> list[Any]:
        source = self._source
        if isinstance(source, tuple) and len(source) == 2 and _is_database(source[0]):
            self._database, table = os.fspath(source[0]), str(source[1])
            relation = ".".join(map(_quoted, table.split(".")))
            return [self._typed(f"table {table!r} of {self._database}", relation)]
        if not isinstance(source, (str, os.PathLike, list, tuple, File)):
            self._in_memory = source
            return [self._typed("the table", "source")]
        texts: list[Text] = []
        names = []
        for file in self._files(source):
            with unpacked(file) as content:
                start = content.peek(12)
                if start.startswith(b"PAR1"):
                    # DuckDB has to jump about in it, so it must be a plain file.
                    plain = isinstance(getattr(content, "raw", None), io.FileIO)
                    file_or_copy = content if plain else spooled(content)
                    copy = os.dup(file_or_copy.fileno())
                    self._stack.callback(os.close, copy)
                    self._parquet.append(f"/dev/fd/{copy}")
                    names.append(file.name)
                    continue
                if start[8:12] == b"DUCK":
                    raise CountingError(f"{file.name} is a DuckDB database; name its table, too")
            text = Text(file, needed, self._form)
            alike = next((other for other in texts if other.alike(text)), None)
            if alike is None:
                texts.append(text)
            else:
                alike.files.append(file)
        if not names:
            return texts
        relation = f"read_parquet({_listed(self._parquet)}, union_by_name=true)"
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return [*texts, self._typed(names[0] + more, relation)]

    def _typed(self, name: str, relation: str) -> _Typed:
        try:
            with self._connected() as con:
                return _Typed(name, relation, con.sql(f"SELECT * FROM {relation} LIMIT 0").columns)
        except self._duckdb.CatalogException:
            raise CountingError(f"there is no {name}") from None
        except self._duckdb.Error:
            raise CountingError(f"{name} is cut short, damaged or of an unknown kind") from None

    def _files(self, source: Any) -> Iterator[File]:
        if isinstance(source, File):
            yield source
        elif isinstance(source, (list, tuple)):
            if not source:
                raise CountingError("there is no file to count; name at least one")
            for one in source:
                yield from self._files(one)
        elif source == "-":
            copy = self._stack.enter_context(spooled(sys.stdin.buffer))
            yield File("standard input", lambda: _from_the_start(copy))
        elif os.path.isdir(source):
            names = sorted(name for name in os.listdir(source) if name[0] not in "._")
            paths = [os.path.join(source, name) for name in names]
            yield from self._files_or_none([path for path in paths if os.path.isfile(path)], source)
        elif not os.path.exists(source) and glob.has_magic(os.fspath(source)):
            yield from self._files_or_none(sorted(glob.glob(os.fspath(source))), source)
        else:
            path = os.fspath(source)
            yield File(path, functools.partial(self._open, path))

    def _open(self, path: str) -> Any:
        opened = open(path, "rb", BLOCK)  # noqa: SIM115
        self._opened[path], self._sizes[path] = opened, os.fstat(opened.fileno()).st_size
        return opened

    def _files_or_none(self, paths: list[str], source: Any) -> Iterator[File]:
        if not paths:
            raise CountingError(f"there is no file in {source}, or none that is called so")
        for path in paths:
            yield from self._files(path)

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
                f"allowed_paths = {_listed([*self._parquet, *pipes])}",
                "enable_external_access = false",
                "autoload_known_extensions = false",
                "autoinstall_known_extensions = false",
                "allow_community_extensions = false",
                "python_enable_replacements = false",
                "lock_configuration = true",
            ):
                con.execute(f"SET {setting}")
            yield con


class _Typed:
    """A table whose columns have types: Parquet, in memory or in a database."""

    def __init__(self, name: str, source: str, columns: list[str]) -> None:
        self.name, self.columns, self._source = name, columns, source
        self.places: list[int] = []

    def relation(self, columns: Iterable[str]) -> str:
        """The columns that are read, by the names that `rows` gives them."""
        names = zip(self.places, columns, strict=True)
        read = ", ".join(f"{_quoted(self.columns[at])} AS {_quoted(name)}" for at, name in names)
        return f"SELECT {read} FROM {self._source}"

    def rows(self, con: Any) -> Iterator[tuple[str, list[str]]]:
        """Where each row is, and its fields as text."""
        read = ", ".join(f"CAST({_quoted(self.columns[at])} AS VARCHAR)" for at in self.places)
        rows, done = con.execute(f"SELECT {read} FROM {self._source}"), 0
        while batch := rows.fetchmany(10_000):
            for row in batch:
                done += 1
                yield f"{self.name}, row {done}", [value or "" for value in row]


class _Narrow(NamedTuple):
    """Which rows count, and how their values are understood."""

    skip: int
    where: dict[str, str]
    among: list[str] | None

    def applied(
        self, con: Any, raw: str, columns: dict[str, tuple[str, str]], types: list[str], latin: bool
    ) -> tuple[str, list[str]]:
        """The SELECT that makes `rows`, and its parameters."""
        if self.skip:
            raw = f"SELECT * FROM ({raw}) AS whole OFFSET {self.skip}"
        tests = [f"COALESCE(CAST({_quoted(name)} AS VARCHAR), '') = ?" for name in self.where]
        chosen = f" WHERE {' AND '.join(tests)}" if tests else ""
        read = ", ".join(
            f"{_expression(name, kind, type_)} AS {_quoted(name)}"
            for (name, (_, kind)), type_ in zip(columns.items(), types, strict=True)
            if name not in self.where
        )
        sql = f"SELECT {read} FROM ({raw}) AS raw{chosen}"
        if self.among is not None:
            key = _expression("item", "key", "VARCHAR")
            listed = f"SELECT {key} AS item FROM UNNEST(?) AS listed(item)"
            con.execute(f"CREATE TEMP TABLE among AS {listed}", [self.among])
            sql = f"SELECT * FROM ({sql}) AS read WHERE CAST(item AS VARCHAR) IN (FROM among)"
        values = self.where.values()
        return sql, [value.encode().decode("latin-1") if latin else value for value in values]


def _expression(name: str, kind: str, type_: str) -> str:
    """The SQL of a value, which fails where the value is not right."""
    column = _quoted(name)
    if kind == "text":
        return f"COALESCE(CAST({column} AS VARCHAR), '')"
    if kind == "count":
        if type_ != "VARCHAR":
            column = f"CAST({column} AS VARCHAR)"
        number = f"CAST(SPLIT_PART(TRIM({column}, E' \\t\\r\\n\\v\\f'), '.', 1) AS HUGEINT)"
        return (
            f"CASE WHEN REGEXP_FULL_MATCH({column}, '{COUNT}') AND {number} <= {LARGEST_COUNT} "
            f"THEN CAST({number} AS BIGINT) ELSE error('count') END"
        )
    if type_ == "VARCHAR":
        return (
            f"CASE WHEN STRLEN({column}) BETWEEN 1 AND {LONG} THEN {column} "
            f"WHEN {column} <> '' THEN CHR(0) || SHA256({column}) ELSE error('empty') END"
        )
    return f"CASE WHEN {column} IS NULL THEN error('empty') ELSE {column} END"


class _Feed:
    """A pipe to DuckDB that a thread fills with the rows of a text."""

    def __init__(self, text: Text, columns: Iterable[str], check: Check | None) -> None:
        self._text, self._columns, self._check = text, list(columns), check
        self.error: BaseException | None = None
        self.rows = 0
        self._reader, self._writer = os.pipe()
        self.path = f"/dev/fd/{self._reader}"
        self._thread: threading.Thread | None = None

    def relation(self, columns: Iterable[str]) -> str:
        """The columns that are read, by the names that `rows` gives them."""
        width = len(self._columns) if self._check else len(self._text.columns)
        places = range(width) if self._check else self._text.places
        names = zip(places, columns, strict=True)
        read = ", ".join(f"c{place} AS {_quoted(name)}" for place, name in names)
        types = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(width))
        delimiter = _literal("," if self._check else self._text.delimiter)
        return (
            f"SELECT {read} FROM read_csv('{self.path}', columns={{{types}}}, auto_detect=false, "
            f"header=false, delim={delimiter}, quote='\"', escape='\"', new_line='\\n', "
            "strict_mode=true, buffer_size=8388608, max_line_size=2097152)"
        )

    def __enter__(self) -> _Feed:
        return self

    def __exit__(self, *raised: Any) -> None:
        self.close()

    def start(self, con: Any) -> None:
        """Fill the pipe, and stop DuckDB where that cannot be done."""
        self._thread = threading.Thread(target=self._fill, args=[con], daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let the thread end, also where DuckDB did not read all."""
        if self._reader < 0:
            return
        os.close(self._reader)
        self._reader = -1
        if self._thread is None:
            os.close(self._writer)
        else:
            self._thread.join()

    def _fill(self, con: Any) -> None:
        try:
            with open(self._writer, "wb", 0) as pipe:
                for block in self._checked() if self._check else self._text.blocks():
                    self.rows += block.count(b"\n")
                    view = memoryview(block)
                    while view:
                        view = view[pipe.write(view) :]
        except BaseException as error:
            self.error = error
            if not isinstance(error, BrokenPipeError):
                con.interrupt()

    def _checked(self) -> Iterator[bytes]:
        """The columns that are read, written so that there is one way to understand them."""
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for place, row in self._text.rows():
            row = [row[at] for at in self._text.places]
            try:
                "".join(row).encode()
            except UnicodeEncodeError as error:
                error.reason = f"{place}: bytes that are not UTF-8"
                raise
            if self._check is not None:
                self._check(place, dict(zip(self._columns, row, strict=True)))
            writer.writerow(row)
            if text.tell() > BLOCK:
                yield text.getvalue().encode()
                text.seek(0)
                text.truncate()
        yield text.getvalue().encode()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_literal, texts))}]"


def _is_database(path: Any) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except (OSError, TypeError):
        return False


@contextlib.contextmanager
def _from_the_start(copy: Any) -> Iterator[Any]:
    copy.seek(0)
    yield copy


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
