"""The printed query gives the same counts on every engine as counting by hand."""

import contextlib
import csv
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections import Counter, defaultdict

import duckdb
import pytest

from dp_topk.counting import DIALECTS, CountingError, count_users, query
from dp_topk.release.command import main

# Pairs that a careless join would take for each other, and texts that engines may sort or measure
# in their own ways.
USERS = ["a", "ab", "abc", "1", "11", "Ann", "ann", "ann ", "é", "e\u0301", "😀", "o'hara", "x,y"]
ITEMS = ["b", "bc", "c", "cd", "1", "01", "Fig", "fig", "ß", "😀😀", 'q"r', "a:b", "ä", " fig"]
ROWS = [(u, i) for n, u in enumerate(USERS) for m, i in enumerate(ITEMS) if (n * m + n + m) % 4]
ROWS += ROWS[::3]
COLUMNS = ('us"er. x', "it em")  # which have to be quoted
SETTINGS = [{}, {"max_items": 1}, {"max_items": 3}, {"max_items": 3, "salt": "June 2026"}]


def by_hand(max_items=None, salt=""):
    of_user = defaultdict(set)
    for user, item in ROWS:
        of_user[user].add(item)
    counts = Counter()
    for user, items in of_user.items():

        def place(item, user=user):
            return hashlib.md5(f"{salt}{len(user)}:{user}{item}".encode()).hexdigest()

        counts.update(sorted(items, key=place)[:max_items])
    return dict(counts)


def test_the_settings_differ():
    assert len({tuple(sorted(by_hand(**settings).items())) for settings in SETTINGS}) == 4


def test_duckdb():
    with duckdb.connect() as con:
        con.execute('CREATE TABLE "odd ""rows" ("us""er. x" VARCHAR, "it em" VARCHAR)')
        con.executemany('INSERT INTO "odd ""rows" VALUES (?, ?)', [*ROWS, (None, "b"), ("a", None)])
        for settings in SETTINGS:
            statement = query(*COLUMNS, 'odd "rows', **settings)
            assert dict(con.execute(statement).fetchall()) == by_hand(**settings)


def test_files_are_counted_by_the_same_query(tmp_path):
    with open(tmp_path / "rows.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user", "item"), *ROWS])
    for settings in SETTINGS:
        found = count_users(tmp_path / "rows.csv", "user", "item", **settings)
        assert dict(zip(*found, strict=True)) == by_hand(**settings)


def literal(text):
    return "'" + text.replace("'", "''") + "'"


VALUES = ", ".join(f"({literal(user)}, {literal(item)})" for user, item in ROWS)


def test_spark(tmp_path):
    pyspark = pytest.importorskip("pyspark.sql")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # nothing runs for long
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(tmp_path),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.ui.enabled": "false",
    }
    session = pyspark.SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    try:
        table = '(`us"er. x`, `it em`)'
        session.sql(f"CREATE TEMP VIEW rows AS SELECT * FROM VALUES {VALUES} AS rows {table}")
        queries = (query(*COLUMNS, "rows", dialect="spark", **settings) for settings in SETTINGS)
        parts = (f"SELECT {at} AS number, * FROM ({sql})" for at, sql in enumerate(queries))
        found = [{} for _ in SETTINGS]
        for row in session.sql(" UNION ALL ".join(parts)).collect():
            found[row.number][row.item] = row.users
        assert found == [by_hand(**settings) for settings in SETTINGS]
    finally:
        session.stop()


@pytest.fixture
def postgres():
    """A function that runs statements on a new PostgreSQL, without a server, and its folder."""
    if not (shutil.which("initdb") and shutil.which("postgres")):
        pytest.skip("there is no PostgreSQL")
    options = {"capture_output": True, "check": True}
    with tempfile.TemporaryDirectory() as folder:
        if os.getuid() == 0:  # as whom PostgreSQL does not run
            with contextlib.suppress(LookupError):
                shutil.chown(folder, "postgres")
                options["user"] = "postgres"
            if "user" not in options:
                pytest.skip("there is no user postgres, and PostgreSQL does not run as root")
        os.chmod(folder, 0o700)
        data = os.path.join(folder, "data")
        make = ["initdb", "-D", data, "--no-sync", "--encoding=UTF8", "--locale=C", "-A", "trust"]
        subprocess.run(make, cwd=folder, stdin=subprocess.DEVNULL, **options)

        def run(*statements):
            command = ["postgres", "--single", "-D", data, "-c", "exit_on_error=on", "postgres"]
            lines = "".join(" ".join(statement.split("\n")) + "\n" for statement in statements)
            subprocess.run(command, cwd=folder, input=lines.encode(), **options)

        yield run, folder


def test_postgres(postgres):
    run, folder = postgres
    table = '"odd ""rows"'
    statements = [f'CREATE TABLE {table} ("us""er. x" TEXT, "it em" TEXT)']
    statements.append(f"INSERT INTO {table} VALUES {VALUES}")
    for number, settings in enumerate(SETTINGS):
        asked = query(*COLUMNS, 'odd "rows', dialect="postgres", **settings)
        statements.append(f"COPY ({asked}) TO '{folder}/{number}.csv' (FORMAT csv)")
    run(*statements)
    for number, settings in enumerate(SETTINGS):
        with open(os.path.join(folder, f"{number}.csv"), newline="", encoding="utf-8") as file:
            found = {item: int(users) for item, users in csv.reader(file)}
        assert found == by_hand(**settings)


def test_the_command_prints_it(capfd):
    arguments = ["query", "--user", "u", "--item", "i", "--table", "shop.sales"]
    for dialect in DIALECTS:
        main([*arguments, "--max-items", "5", "--dialect", dialect])
        printed = capfd.readouterr().out
        assert printed == query("u", "i", "shop.sales", max_items=5, dialect=dialect) + "\n"
    assert "`shop`.`sales`" in query("u", "i", "shop.sales", dialect="bigquery")
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--dialect", "oracle"])
    assert stopped.value.code == 2
    assert "use one of duckdb, spark, bigquery, postgres" in capfd.readouterr().err


def test_what_cannot_be_written_as_sql_is_refused():
    for names in (("", "i", "t"), ("u", "a\nb", "t"), ("u", "a\\b", "t"), ("u", "i", "t..s")):
        with pytest.raises(CountingError, match="cannot be written as a name"):
            query(*names)
    with pytest.raises(CountingError, match="cannot be written as a name"):
        query("u`", "i", "t", dialect="spark")
    for salt in ("'", "a\\", "é", "\n"):
        with pytest.raises(CountingError, match="the salt may have"):
            query("u", "i", "t", max_items=1, salt=salt)
    for most in (0, -1, 1.5, "3"):
        with pytest.raises(CountingError, match="whole number above 0"):
            query("u", "i", "t", max_items=most)
