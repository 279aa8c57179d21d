"""Counting users: the same answer from every kind of source, or a sentence that names the row."""

import contextlib
import csv
import gzip
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas
import pytest

from dp_topk._tables import Doubt, File, Form, Text
from dp_topk.counting import CountingError, Rows, count_users, read_counts

ROOT = Path(__file__).parents[2]
ROWS = "user,item\nann,fig\nann,fig\nbob,fig\nann,plum\n"
COUNTED = {"fig": 2, "plum": 1}


@pytest.fixture
def counted(tmp_path):
    """The counts of a file with this content, as a dict."""

    def counted(content, name="rows.csv", user="user", item="item", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = count_users(path, user, item, **options)
        assert found.items == sorted(found.items)
        assert found.counts.dtype == np.int64
        return dict(zip(found.items, found.counts.tolist(), strict=True))

    return counted


@pytest.fixture
def refused(counted):
    """The sentence about a file with this content; no value of a row is in it."""

    def refused(content, **options):
        with pytest.raises(CountingError) as error:
            counted(content, **options)
        sentence = str(error.value)
        assert "\n" not in sentence
        assert "ann" not in sentence
        assert "fig" not in sentence
        assert len(sentence) < 300
        return sentence

    return refused


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        ROWS.rstrip("\n"),
        ROWS + "\n\n",
        ROWS.replace("\n", "\r\n"),
        ROWS.replace("\n", "\r"),
        ROWS.replace("bob,fig\n", "bob,fig\r\n"),
        ROWS.replace(",", "\t"),
        ROWS.replace(",", ";"),
        "\ufeff" + ROWS,
        ROWS.replace("fig", '"fig"').replace("user", '"user"'),
        "a,item,b,user\n1,fig,,ann\n1,fig,,ann\n2,fig,,bob\n3,plum,,ann\n",
        '{"user": "ann", "item": "fig"}\n{"item": "fig", "user": "ann", "n": 2}\n'
        '{"user": "bob", "item": "fig"}\n\n{"user": "ann", "item": "plum"}\n',
        '[{"user": "ann", "item": "fig"}, {"item": "fig", "user": "ann"},\n'
        ' {"user": 7, "item": "fig"}, {\n"user": "ann", "item": "plum"}]',
    ],
)  # fmt: skip
def test_ways_to_write_the_same_rows(counted, text):
    assert counted(text) == COUNTED


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_breaks_inside_quotes_belong_to_the_value(counted, end):
    values = ["fi\rg", "fi\ng", "fi\r\ng", "fig"]
    rows = ["user,item", *(f'u1,"{value}"' for value in values), "u2,fig", ""]
    assert counted(end.join(rows)) == dict.fromkeys(values, 1) | {"fig": 2}


def test_what_reaches_duckdb_is_read_as_python_reads_it():
    """Random texts: whatever is not held back as doubtful gives the same rows."""
    rng = random.Random(11)
    usual = [
        "a",
        "",
        "b c",
        " d",
        "é",
        '"a"',
        '""',
        '"a""b"',
        '"""a"""',
        '" "',
        '"a,\n\nb"',
        '""""',
    ]
    odd = [
        '"',
        ' "a"',
        '"a" ',
        'a"b',
        "\r",
        "\n",
        "\0",
        '"" ',
        ' """"',
        '"\r"',
        "\ufeff",
        '5"',
        '""a',
        ",",
    ]
    agreed = 0
    with duckdb.connect() as con, tempfile.NamedTemporaryFile() as file:
        for _ in range(500):
            width, end = rng.randint(1, 3), rng.choice(["\n", "\r\n"])
            names = [f"n{at}" for at in range(width)]
            cells = usual * rng.choice([1, 9, 99]) + odd
            rows = [",".join(rng.choices(cells, k=width)) for _ in range(rng.randint(1, 8))]
            text = end.join(rows) + rng.choice(["", end])
            table = Text(
                File("t", lambda t=text: io.BytesIO(t.encode())), names, text, Form(",", names)
            )
            with contextlib.suppress(Doubt, duckdb.Error):
                file.truncate(0)
                file.seek(0)
                file.writelines(table.blocks())
                file.flush()
                reader, values = table.reader(file.name, placed=False)
                found = con.execute(f"SELECT {', '.join(values)} FROM {reader}").fetchall()
                plain = io.StringIO(text.removeprefix("\ufeff"), newline="")
                expected = [*csv.reader(plain, strict=True)]
                assert [[value or "" for value in row] for row in found] == expected
                agreed += 1
    assert agreed > 100


# Sources that are no text.


def database(path, *more):
    """A DuckDB database with the rows, which also writes them as Parquet."""
    with duckdb.connect(path) as con:
        con.execute('CREATE SCHEMA "my shop"')
        con.execute('CREATE TABLE "my shop".sales (item VARCHAR, "user" VARCHAR, day DATE)')
        con.execute(
            """INSERT INTO "my shop".sales VALUES ('fig', 'ann', '2026-01-01'),
            ('fig', 'ann', '2026-01-02'), ('fig', 'bob', NULL), ('plum', 'ann', NULL)"""
        )
        for copy in more:
            con.execute(f"""COPY "my shop".sales TO '{copy}' (FORMAT parquet)""")


def as_dict(found):
    return dict(zip(found.items, found.counts.tolist(), strict=True))


def test_databases_and_parquet(tmp_path):
    database(tmp_path / "shop.db", tmp_path / "rows.parquet")
    before = (tmp_path / "shop.db").read_bytes()
    assert as_dict(count_users((tmp_path / "shop.db", "my shop.sales"), "user", "item")) == COUNTED
    assert as_dict(count_users(tmp_path / "rows.parquet", "user", "item")) == COUNTED
    assert (tmp_path / "shop.db").read_bytes() == before
    packed = gzip.compress((tmp_path / "rows.parquet").read_bytes())
    (tmp_path / "rows.parquet.gz").write_bytes(packed)
    assert as_dict(count_users(tmp_path / "rows.parquet.gz", "user", "item")) == COUNTED
    for source, sentence in {
        (tmp_path / "shop.db", "nothing"): "there is no table 'nothing' of ",
        tmp_path / "shop.db": "is a DuckDB database; name its table",
    }.items():
        with pytest.raises(CountingError, match=sentence):
            count_users(source, "user", "item")
    with pytest.raises(CountingError, match="row 3: no user in column 'day'; every row needs one"):
        count_users(tmp_path / "rows.parquet", "day", "item")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_in_memory(library):
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    table = getattr(pytest.importorskip(library), make)
    rows = {"item": ["fig", "fig", "fig", "plum"], "user": ["ann", "ann", "bob", "ann"]}
    assert as_dict(count_users(table(rows), "user", "item")) == COUNTED
    assert as_dict(count_users(table(rows | {"user": [7, 7, 8, 7]}), "user", "item")) == COUNTED
    counts = read_counts(table({"item": ["plum", "fig"], "users": [1, 2]}), "item", "users")
    assert as_dict(counts) == COUNTED
    with pytest.raises(CountingError, match="no column 'items'; did you mean 'item'"):
        count_users(table(rows), "user", "items")
    with pytest.raises(CountingError, match="row 2: no user in column 'user'"):
        count_users(table(rows | {"user": ["ann", None, "bob", "ann"]}), "user", "item")


def test_several_files_are_one_table(tmp_path, monkeypatch):
    folder = tmp_path / "rows[1]"
    folder.mkdir()
    database(tmp_path / "shop.db", folder / "c.parquet")
    (folder / "a.csv").write_text("user,item\nann,fig\n")
    (folder / "b.csv.gz").write_bytes(gzip.compress(b"item;user\r\nkiwi;ann\r\nfig;cyd\r\n"))
    (folder / ".hidden").write_text("x")
    (folder / "_SUCCESS").write_text("")
    expected = {"fig": 3, "kiwi": 1, "plum": 1}
    files = [folder / name for name in ("a.csv", "b.csv.gz", "c.parquet")]
    for source in (folder, files, tuple(files), [folder]):
        assert as_dict(count_users(source, "user", "item")) == expected
    (folder / "d.csv").write_bytes("\ufeffuser,item\r\ndan,fig\r\n".encode())
    assert as_dict(count_users([files[0], folder / "d.csv"], "user", "item")) == {"fig": 2}
    (folder / "d.csv").unlink()
    monkeypatch.chdir(folder)
    assert as_dict(count_users("[ab]*", "user", "item")) == {"fig": 2, "kiwi": 1}
    for source in (str(tmp_path / "*.tsv"), tmp_path / "empty", []):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(CountingError, match="there is no file"):
            count_users(source, "user", "item")
    (folder / "a.csv").write_text("user,item\nann,fig,\n")
    with pytest.raises(CountingError, match=r"a\.csv, line 2: 3 fields instead of 2"):
        count_users(folder, "user", "item")


# A public list, and at most some items of a user.


def test_a_public_list_comes_before_the_limit(counted):
    rows = "user,item\n" + "".join(f"{user},{item}\n" for user in "ab" for item in "uvwxyz")
    assert counted(rows, among=["z", "q", "z"]) == {"q": 0, "z": 2}
    for most in (1, 2, 3):
        found = counted(rows, among=["x", "y", "z", "é"], max_items=most)
        assert sum(found.values()) == 2 * most
        assert found["é"] == 0
    assert counted(rows, among=[]) == {}


# What a row must be.


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("user,item\nann,fig\nann\n", "line 3: 1 fields instead of 2"),
        ("user,item\nann,fig\n,fig\n", "line 3: no user in column 'user'"),
        ('user,item\nann,fig\nann,""\n', "line 3: no item in column 'item'"),
        ('user,item\nann,"fig\nann,fig\n', "do the quotes match"),
        ('user,item\nann,"fig"x\n', "line 2: not a CSV"),
        ("user,item\nann,fi\0g\n", "line 2: it contains a NUL"),
        ("user,item\nann,fig\n\nann,fig\n", "line 3: empty line between rows"),
        ('user,item\nann,fig\n\nann,"fig"x\n', "line 4: not a CSV"),
        ("user,Item\nann,fig\n", "no column 'item'; did you mean 'Item'?"),
        ("user,item,item\nann,fig,fig\n", "2 columns called 'item'"),
        ("ann,fig\nbob,fig\n", "its first line must name every column once"),
        ("user,item\nann,fig\n".encode("utf-16"), "is UTF-16: save it as UTF-8"),
        (b"user,item\nann,fig\nann,fig\xe9\n", "line 3: bytes that are not UTF-8; save the file"),
        ("", "is empty"),
        ('{"user": "ann", "item": "fig"}\n{"user": "ann", "item": ["fig"]}\n', "object 2: no item"),
        ('[{"user": "ann", "item": "fig"}, {"item": "fig"}]', "object 2: no user in column 'user'"),
        ('{"user": "ann", "item": "f\\u0000ig"}\n', "object 1: no item in column 'item'"),
        ('{"user": "ann", "item": "fig", "item": "plum"}\n', "near line 1: not the JSON expected"),
        ('[{"user": "ann", "item": "fig"}, 5]', "near record 2: not the JSON expected"),
        ('{"user": "ann", "item": "fig"}\n{"user": "ann"\n', "not the JSON expected"),
        ('{"user": "ann", "name": "fig"}\n', "has no column 'item'"),
    ],
)  # fmt: skip
def test_rows_that_are_not_right(refused, text, sentence):
    assert sentence in refused(text)


# Limits.


def test_duckdb_reaches_nothing_but_what_it_was_given(tmp_path, monkeypatch):
    database(tmp_path / "other.db", tmp_path / "rows.parquet", tmp_path / "other.parquet")
    (tmp_path / "other.csv").write_text(ROWS)
    connected, refused = Rows._connected, []

    @contextlib.contextmanager
    def tried(self, *pipes):
        with connected(self, *pipes) as con:
            for statement in (
                f"FROM read_csv('{tmp_path}/other.csv')",
                f"FROM '{tmp_path}/other.parquet'",
                f"FROM read_parquet('{tmp_path}/*.parquet')",
                f"FROM read_text('{tmp_path}/other.csv')",
                f"FROM glob('{tmp_path}/*')",
                "FROM read_csv('http://127.0.0.1:9/rows.csv')",
                f"COPY (SELECT 1) TO '{tmp_path}/made.csv'",
                f"ATTACH '{tmp_path}/other.db' AS other",
                "INSTALL httpfs",
                "LOAD httpfs",
                "SET enable_external_access = true",
                "SET autoload_known_extensions = true",
                "SET memory_limit = '9GB'",
                "FROM ROWS",  # a variable of this module
            ):
                with pytest.raises(duckdb.Error):
                    con.execute(statement).fetchall()
                refused.append(statement)
            yield con

    monkeypatch.setattr(Rows, "_connected", tried)
    assert as_dict(count_users(tmp_path / "rows.parquet", "user", "item")) == COUNTED
    assert len(refused) == 2 * 14  # before the columns are known, and after
    assert not (tmp_path / "made.csv").exists()


@pytest.mark.parametrize("name", ["a'b.csv", "x'); DROP TABLE rows; --.csv", '"q".csv', "[a]*.csv"])
def test_names_of_files_and_columns_are_never_sql(counted, name):
    assert counted(ROWS, name=name) == COUNTED
    column = name.replace('"', "'")
    assert counted(ROWS.replace("user", column), user=column) == COUNTED


def test_temporary_files_are_private_and_disappear(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    pairs = {"user": np.arange(3_000_000) // 2, "item": np.arange(3_000_000) % 1000}
    modes, spilled = set(), []
    execute = Rows._asked

    def watched(self, *arguments, **options):
        modes.add(os.stat(self._folder).st_mode & 0o777)
        self._memory = 30  # less than is allowed, so that a small table does not fit
        done = threading.Event()

        def watch():
            while not done.wait(0.001):
                spilled.extend(os.listdir(self._folder))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            return execute(self, *arguments, **options)
        finally:
            done.set()
            thread.join()

    monkeypatch.setattr(Rows, "_asked", watched)
    found = count_users(pandas.DataFrame(pairs), "user", "item")
    assert found.counts.tolist() == [3000] * 1000
    assert modes == {0o700}
    assert spilled
    assert os.listdir(tmp_path) == []


def test_temporary_files_disappear_when_the_process_is_killed(tmp_path):
    code = "from dp_topk.counting import count_users; count_users('rows', 'user', 'item')"
    os.mkfifo(tmp_path / "rows")
    (tmp_path / "tmp").mkdir()
    environment = {"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(ROOT)}
    with (
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment) as process,
        open(tmp_path / "rows", "wb"),  # it has begun to read, and waits for rows
    ):
        (folder,) = (tmp_path / "tmp").glob("dp-topk-*")  # tempfile tries others beside it
        process.kill()
    for _ in range(6000):
        if not folder.exists():
            return
        time.sleep(0.01)
    pytest.fail("the folder is still there")


def test_a_folder_for_temporary_files_must_exist(tmp_path, monkeypatch, refused):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    assert "which is not a folder; create it, or set another" in refused(ROWS)


def test_what_can_be_read_only_once(tmp_path):
    os.mkfifo(tmp_path / "rows")
    writer = threading.Thread(target=(tmp_path / "rows").write_text, args=[ROWS])
    writer.start()
    assert as_dict(count_users(tmp_path / "rows", "user", "item")) == COUNTED
    writer.join()


def test_too_little_memory_is_refused(refused):
    assert "allow at least 200 MB" in refused(ROWS, memory_mb=100)


def test_an_interrupt_ends_the_count(counted, monkeypatch):
    def interrupted(self):
        yield b"ann,fig\n"
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)

    monkeypatch.setattr(Text, "blocks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        counted(ROWS)


# Progress.


class Terminal(io.StringIO):
    def __init__(self):
        super().__init__()
        self.shown = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        if "rows" in text:
            self.shown.set()
        return super().write(text)


def test_progress_is_shown_on_a_terminal_only(counted, monkeypatch, capfd):
    assert counted(ROWS, progress=True) == COUNTED
    assert capfd.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    blocks = Text.blocks

    def slow(self):
        yield from blocks(self)
        terminal.shown.wait(60)

    monkeypatch.setattr(Text, "blocks", slow)
    assert counted(ROWS, progress=True) == COUNTED
    assert "\r4 rows, 100%, 0 s left" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_whether_a_file_is_refused_does_not_depend_on_its_users(tmp_path):
    """Control characters in many items, and long or odd ones in the first object, are valid."""
    rows, objects = tmp_path / "rows.csv", tmp_path / "rows.jsonl"
    rows.write_text("user,item\n" + "".join(f"{user},a\x01b\n" for user in range(90)))
    assert count_users(rows, "user", "item").counts.tolist() == [90]
    for item in "x" * 100_000, r"\ud83d\ude00" * 131_072, "x\x7f":
        objects.write_text('{"user": "1", "item": "' + item + '"}\n')
        assert count_users(objects, "user", "item").counts.tolist() == [1]
        packed = tmp_path / "rows.jsonl.gz"
        packed.write_bytes(gzip.compress(objects.read_bytes()))
        assert count_users(packed, "user", "item").counts.tolist() == [1]
