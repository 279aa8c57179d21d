"""Benchmark: count a file as large as MovieLens 25M (25,000,095 rows, about 650 MB).

    python -m benchmarks.movielens

Rows are generated so that the embedded profile of the movies must come out. Prints the
seconds and the peak memory of counting rows, and of counting users once for each movie; exits
with an error above the limit of either.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from workflow.scripts.data.derive import file_counts
from workflow.scripts.data.profiles import read_profile

PROFILE = Path(__file__).parents[1] / "data/embedded/movies.csv"
LIMITS_MB = {"rows_per": 100, "distinct": 600}  # 16 bytes for each pair of user and movie


def generate(path, chunk=500_000):
    """A ratings file with shuffled rows; movie ids are as long as the original's."""
    rng = np.random.default_rng(25)
    counts, items = read_profile(PROFILE)
    ids = rng.choice(209_171, size=items.sum(), replace=False) + 1
    movies = rng.permutation(np.repeat(ids, np.repeat(counts, items)))
    users = np.sort(rng.integers(1, 162_542, len(movies)))
    with open(path, "w") as file:
        file.write("userId,movieId,rating,timestamp\n")
        for start in range(0, len(movies), chunk):
            part = slice(start, start + chunk)
            stars = rng.integers(1, 11, len(movies[part])) / 2
            times = rng.integers(789_652_009, 1_574_327_703, len(movies[part]))
            columns = (users[part], movies[part], stars, times)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            file.writelines(f"{user},{movie},{s},{t}\n" for user, movie, s, t in rows)


def count(path, how):
    """The profile, the seconds and the peak memory in MB of counting, and nothing else."""
    start = time.perf_counter()
    profile = file_counts(path, how)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return profile, seconds, peak / (1e6 if sys.platform == "darwin" else 1e3)


def in_a_process_of_its_own(function, *arguments):
    """The answer of a function; what others needed is not in its memory."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        in_a_process_of_its_own(generate, path)
        hows = {"rows_per": {}, "distinct": {"distinct": "userId"}}
        for kind, more in hows.items():
            how = {"rows_per": "movieId"} | more
            profile, seconds, peak = in_a_process_of_its_own(count, path, how)
            megabytes = path.stat().st_size / 1e6
            print(f"{how}: {megabytes:.0f} MB counted in {seconds:.1f} s with {peak:.0f} MB")
            if peak > LIMITS_MB[kind]:
                faults.append(f"more than {LIMITS_MB[kind]} MB")
            expected = read_profile(PROFILE)
            if kind == "rows_per" and not all(map(np.array_equal, profile, expected)):
                faults.append("the profile is not the one that was generated")
    if faults:
        sys.exit(f"error: {', '.join(faults)}")


if __name__ == "__main__":
    main()
