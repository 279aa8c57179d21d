"""What Pair gives and what it costs: `python -m benchmarks.pair`. A benchmark, not a test.

Medians of ℓ∞ and ℓ₁ over 100 draws of each mechanism, with fixed seeds; the seconds that Pair takes
to prepare and the milliseconds it takes for a draw. `--all` runs the grid of six datasets, four k
and three ε instead, where some cells are not available, for Pair alone.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from dp_topk import mechanisms

EMBEDDED = Path(__file__).parents[1] / "data" / "embedded"
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
GRID = [
    (dataset, k, epsilon)
    for dataset in ("books", "foods", "games", "movies", "news", "tweets")
    for k in (25, 50, 95, 195)
    for epsilon in (0.1, 0.5, 1.0)
]
RIVALS = ("joint", "cdp_peel", "pnf_peel")
DRAWS = 100


def read(dataset):
    path = EMBEDDED / f"{dataset}.csv"
    return mechanisms.Profile(*np.loadtxt(path, np.int64, delimiter=",", skiprows=1, unpack=True))


def errors(name, profile, k, epsilon):
    """Median ℓ∞ and ℓ₁, seconds to prepare and for a draw."""
    start = time.perf_counter()
    draw = mechanisms.get(name).prepare(profile, k, epsilon=epsilon)
    prepared = time.perf_counter()
    rng = np.random.default_rng(1)
    samples = np.stack([draw(rng) for _ in range(DRAWS)])
    drawn = time.perf_counter()
    gaps = np.abs(profile.counts_at(np.arange(k)) - profile.counts_at(samples))
    medians = np.median(gaps.max(axis=1)), np.median(gaps.sum(axis=1))
    return *medians, prepared - start, (drawn - prepared) / DRAWS


def row(dataset, k, epsilon, names):
    profile, cells = read(dataset), []
    for name in names:
        try:
            linf, l1, prepare, draw = errors(name, profile, k, epsilon)
        except mechanisms.Unavailable:
            cells += ["not available"]
            continue
        cells += [f"{linf:.0f} / {l1:.0f}"]
        if name == "pair":
            cells += [f"{prepare:.2f} s", f"{1e3 * draw:.2f} ms"]
    print(f"| {dataset} {k}, {epsilon:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="the grid, for Pair alone")
    everything = parser.parse_args().all
    columns = ["pair"] if everything else [*RIVALS, "pair"]
    labels = [mechanisms.get(name).label for name in columns]
    print("| data, k, ε | " + " | ".join([*labels, "to prepare", "a draw"]) + " |")
    print("|---" * (len(labels) + 3) + "|")
    for cell in GRID if everything else CELLS:
        row(*cell, columns)
