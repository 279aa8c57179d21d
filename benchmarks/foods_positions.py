"""How much results on Foods depend on what is not known: `python -m benchmarks.foods_positions`.

The largest counts of Foods are known as intervals about 16 wide; where they lie inside was drawn
(tools/foods.py). This repeats the experiment on Foods with ten other draws. Since
50 trials differ from 50 other trials anyway, it also repeats it on the same profile with ten other
seeds of the trials. Prints two Markdown tables, which data/README.md shows and explains. A number
after the command is the number of trials; more of them leave less to chance.
"""

import sys

import numpy as np

from dp_topk import mechanisms
from tools import foods
from workflow.scripts.trials import metrics
from workflow.scripts.trials.cells import run_cell

MECHANISMS = ("joint", "pnf_peel", "cdp_peel", "laplace", "gamma", "pnf_joint")
METRICS = ("linf", "l1", "k_relative")
KS = range(5, 200, 10)
SEED = 2022  # of the trials, as in config.yaml
OTHERS = 10
LARGE_K = 55  # from here on, errors are mostly larger than what is unknown


def padded_medians(profile, seed, trials):
    """Median errors plus 1, as the figures show them: [mechanism, metric, k]."""

    def median(name, k):
        setting = {"mechanism": name, "delta": 1e-6}
        rows = run_cell(profile, "foods", name, 1, k, range(1, trials + 1), seed, setting)
        errors = dict(zip(metrics.METRICS, np.transpose([row for _, *row in rows]), strict=True))
        return [np.median(errors[metric]) + 1 for metric in METRICS]

    return np.array([np.transpose([median(name, k) for k in KS]) for name in MECHANISMS])


def changes(ours, alternatives):
    """Typical (median) and largest change of a padded median, and the largest for large k."""
    large = [k >= LARGE_K for k in KS]
    columns = ["typical", "largest", f"largest for k ≥ {LARGE_K}"]
    yield [
        *("mechanism", "metric"),
        *(f"{column}, other {what}" for what in ("positions", "trials") for column in columns),
    ]
    for i, name in enumerate(MECHANISMS):
        for j, metric in enumerate(METRICS):
            cells = []
            for others in alternatives[:, :, i, j]:
                change = np.abs(others / ours[i, j] - 1)
                other, at = np.unravel_index(change.argmax(), change.shape)
                where = f"{ours[i, j, at]:g} → {others[other, at]:g}, k = {KS[at]}"
                cells += [
                    f"{np.median(change):.1%}",
                    f"{change.max():.0%} ({where})",
                    f"{change[:, large].max():.0%}",
                ]
            yield [name, metric, *cells]


def reversals(ours, alternatives):
    """How often Joint, ahead of a rival or behind it, changes sides, and at which k."""
    yield ["Joint against", "metric", "other positions", "other trials"]
    ahead, aheads = (np.sign(medians - medians[..., :1, :, :]) for medians in (ours, alternatives))
    for name in ("pnf_peel", "cdp_peel"):
        i = MECHANISMS.index(name)
        for j, metric in enumerate(METRICS):
            cells = []
            for turned in aheads[:, :, i, j] * ahead[i, j] < 0:
                where = ", ".join(str(k) for k, yes in zip(KS, turned.any(0), strict=True) if yes)
                cells.append(f"{turned.sum()} of {turned.size}" + (where and f" (k = {where})"))
            yield [name, metric, *cells]


def markdown(rows):
    """The rows, the first of which is the header, as a table."""
    header, *rows = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([header, "|---" * (header.count("|") - 1) + "|", *rows])


def main(trials=50):
    tables = foods.read_tables()
    embedded = mechanisms.Profile(*foods.foods(*tables))
    ours = padded_medians(embedded, SEED, trials)
    other_positions, other_trials = [], []
    for other in range(1, OTHERS + 1):
        redrawn = mechanisms.Profile(*foods.foods(*tables, seed=foods.SEED + other))
        other_positions.append(padded_medians(redrawn, SEED, trials))
        other_trials.append(padded_medians(embedded, SEED + other, trials))
    alternatives = np.array([other_positions, other_trials])
    print(markdown(changes(ours, alternatives)))
    print()
    print(markdown(reversals(ours, alternatives)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
