"""Benchmark of exact releases: seconds to prepare and to draw, and a large file of rows.

    python -m benchmarks.release            # Foods, d = 166,049
    python -m benchmarks.release 20000000   # besides, count so many generated rows

Times are of the processor, which others on the machine hardly change. Exits with an error if
counting takes more than 1 GB.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dp_topk import mechanisms, release
from dp_topk.release._counting import Domain, count_users
from dp_topk.release._outputs import Sequences, Sets
from tests.mechanisms.test_real_profiles import descending_counts

MEMORY_LIMIT_MB = 1000


def milliseconds(action, times):
    seconds = []
    for _ in range(times):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return 1000 * sorted(seconds)[times // 2]


def bench_draws():
    counts = descending_counts("foods")
    print("| median, ε = 1 | k | one release | next draw | `joint.select` |")
    print("|---|---:|---:|---:|---:|")
    for name, outputs in [("sequence", Sequences), ("set", Sets)]:
        for k in (5, 95, 195):
            once, again, joint = times(outputs, counts, k)
            print(f"| {name} | {k} | {once:.1f} ms | {again:.2f} ms | {joint:.1f} ms |")


def times(outputs, counts, k):
    draw = release.prepare(outputs, counts, k, 1)
    joint, rng = mechanisms.get("joint"), np.random.default_rng()
    return (
        milliseconds(lambda: release.prepare(outputs, counts, k, 1)(), 21),
        milliseconds(draw, 101),
        milliseconds(lambda: joint.select(counts, k, 1.0, rng=rng), 21),
    )


def generate(path, rows, chunk=500_000):
    """Rows of 2 million users and 200,000 items, of which some come more than once."""
    rng = np.random.default_rng(20)
    with open(path, "w") as file:
        file.write("user,item\n")
        for start in range(0, rows, chunk):
            size = min(chunk, rows - start)
            users = rng.integers(0, 2_000_000, size).tolist()
            items = np.minimum(rng.zipf(1.3, size), 200_000).tolist()
            file.writelines(f"user{u},item{i}\n" for u, i in zip(users, items, strict=True))


def bench_counting(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        # In a process of its own, so that its memory is not measured.
        generator = multiprocessing.get_context("spawn").Process(target=generate, args=(path, rows))
        generator.start()
        generator.join()
        megabytes = path.stat().st_size / 1e6
        start = time.process_time()
        counts = count_users(path, "user", "item", Domain())
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak /= 1e6 if sys.platform == "darwin" else 1e3
    print(
        f"{rows:,} rows ({megabytes:.0f} MB) of {len(counts):,} items, {sum(counts):,} pairs: "
        f"{seconds:.0f} s, {peak:.0f} MB of memory"
    )
    if peak > MEMORY_LIMIT_MB:
        sys.exit(f"error: more than {MEMORY_LIMIT_MB} MB")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        bench_counting(int(sys.argv[1]))
    bench_draws()
