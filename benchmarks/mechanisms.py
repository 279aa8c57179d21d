"""Time the samplers: `python -m benchmarks.mechanisms`.

Medians of a few calls. What is compared is measured in turn: machines are noisy, ratios less so.
Memory is the most that NumPy held during the call.
"""

import tracemalloc

import numpy as np

from benchmarks import embedded, seconds
from dp_topk import mechanisms
from tools import show

FAST = ("joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma")
KS = (5, 95, 195)


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
    """Seconds of joint and of one pass of NumPy over the same counts, k = 195; memory."""
    call = select("joint", counts, KS[-1], rng)
    repeats = 31 if len(counts) < 10**6 else 3
    return *seconds(call, lambda: yardstick(counts), repeats=repeats), copies(call, counts)


def on_foods(counts, joint_at_195, rng):
    """One call of each mechanism; that of joint at k = 195 is the one of the other table."""
    for name in FAST:
        times = [seconds(select(name, counts, k, rng))[0] for k in KS]
        if name == "joint":
            times[-1] = joint_at_195
        draw = mechanisms.get(name).prepare(counts, KS[-1], 1.0)
        draw(rng)  # the second draw sorts the items, further ones look them up
        times += seconds(lambda draw=draw: draw(rng))
        yield [f"`{name}`", *(f"{1e3 * each:.2f} ms" for each in times)]


def main():
    rng, d = np.random.default_rng(1), 10**7
    profile = embedded("foods")
    foods = rng.permutation(np.repeat(profile.counts, profile.items))
    pareto = np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)
    inputs = {
        "Foods": (foods, np.bincount),
        "500 distinct counts": (rng.integers(0, 500, d), np.bincount),
        "Pareto, up to 10⁶": (pareto, np.bincount),
        "spread over 10¹⁵": (rng.integers(0, 10**15, d), np.sort),
    }
    found = {title: beside_numpy(*given, rng) for title, given in inputs.items()}
    heads = (f"one `select` on Foods, d = {len(foods):,}", *(f"k = {k}" for k in KS), "next draw")
    show(heads, on_foods(foods, found["Foods"][0], rng))
    print()
    rows = []
    for (title, (counts, yardstick)), (ours, theirs, memory) in zip(
        inputs.items(), found.values(), strict=True
    ):
        numpy = f"`{yardstick.__name__}` {1e3 * theirs:.2f} ms"
        times = f"{1e3 * ours:.2f} ms", numpy, f"{ours / theirs:.1f}"
        rows.append([title, f"{len(counts):,}", *times, f"{memory:.2f}"])
    show(
        ["counts", "d", "`joint.select`, k = 195", "NumPy", "ratio", "copies of the counts held"],
        rows,
    )


if __name__ == "__main__":
    main()
