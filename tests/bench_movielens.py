"""Benchmark: count a file as large as MovieLens 25M (25,000,095 rows, about 650 MB).

    PYTHONPATH=. python tests/bench_movielens.py

Rows are generated so that the embedded profile of the movies must come out. Prints the
seconds and the peak memory of counting; exits with an error above 500 MB.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from workflow.scripts.derive import file_counts
from workflow.scripts.profiles import read_profile

PROFILE = Path(__file__).parents[1] / "data/embedded/movies.csv"
MEMORY_LIMIT_MB = 500


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        # In a process of its own, so that its memory is not measured.
        generator = multiprocessing.get_context("spawn").Process(target=generate, args=(path,))
        generator.start()
        generator.join()
        megabytes = path.stat().st_size / 1e6
        start = time.perf_counter()
        profile = file_counts(path, {"rows_per": "movieId"})
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak /= 1e6 if sys.platform == "darwin" else 1e3
    right = all(map(np.array_equal, profile, read_profile(PROFILE)))
    print(f"{megabytes:.0f} MB counted in {seconds:.1f} s with {peak:.0f} MB of memory")
    if not right:
        sys.exit("error: the profile is not the one that was generated")
    if peak > MEMORY_LIMIT_MB:
        sys.exit(f"error: more than {MEMORY_LIMIT_MB} MB")


if __name__ == "__main__":
    main()
