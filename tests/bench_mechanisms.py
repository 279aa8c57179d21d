"""Time the samplers against the plain way: `make bench`. A benchmark, not a test.

Medians of a few calls, everything in one run, the plain way and ours in turn: machines are
noisy, ratios less so. Memory is the largest that NumPy held during the call.
"""

import time
import tracemalloc

import numpy as np

import mechanisms
from tests import plain
from workflow.scripts.profiles import read_profile

REPEATS = 7


def milliseconds(*calls, repeats=REPEATS):
    """Median milliseconds of each call; one warm-up each, then the calls in turn."""
    times = []
    for repeat in range(repeats + 1):
        row = []
        for call in calls:
            start = time.perf_counter()
            call()
            row.append(1e3 * (time.perf_counter() - start))
        if repeat:
            times.append(row)
    return np.median(times, axis=0)


def megabytes(call):
    """The most memory that the call held at once, besides what there was before."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def select(name, counts, k, rng):
    return lambda: mechanisms.get(name).select(counts, k, rng=rng)


def on_foods(rng):
    """Against a plain Gumbel CDP-Peel, on the largest dataset."""
    counts = rng.permutation(np.repeat(*read_profile("data/embedded/foods.csv")))
    print(f"\nOne select call on Foods (d = {len(counts):,}), milliseconds")
    names = ("joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma")
    print(f"{'mechanism':<12}{'k':>5}{'ms':>9}{'plain Gumbel':>14}{'ratio':>8}{'next draw':>11}")
    for k in (5, 95, 195):
        gumbel = lambda k=k: plain.cdp_peel(counts, k, rng=rng)  # noqa: E731
        for name in names:
            ours, theirs = milliseconds(select(name, counts, k, rng), gumbel)
            draw = mechanisms.get(name).prepare(counts, k)
            (further,) = milliseconds(lambda draw=draw: draw(rng))
            ratio = ours / theirs
            print(f"{name:<12}{k:>5}{ours:>9.2f}{theirs:>14.2f}{ratio:>8.2f}{further:>11.3f}")

    print("\nAgainst the published way, milliseconds")
    print(f"{'mechanism':<12}{'k':>5}{'ms':>9}{'plain':>10}{'times faster':>14}")
    for k in (95, 195):
        rows = {
            "pnf_peel": lambda k=k: plain.pnf_peel(counts, k, rng=rng),
            "joint": select("joint_alg1", counts, k, rng),
        }
        for name, published in rows.items():
            ours, theirs = milliseconds(select(name, counts, k, rng), published, repeats=3)
            print(f"{name:<12}{k:>5}{ours:>9.2f}{theirs:>10.0f}{theirs / ours:>14.0f}")
    peak = megabytes(select("joint_alg1", counts, 195, rng))
    print(f"joint_alg1 holds {peak:,.0f} MB at k = 195")


def growth(rng):
    """Against the number of items, k = 100."""
    names = ("joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma")
    print("\nGrowth with d at k = 100: milliseconds, and memory in copies of the counts")
    print(f"{'d':>12}" + "".join(f"{name:>18}" for name in names))
    for d in (10**4, 10**5, 10**6, 10**7):
        counts = np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)
        cells = []
        for name in names:
            call = select(name, counts, 100, rng)
            (ms,) = milliseconds(call, repeats=3)
            cells.append(f"{ms:>10.1f} {1e6 * megabytes(call) / counts.nbytes:>6.1f}x")
        print(f"{d:>12,}" + "".join(cells))


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    on_foods(generator)
    growth(generator)
