"""How much results on Foods depend on what is not known: `python -m benchmarks.foods_positions`.

The largest counts of Foods are known as intervals about 16 wide; where they lie inside was drawn
(tools/foods.py). This repeats the experiment on Foods with ten other draws and, since 50 trials
differ from 50 other trials anyway, on the same profile with ten other seeds of the trials.
data/README.md shows and explains the two tables. A number after the command is the number of
trials; more of them leave less to chance.
"""

import itertools
import sys

import numpy as np
import pandas as pd

from dp_topk import mechanisms
from tools import foods, show
from workflow.scripts.trials.cells import HEADER, run_cells

MECHANISMS = ("joint", "pnf_peel", "cdp_peel", "laplace", "gamma", "pnf_joint")
RIVALS = ("pnf_peel", "cdp_peel")
METRICS = ("linf", "l1", "k_relative")
KS = range(5, 200, 10)
SEED = 2022  # of the trials, as in config.yaml
OTHERS = 10
LARGE_K = 55  # from here on, errors are mostly larger than what is unknown


def padded_medians(profile, seed, trials):
    """Median errors plus 1, as the figures show them: [mechanism, metric, k]."""

    def medians(name):
        setting, numbers = {"mechanism": name, "delta": 1e-6}, range(1, trials + 1)
        rows, _ = run_cells(profile, "foods", name, 1, KS, numbers, seed, setting)
        return pd.DataFrame(rows, columns=HEADER).groupby("k")[list(METRICS)].median().T + 1

    return np.array([medians(name) for name in MECHANISMS])


def changes(ours, alternatives):
    """Typical (median) and largest change of a padded median, and the largest for large k."""
    columns = ["typical", "largest", f"largest for k ≥ {LARGE_K}"]
    yield [
        *("mechanism", "metric"),
        *(f"{column}, other {what}" for what in ("positions", "trials") for column in columns),
    ]
    for i, j in np.ndindex(len(MECHANISMS), len(METRICS)):
        cells = [MECHANISMS[i], METRICS[j]]
        for others in alternatives[:, :, i, j]:
            change = np.abs(others / ours[i, j] - 1)
            other, at = np.unravel_index(change.argmax(), change.shape)
            where = f"{ours[i, j, at]:g} → {others[other, at]:g}, k = {KS[at]}"
            cells += [f"{np.median(change):.1%}", f"{change.max():.0%} ({where})"]
            cells.append(f"{change[:, np.array(KS) >= LARGE_K].max():.0%}")
        yield cells


def reversals(ours, alternatives):
    """How often Joint, ahead of a rival or behind it, changes sides, and at which k."""
    yield ["Joint against", "metric", "other positions", "other trials"]
    ahead, aheads = (np.sign(medians - medians[..., :1, :, :]) for medians in (ours, alternatives))
    for i, j in itertools.product(map(MECHANISMS.index, RIVALS), range(len(METRICS))):
        cells = [MECHANISMS[i], METRICS[j]]
        for turned in aheads[:, :, i, j] * ahead[i, j] < 0:
            where = ", ".join(str(KS[at]) for at in np.flatnonzero(turned.any(0)))
            cells.append(f"{turned.sum()} of {turned.size}" + (where and f" (k = {where})"))
        yield cells


def main(trials=50):
    tables = foods.read_tables()
    embedded = mechanisms.Profile(*foods.foods(*tables))
    ours = padded_medians(embedded, SEED, trials)
    others = range(1, OTHERS + 1)
    redrawn = (mechanisms.Profile(*foods.foods(*tables, seed=foods.SEED + i)) for i in others)
    positions = [padded_medians(profile, SEED, trials) for profile in redrawn]
    seeds = [padded_medians(embedded, SEED + i, trials) for i in others]
    for rows in (changes, reversals):
        heads, *rows = rows(ours, np.array([positions, seeds]))
        show(heads, rows, range(len(heads)))
        print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
