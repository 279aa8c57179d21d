"""Time the samplers: `python -m benchmarks.mechanisms`. A benchmark, not a test.

Processor milliseconds, medians of a few calls. What is compared is measured in turn: machines are
noisy, ratios less so. Memory is the largest that NumPy held during the call.
"""

import time
import tracemalloc

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.data.profiles import read_profile

REPEATS = 7
FAST = ("joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma")
KS = (5, 95, 195)


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


def beside_numpy(counts, yardstick, rng):
    """Milliseconds of joint and of one pass of NumPy over the same counts, k = 195; memory."""
    call = select("joint", counts, KS[-1], rng)
    repeats = 31 if len(counts) < 10**6 else 3
    return *milliseconds(call, lambda: yardstick(counts), repeats=repeats), copies(call, counts)


def print_foods(counts, joint_at_195, rng):
    """One call of each mechanism; that of joint at k = 195 is the one of the other table."""
    print(f"| one `select` on Foods, d = {len(counts):,} | k = 5 | k = 95 | k = 195 | next draw |")
    print("|---|---:|---:|---:|---:|")
    for name in FAST:
        times = [milliseconds(select(name, counts, k, rng))[0] for k in KS]
        if name == "joint":
            times[-1] = joint_at_195
        draw = mechanisms.get(name).prepare(counts, KS[-1], 1.0)
        draw(rng)  # the second draw sorts the items, further ones look them up
        times += milliseconds(lambda draw=draw: draw(rng)).tolist()
        print(f"| `{name}` | " + " | ".join(f"{ms:.2f} ms" for ms in times) + " |")


def main():
    rng, d = np.random.default_rng(1), 10**7
    on_foods = rng.permutation(np.repeat(*read_profile("data/embedded/foods.csv")))
    pareto = np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)
    inputs = {
        "Foods": (on_foods, np.bincount),
        "500 distinct counts": (rng.integers(0, 500, d), np.bincount),
        "Pareto, up to 10⁶": (pareto, np.bincount),
        "spread over 10¹⁵": (rng.integers(0, 10**15, d), np.sort),
    }
    found = {title: beside_numpy(*given, rng) for title, given in inputs.items()}
    print_foods(on_foods, found["Foods"][0], rng)
    print("\n| counts | d | `joint.select`, k = 195 | NumPy | ratio | copies of the counts held |")
    print("|---|---:|---:|---:|---:|---:|")
    for title, (ours, theirs, memory) in found.items():
        counts, yardstick = inputs[title]
        print(
            f"| {title} | {len(counts):,} | {ours:.2f} ms | `{yardstick.__name__}` {theirs:.2f} ms "
            f"| {ours / theirs:.1f} | {memory:.2f} |"
        )


if __name__ == "__main__":
    main()
