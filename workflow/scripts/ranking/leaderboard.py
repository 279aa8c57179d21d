"""Who wins where, and by how much: mechanisms ranked over all cells.

Mechanisms are compared within a group: what they guarantee, and what they return.

guarantee: `pure` or `approx`; `either` ranks both together, as its name says.
output: `sequence`, for mechanisms that return an order; `set`, for all, since a sequence is a set,
    too. Errors that depend on the order exist in the first group only. Mechanisms that may return
    fewer than k items are ranked apart, as `partial sequence` and `partial set`.

Recall is compared by the number of items missed, k (1 - recall), so that less is better everywhere.
A mechanism's means are over the cells in which it was run. WORDS of pages.py says what a win, a
tie, regret and an interval are.
"""

import itertools
from collections import Counter

import numpy as np
import pandas as pd

from workflow.scripts.common import intact
from workflow.scripts.results.comparing import rank_z, two_sided
from workflow.scripts.results.tables import CELL, write_table
from workflow.scripts.trials.cells import generator

EVERY_METRIC = ("linf", "l1", "k_relative", "recall")
METRICS_OF = {"sequence": EVERY_METRIC, "set": ("k_relative", "recall")}
METRICS_OF |= {f"partial {output}": metrics for output, metrics in METRICS_OF.items()}
ALL = "(all)"  # the group of all datasets together; no dataset can be called that
GROUP = ["dataset", "guarantee", "output", "metric"]
LEVEL = 0.05  # of the rank tests of a cell, all together
RESAMPLES = 200

LEADERBOARD = [
    *GROUP, "mechanism", "cells",
    *(f"{name}{end}" for name in ("mean_rank", "wins", "regret") for end in ("", "_low", "_high")),
    "sure_wins", "ties",
]  # fmt: skip
WINNERS = [*GROUP, "epsilon", "k", "winner", "median", "tied_with", "compared"]


def read_trials(path):
    """The trials of a CSV file."""
    text = {"dataset": str, "mechanism": str}  # a dataset may be called `nan`
    nothing = {metric: [""] for metric in EVERY_METRIC}  # where a set has no order
    return pd.read_csv(intact(path), dtype=text, keep_default_na=False, na_values=nothing)


def groups(mechanisms):
    """Yield ((guarantee, output, metric), names of the mechanisms that are compared)."""
    for output, guarantee in itertools.product(METRICS_OF, ("pure", "approx", "either")):
        names = [
            name
            for name, about in mechanisms.items()
            if guarantee in (about["guarantee"], "either")
            and output in (about["output"], about["output"].replace("sequence", "set"))
        ]
        for metric in METRICS_OF[output]:
            yield (guarantee, output, metric), names


def samples(trials, mechanisms):
    """{(dataset, epsilon, k): {mechanism: trials x EVERY_METRIC, less is better}}."""
    cells = {}
    for (dataset, name, epsilon, k), rows in trials.groupby(CELL, sort=False):
        if name in mechanisms:
            values = rows[list(EVERY_METRIC)].to_numpy(float, copy=True)
            values[:, -1] = np.round(k * (1 - values[:, -1]))  # recall, as items missed
            cells.setdefault((dataset, epsilon, k), {})[name] = values
    return cells


# ---------------------------------------------------------------- cells


def write_winners(trials, mechanisms, path):
    """Write the winners of all cells; mechanisms: {name: {"guarantee": ..., "output": ...}}."""
    write_table(path, WINNERS, winners(read_trials(trials), mechanisms))


def winners(trials, mechanisms):
    """Yield rows of WINNERS."""
    cells = samples(trials, mechanisms)
    for group, names in groups(mechanisms):
        column = EVERY_METRIC.index(group[-1])
        for (dataset, epsilon, k), found in cells.items():
            errors = {name: found[name][:, column] for name in names if name in found}
            if len(errors) > 1:
                yield dataset, *group, epsilon, k, *_winner(errors), len(errors)


def _winner(errors):
    """(mechanism, median, mechanisms that it is not significantly better than) of one cell."""
    # Equal medians, often 0: who has more trials with that little error is named.
    pooled = np.sort(np.concatenate(list(errors.values())))

    def place(name):
        return np.median(errors[name]), np.searchsorted(pooled, errors[name]).sum()

    best, *others = sorted(errors, key=place)
    z = {name: rank_z(errors[best], errors[name]) for name in others}
    tied = [name for name in others if z[name] >= 0 or two_sided(z[name]) > LEVEL / len(others)]
    return best, float(np.median(errors[best])), " ".join(tied)


# ---------------------------------------------------------------- groups


def write_leaderboard(trials, won, mechanisms, seed, path):
    """Write the ranking of all datasets together and of each; `won`: a table of WINNERS."""
    won = pd.read_csv(intact(won), dtype=str, keep_default_na=False)
    write_table(path, LEADERBOARD, leaderboard(read_trials(trials), won, mechanisms, seed))


def leaderboard(trials, won, mechanisms, seed):
    """Yield rows of LEADERBOARD; groups of all datasets together come first."""
    names, cells = list(mechanisms), samples(trials, mechanisms)
    medians = resampled_medians(cells, names, seed)
    of_dataset = np.array([dataset for dataset, _, _ in cells])
    datasets = list(dict.fromkeys(of_dataset.tolist()))
    sure, ties = Counter(), Counter()  # of each (dataset, *group, mechanism)
    columns = [*GROUP, "winner", "tied_with"]
    for dataset, *group, winner, tied in won[columns].itertuples(index=False):
        for name, place in itertools.product([winner, *tied.split()], (ALL, dataset)):
            (ties if tied else sure)[place, *group, name] += 1
    for dataset in [ALL, *datasets] if len(datasets) > 1 else datasets:
        there = medians[:, np.isin(of_dataset, datasets if dataset == ALL else dataset)]
        for group, compared in groups(mechanisms):
            chosen = [names.index(name) for name in compared]
            table = there[:, :, chosen, EVERY_METRIC.index(group[-1])]
            table = table[:, (~np.isnan(table[0])).sum(axis=1) > 1]
            for name, *row in sorted(_ranking(table, compared), key=lambda row: row[2]):
                cell = dataset, *group, name
                yield *cell, *row, sure[cell], ties[cell]


def resampled_medians(cells, names, seed):
    """(1 + RESAMPLES, cells, mechanisms, metrics): of the trials as they are, then drawn again.

    Drawn again with replacement; what was not run is NaN. The draws of a cell depend on its
    name, not on what else was run.
    """
    medians = np.full((1 + RESAMPLES, len(cells), len(names), len(EVERY_METRIC)), np.nan)
    for i, (cell, found) in enumerate(cells.items()):
        again = generator(seed, "leaderboard", *cell)
        for name, values in found.items():
            n, j = len(values), names.index(name)
            middle = [(n - 1) // 2, n // 2]
            picks = np.sort(again.integers(n, size=(RESAMPLES, n)), axis=1)[:, middle]
            ordered = np.sort(values, axis=0)
            medians[0, i, j] = ordered[middle].mean(axis=0)
            medians[1:, i, j] = ordered[picks].mean(axis=1)
    return medians


def _ranking(medians, names):
    """Yield what LEADERBOARD has of each mechanism of a group, from its name to its regret."""
    if not medians.shape[1]:
        return
    # Equal medians share the mean rank.
    rank = pd.DataFrame(medians.reshape(-1, len(names))).rank(axis=1)
    rank = rank.to_numpy().reshape(medians.shape)
    least = np.nanmin(medians, axis=2, keepdims=True)
    regret = np.log((medians + 1) / (least + 1))
    for j, name in enumerate(names):
        run = ~np.isnan(medians[0, :, j])
        if run.any():
            yield (
                name,
                int(run.sum()),
                *_with_interval(rank[:, run, j].mean(axis=1)),
                *_with_interval((medians == least)[:, run, j].sum(axis=1)),
                *_with_interval(np.exp(regret[:, run, j].mean(axis=1))),
            )


def _with_interval(values):
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return [round(float(value), 4) for value in (values[0], low, high)]
