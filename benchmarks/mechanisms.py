"""Time the samplers against the plain way: `make bench`. A benchmark, not a test.

Medians of a few calls, everything in one run, the yardstick and ours in turn: machines are noisy,
ratios less so. Times are processor time. Memory is the largest that NumPy held during the
call.
"""

import time
import tracemalloc

import numpy as np

from dp_topk import mechanisms

REPEATS = 7
FAST = ("joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma")
PUBLISHED = {"joint": "joint_alg1", "pnf_peel": "pnf_peel_alg2", "cdp_peel": "cdp_peel_alg3"}


def milliseconds(*calls, repeats=REPEATS):
    """Median milliseconds of each call; one warm-up each, then the calls in turn."""
    times = []
    for repeat in range(repeats + 1):
        row = []
        for call in calls:
            start = time.process_time()
            call()
            row.append(1e3 * (time.process_time() - start))
        if repeat:
            times.append(row)
    return np.median(times, axis=0)


def copies(call, counts):
    """The most memory that the call held at once, in copies of the counts."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / counts.nbytes


def select(name, counts, k, rng):
    mechanism = mechanisms.get(name)
    return lambda: mechanism.select(counts, k, 1.0, rng=rng)


def foods(rng):
    table = np.loadtxt("data/embedded/foods.csv", delimiter=",", skiprows=1, dtype=np.int64)
    return rng.permutation(np.repeat(*table.T))


def against_counting_and_sorting(rng):
    """One call of joint against one pass of NumPy over the same counts."""
    d = 10**7
    inputs = {
        "Foods": (foods(rng), np.bincount, "bincount", 12),
        "500 distinct": (rng.integers(0, 500, d), np.bincount, "bincount", 4),
        "Pareto to 10^6": (pareto(rng, d), np.bincount, "bincount", None),
        "spread over 10^15": (rng.integers(0, 10**15, d), np.sort, "sort", 4),
    }
    print("\nOne select call of joint against NumPy on the same counts, milliseconds")
    print(
        f"{'counts':<19}{'d':>12}{'k':>5}{'ms':>9}{'NumPy':>17}{'ratio':>8}{'aim':>5}{'memory':>8}"
    )
    for title, (counts, yardstick, name, aim) in inputs.items():
        for k in (5, 195):
            call = select("joint", counts, k, rng)
            repeats = 31 if len(counts) < d else 3
            ours, theirs = milliseconds(call, lambda c=counts: yardstick(c), repeats=repeats)  # noqa: B023
            numbers = f"{ours:>9.2f}{name:>9}{theirs:>8.2f}{ours / theirs:>8.1f}{aim or '':>5}"
            print(f"{title:<19}{len(counts):>12,}{k:>5}{numbers}{copies(call, counts):>7.2f}x")


def on_foods(rng):
    """Against a plain Gumbel CDP-Peel, on the largest dataset."""
    counts = foods(rng)
    print(f"\nOne select call on Foods (d = {len(counts):,}), milliseconds")
    print(f"{'mechanism':<12}{'k':>5}{'ms':>9}{'d Gumbels':>14}{'ratio':>8}{'next draw':>11}")
    for k in (5, 95, 195):
        gumbel = select("cdp_peel_alg3", counts, k, rng)
        for name in FAST:
            ours, theirs = milliseconds(select(name, counts, k, rng), gumbel)
            draw = mechanisms.get(name).prepare(counts, k, 1.0)
            draw(rng)  # the second draw sorts the items, further ones look them up
            (further,) = milliseconds(lambda draw=draw: draw(rng))
            ratio = ours / theirs
            print(f"{name:<12}{k:>5}{ours:>9.2f}{theirs:>14.2f}{ratio:>8.2f}{further:>11.3f}")

    print("\nAgainst the published way, milliseconds")
    print(f"{'mechanism':<12}{'k':>5}{'ms':>9}{'published':>15}{'ms':>8}{'times faster':>14}")
    for k in (95, 195):
        for name, published in PUBLISHED.items():
            calls = (select(each, counts, k, rng) for each in (name, published))
            ours, theirs = milliseconds(*calls, repeats=3)
            times = f"{ours:>9.2f}{published:>15}{theirs:>8.0f}{theirs / ours:>14.0f}"
            print(f"{name:<12}{k:>5}{times}")
    peak = copies(select("joint_alg1", counts, 195, rng), counts) * counts.nbytes / 1e6
    print(f"joint_alg1 holds {peak:,.0f} MB at k = 195")


def pareto(rng, d):
    return np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)


def growth(rng):
    """Against the number of items, k = 100."""
    print("\nGrowth with d at k = 100: milliseconds, and memory in copies of the counts")
    print(f"{'d':>12}" + "".join(f"{name:>18}" for name in FAST))
    for d in (10**4, 10**5, 10**6, 10**7):
        counts = pareto(rng, d)
        cells = []
        for name in FAST:
            call = select(name, counts, 100, rng)
            (ms,) = milliseconds(call, repeats=3)
            cells.append(f"{ms:>10.1f} {copies(call, counts):>6.1f}x")
        print(f"{d:>12,}" + "".join(cells))


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    against_counting_and_sorting(generator)
    on_foods(generator)
    growth(generator)
