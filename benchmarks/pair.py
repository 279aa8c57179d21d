"""What Pair gives and what it costs: `python -m benchmarks.pair`.

Medians of ℓ∞ / ℓ₁ error over 100 draws of Pair and of its rivals, with fixed seeds. `--all` runs
Pair alone on six datasets, four k and three ε, where some cells are not available: the medians, the
seconds that it takes to prepare and the milliseconds of a draw.
"""

import itertools
import sys
import time

import numpy as np

from benchmarks import embedded
from dp_topk import mechanisms
from tools import show

CELLS = {  # of k and epsilon
    "foods": [(50, 1)],
    "games": [(25, 0.5), (40, 1)],
    "movies": [(195, 1), (95, 0.5)],
    "tweets": [(195, 0.5), (95, 0.1)],
    "news": [(95, 0.1), (195, 0.5)],
    "books": [(195, 0.1)],
}
KS = (25, 50, 95, 195)
EPSILONS = (0.1, 0.5, 1.0)
NAMES = ("joint", "cdp_peel", "pnf_peel", "pair")
DRAWS = 100


def errors(name, dataset, k, epsilon):
    """Median ℓ∞ and ℓ₁ as a text, seconds to prepare and for a draw."""
    profile = embedded(dataset)
    start = time.process_time()
    draw = mechanisms.get(name).prepare(profile, k, epsilon=epsilon)
    prepared = time.process_time()
    rng = np.random.default_rng(1)
    samples = np.stack([draw(rng) for _ in range(DRAWS)])
    drawn = time.process_time()
    gaps = np.abs(profile.counts_at(np.arange(k)) - profile.counts_at(samples))
    medians = f"{np.median(gaps.max(axis=1)):.0f} / {np.median(gaps.sum(axis=1)):.0f}"
    return medians, prepared - start, (drawn - prepared) / DRAWS


def beside_rivals():
    """Pair beside its rivals, in the cells that tell them apart."""
    for dataset, cells in CELLS.items():
        for k, epsilon in cells:
            found = (errors(name, dataset, k, epsilon)[0] for name in NAMES)
            yield [f"{dataset} {k}, {epsilon:g}", *found]


def where_available(dataset, k, epsilon):
    """What Pair gives and costs there, or that it is not available."""
    try:
        medians, prepare, draw = errors("pair", dataset, k, epsilon)
    except mechanisms.Unavailable:
        return "not available"
    return f"{medians}, {prepare:.2f} s, {1e3 * draw:.2f} ms"


if __name__ == "__main__":
    if sys.argv[1:] == ["--all"]:
        heads = "data, k", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)
        rows = (
            [f"{dataset} {k}", *(where_available(dataset, k, epsilon) for epsilon in EPSILONS)]
            for dataset, k in itertools.product(sorted(CELLS), KS)
        )
    else:
        heads = "data, k, ε", *(mechanisms.get(name).label for name in NAMES)
        rows = beside_rivals()
    show(heads, rows, range(len(heads)))
