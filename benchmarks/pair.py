"""What Pair gives and what it costs: `python -m benchmarks.pair`. A benchmark, not a test.

Medians of ℓ∞ / ℓ₁ error over 100 draws of Pair and of its rivals, with fixed seeds. `--all` runs
Pair alone on six datasets, four k and three ε, where some cells are not available: the medians, the
processor seconds that it takes to prepare and the milliseconds of a draw.
"""

import argparse
import time

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.data.profiles import read_profile

CELLS = [
    ("foods", 50, 1.0),
    ("games", 25, 0.5),
    ("games", 40, 1.0),
    ("movies", 195, 1.0),
    ("movies", 95, 0.5),
    ("tweets", 195, 0.5),
    ("tweets", 95, 0.1),
    ("news", 95, 0.1),
    ("news", 195, 0.5),
    ("books", 195, 0.1),
]
EPSILONS = (0.1, 0.5, 1.0)
GRID = [
    (dataset, k)
    for dataset in ("books", "foods", "games", "movies", "news", "tweets")
    for k in (25, 50, 95, 195)
]
RIVALS = ("joint", "cdp_peel", "pnf_peel")
DRAWS = 100


def read(dataset):
    return mechanisms.Profile(*read_profile(f"data/embedded/{dataset}.csv"))


def errors(name, profile, k, epsilon):
    """Median ℓ∞ and ℓ₁, seconds to prepare and for a draw."""
    start = time.process_time()
    draw = mechanisms.get(name).prepare(profile, k, epsilon=epsilon)
    prepared = time.process_time()
    rng = np.random.default_rng(1)
    samples = np.stack([draw(rng) for _ in range(DRAWS)])
    drawn = time.process_time()
    gaps = np.abs(profile.counts_at(np.arange(k)) - profile.counts_at(samples))
    medians = np.median(gaps.max(axis=1)), np.median(gaps.sum(axis=1))
    return *medians, prepared - start, (drawn - prepared) / DRAWS


def print_cells():
    """Pair beside its rivals, in the cells that tell them apart."""
    names = (*RIVALS, "pair")
    print("| data, k, ε | " + " | ".join(mechanisms.get(name).label for name in names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for dataset, k, epsilon in CELLS:
        found = (errors(name, read(dataset), k, epsilon) for name in names)
        row = " | ".join(f"{linf:.0f} / {l1:.0f}" for linf, l1, *_ in found)
        print(f"| {dataset} {k}, {epsilon:g} | {row} |", flush=True)


def print_grid():
    """Where Pair is available, and what it costs there."""
    print("| data, k | " + " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS) + " |")
    print("|---" * (len(EPSILONS) + 1) + "|")
    for dataset, k in GRID:
        row = []
        for epsilon in EPSILONS:
            try:
                linf, l1, prepare, draw = errors("pair", read(dataset), k, epsilon)
                row.append(f"{linf:.0f} / {l1:.0f}, {prepare:.2f} s, {1e3 * draw:.2f} ms")
            except mechanisms.Unavailable:
                row.append("not available")
        print(f"| {dataset} {k} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="the grid, for Pair alone")
    print_grid() if parser.parse_args().all else print_cells()
