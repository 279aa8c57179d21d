"""Benchmark of counting: processor seconds, time and peak memory, beside the bare query on DuckDB.

    python -m benchmarks.counting             # 20 million rows, and 25 million like MovieLens
    python -m benchmarks.counting 200000      # another number of rows; nothing is refused

Both run on one thread with the same limit of memory, each time in a process of its own, and of two
runs of each the one with fewer processor seconds counts. The bare query is `dp_topk.counting.query`
on DuckDB's reader of the same file, which checks nothing. It is an error to exceed a limit below.
"""

import functools
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

from benchmarks import apart, peak_mb, spent
from dp_topk.counting import count_users, query
from tools import ROOT, show
from workflow.scripts.data.derive import file_counts
from workflow.scripts.data.profiles import read_profile

PROFILE = ROOT / "data/embedded/movies.csv"
MEMORY_MB = 500
ROWS = 20_000_000
MOST_TIMES_BARE = 1.3  # processor seconds
MOST_SECONDS = 10  # of the processor, for ROWS rows of CSV
MOST_ABOVE_LIMIT_MB = 200
NAMES = {"csv": "CSV", "csv.gz": "CSV in gzip", "parquet": "Parquet", "json": "JSON lines"}


def generate(folder, rows):
    """Rows of 2 million users and 200,000 items, some of them more than once, in all formats."""
    rng = np.random.default_rng(20)
    user = rng.integers(0, 2_000_000, rows)
    item = np.minimum(rng.zipf(1.3, rows), 200_000)
    names = "SELECT 'user' || user AS user, 'item' || item AS item FROM numbers"
    write({"user": user, "item": item}, names, [folder / f"rows.{end}" for end in NAMES])


def generate_movies(folder):
    """Ratings from which the embedded profile of the movies must come out, rows shuffled."""
    rng = np.random.default_rng(25)
    counts, items = read_profile(PROFILE)
    ids = rng.choice(209_171, size=items.sum(), replace=False) + 1
    movies = rng.permutation(np.repeat(ids, np.repeat(counts, items)))
    columns = {
        "userId": np.sort(rng.integers(1, 162_542, len(movies))),
        "movieId": movies,
        "rating": rng.integers(1, 11, len(movies)) / 2,
        "timestamp": rng.integers(789_652_009, 1_574_327_703, len(movies)),
    }
    write(columns, "SELECT * FROM numbers", [folder / "movies.csv"])


def generate_long(folder):
    """One user whose identifier has 60 kB, in 30,000 rows."""
    with open(folder / "long.csv", "w") as file:
        file.write("user,item\n")
        file.writelines(f"{'u' * 60_000},item{row % 100}\n" for row in range(30_000))


def write(columns, statement, paths):
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        con.register("numbers", columns)
        for path in paths:
            con.execute(f"COPY ({statement}) TO '{path}'")


def ours(path):
    found = count_users(path, "user", "item", memory_mb=MEMORY_MB)
    return dict(zip(found.items, found.counts.tolist(), strict=True))


def bare(path):
    reader = {
        ".parquet": f"read_parquet('{path}')",
        ".json": f"read_json('{path}', columns={{user: 'VARCHAR', item: 'VARCHAR'}})",
    }.get(path.suffix, f"read_csv('{path}', all_varchar=true, max_line_size=2097152)")
    settings = {"memory_limit": f"{MEMORY_MB}MB", "threads": 1, "temp_directory": str(path.parent)}
    with duckdb.connect(config=settings) as con:
        con.execute("SET enable_progress_bar = false")
        con.execute(f"CREATE VIEW rows AS FROM {reader}")
        return dict(con.execute(query("user", "item", "rows")).fetchall())


def movies(path, **how):
    profile = file_counts(path, {"rows_per": "movieId"} | how, MEMORY_MB)
    return [part.tolist() for part in profile]


def measured(action, path):
    """Processor seconds, seconds and peak memory in MB of an action, and what it gives."""
    start, before = time.perf_counter(), spent()
    found = action(path)
    return (spent() - before, time.perf_counter() - start, peak_mb()), found


def better_of_two(action, path):
    """What `measured` gives; others at work on the machine cost processor seconds, too."""
    runs = [apart(measured, action, path) for _ in range(2)]
    return min(runs, key=lambda run: run[0])


def row(faults, what, path, action, other=None, expected=None):
    """A line of the table; notes what exceeds a limit, and counts that are not expected."""
    (processor, seconds, peak), found = better_of_two(action, path)
    size = f"{path.stat().st_size / 1e6:,.0f} MB"
    cells = [what, size, f"{processor:.1f} s", f"{seconds:.1f} s", f"{peak:.0f} MB"]
    if peak > MEMORY_MB + MOST_ABOVE_LIMIT_MB:
        faults.append(f"{what}: {peak:.0f} MB with a limit of {MEMORY_MB} MB")
    if other:
        (alone, seconds, peak), expected = better_of_two(other, path)
        ratio = processor / alone
        cells += [f"{alone:.1f} s", f"{seconds:.1f} s", f"{peak:.0f} MB", f"{ratio:.2f}"]
        if ratio > MOST_TIMES_BARE and path.suffix != ".json":  # no bar for this one
            faults.append(f"{what}: {ratio:.2f} times the bare query")
        if path.suffix == ".csv" and processor > MOST_SECONDS:
            faults.append(f"{what}: more than {MOST_SECONDS} s of the processor")
    if found != (expected or found):
        faults.append(f"{what}: not the counts that are expected")
    return cells + ["–"] * (9 - len(cells))


def rows_of(folder, rows, faults):
    apart(generate, folder, rows)
    for end, kind in NAMES.items():
        yield row(faults, f"{rows:,}, {kind}", folder / f"rows.{end}", ours, bare)
        (folder / f"rows.{end}").unlink()
    apart(generate_long, folder)
    yield row(faults, "30,000 of a user of 60 kB", folder / "long.csv", ours)
    (folder / "long.csv").unlink()
    apart(generate_movies, folder)
    profile, path = [part.tolist() for part in read_profile(PROFILE)], folder / "movies.csv"
    yield row(faults, "25 million as of MovieLens: rows", path, movies, expected=profile)
    yield row(faults, "the same: users", path, functools.partial(movies, distinct="userId"))


def main(rows=ROWS):
    faults, costs = [], ("processor", "time", "peak")
    heads = ["rows", "size", *costs, f"bare query: {costs[0]}", *costs[1:], "ratio"]
    with tempfile.TemporaryDirectory() as folder:
        show(heads, rows_of(Path(folder), rows, faults))
    if faults and rows == ROWS:
        sys.exit("error: " + "; ".join(faults))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
