"""Who wins where, and by how much: mechanisms ranked over all cells.

Mechanisms are compared within a group: what they guarantee, and what they give.

guarantee: `pure` or `approx`; `either` ranks both together, and says so by its name.
output: `sequence`, for mechanisms that give an order; `set`, for all, since a mechanism that
    gives an order gives a set, too. Errors that depend on the order exist in the first group
    only. Those that may give fewer than k items are ranked apart, as `partial sequence` and
    `partial set`.

Errors are compared by the median over trials. Recall is compared by the number of items that
are missed, k (1 - recall), so that less is better everywhere.

A cell is won by the mechanism with the smallest median; equal medians win together. The win is
sure if a rank test tells the winner from all others; else it is a tie with those it does not
tell it from. Regret is how many times larger an error is than the best one in its group, medians
padded by 1 as in the figures: the geometric mean over cells. Intervals are those in which 95 % of
the values fall when the trials of every cell are drawn again with replacement. That adds noise,
under which the best of a group gains and everybody else loses a little: a value may lie outside.

A mechanism's ranks are among those that were run in the same cell, and its means are over the
cells in which it was run.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow.scripts.common import intact
from workflow.scripts.results.comparing import rank_z, two_sided
from workflow.scripts.results.tables import CELL, write_table
from workflow.scripts.trials.cells import generator

GUARANTEES = {"pure": {"pure"}, "approx": {"approx"}, "either": {"pure", "approx"}}
EVERY_METRIC = ("linf", "l1", "k_relative", "recall")
METRICS = {
    "sequence": EVERY_METRIC,
    "set": ("k_relative", "recall"),
    "partial sequence": EVERY_METRIC,
    "partial set": ("k_relative", "recall"),
}
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


class Mechanism(NamedTuple):
    guarantee: str
    output: str


def read_trials(path):
    """The trials of a CSV file."""
    text = {"dataset": str, "mechanism": str}  # a dataset may be called `nan`
    nothing = {metric: [""] for metric in EVERY_METRIC}  # where a set has no order
    return pd.read_csv(intact(path), dtype=text, keep_default_na=False, na_values=nothing)


def groups(mechanisms):
    """Yield (guarantee, output, metric, names of the mechanisms that are compared)."""
    for output, guarantee in itertools.product(METRICS, GUARANTEES):
        names = [
            name
            for name, about in mechanisms.items()
            if about.guarantee in GUARANTEES[guarantee]
            and output in (about.output, about.output.replace("sequence", "set"))
        ]
        for metric in METRICS[output]:
            yield guarantee, output, metric, names


def samples(trials, mechanisms):
    """{(dataset, epsilon, k): {mechanism: trials x EVERY_METRIC, less is better}}."""
    cells = {}
    for (dataset, name, epsilon, k), own in trials.groupby(CELL, sort=False):
        if name in mechanisms:
            values = own[list(EVERY_METRIC)].to_numpy(float, copy=True)
            values[:, -1] = np.round(k * (1 - values[:, -1]))  # recall, as items that are missed
            cells.setdefault((dataset, epsilon, k), {})[name] = values
    return cells


# ---------------------------------------------------------------- cells


def write_winners(trials, mechanisms, path):
    """Write the winners of all cells; mechanisms: {name: {"guarantee": ..., "output": ...}}."""
    write_table(path, WINNERS, winners(read_trials(trials), _named(mechanisms)))


def winners(trials, mechanisms):
    """Rows of WINNERS."""
    rows = []
    cells = samples(trials, mechanisms)
    for guarantee, output, metric, names in groups(mechanisms):
        at = EVERY_METRIC.index(metric)
        for (dataset, epsilon, k), found in cells.items():
            own = {name: found[name][:, at] for name in names if name in found}
            if len(own) > 1:
                group = dataset, guarantee, output, metric
                rows.append((*group, epsilon, k, *_winner(own), len(own)))
    return rows


def _winner(found):
    """(mechanism, median, mechanisms that it is not significantly better than) of one cell."""
    # Equal medians, often 0: who has more trials with that little error is named.
    pooled = np.sort(np.concatenate(list(found.values())))

    def place(name):
        return np.median(found[name]), np.searchsorted(pooled, found[name]).sum()

    best, *others = sorted(found, key=place)
    level = LEVEL / len(others)
    tied = []
    for name in others:
        z = rank_z(found[best], found[name])
        if z >= 0 or two_sided(z) > level:
            tied.append(name)
    return best, float(np.median(found[best])), " ".join(tied)


# ---------------------------------------------------------------- groups


def write_leaderboard(trials, won, mechanisms, seed, path):
    """Write the ranking of all datasets together and of each; `won`: a table of WINNERS."""
    won = pd.read_csv(intact(won), dtype=str, keep_default_na=False)
    rows = leaderboard(read_trials(trials), won, _named(mechanisms), seed)
    write_table(path, LEADERBOARD, rows)


def leaderboard(trials, won, mechanisms, seed):
    """Rows of LEADERBOARD; groups of all datasets together come first."""
    names = list(mechanisms)
    cells = samples(trials, mechanisms)
    medians = resampled_medians(cells, names, seed)
    of_dataset = np.array([dataset for dataset, _, _ in cells])
    datasets = list(dict.fromkeys(of_dataset.tolist()))
    rows = []
    for dataset in [ALL, *datasets] if len(datasets) > 1 else datasets:
        own = medians if dataset == ALL else medians[:, of_dataset == dataset]
        own_won = won if dataset == ALL else won[won["dataset"] == dataset]
        for guarantee, output, metric, compared in groups(mechanisms):
            chosen = [names.index(name) for name in compared]
            table = own[:, :, chosen, EVERY_METRIC.index(metric)]
            table = table[:, (~np.isnan(table[0])).sum(axis=1) > 1]
            is_group = (own_won[GROUP[1:]] == [guarantee, output, metric]).all(axis=1)
            best = own_won[is_group]
            ranking = sorted(_ranking(table, compared, best), key=lambda row: row[2])
            rows += [(dataset, guarantee, output, metric, *row) for row in ranking]
    return rows


def resampled_medians(cells, names, seed):
    """(1 + RESAMPLES, cells, mechanisms, metrics): of the trials as they are, then drawn again.

    Drawn again with replacement; what was not run is NaN. The draws of a cell depend on its
    name, not on what else is there.
    """
    shape = 1 + RESAMPLES, len(cells), len(names), len(EVERY_METRIC)
    medians = np.full(shape, np.nan)
    for i, (cell, found) in enumerate(cells.items()):
        again = generator(seed, "leaderboard", *cell)
        for name, values in found.items():
            n = len(values)
            middle = [(n - 1) // 2, n // 2]
            picks = np.sort(again.integers(n, size=(RESAMPLES, n)), axis=1)[:, middle]
            ordered = np.sort(values, axis=0)
            j = names.index(name)
            medians[0, i, j] = ordered[middle].mean(axis=0)
            medians[1:, i, j] = ordered[picks].mean(axis=1)
    return medians


def _ranking(medians, names, best):
    """Yield (mechanism, cells, mean rank, wins, regret, ...) of one group's mechanisms."""
    if not medians.shape[1]:
        return
    rank = _ranks(medians)
    least = np.nanmin(medians, axis=2, keepdims=True)
    regret = np.log((medians + 1) / (least + 1))
    tied = best[best["tied_with"] != ""]
    among = [{winner, *others.split()} for winner, others in tied[["winner", "tied_with"]].values]
    for j, name in enumerate(names):
        there = ~np.isnan(medians[0, :, j])
        if there.any():
            yield (
                name,
                int(there.sum()),
                *_with_interval(rank[:, there, j].mean(axis=1)),
                *_with_interval((medians == least)[:, there, j].sum(axis=1)),
                *_with_interval(np.exp(regret[:, there, j].mean(axis=1))),
                int(((best["winner"] == name) & (best["tied_with"] == "")).sum()),
                sum(name in those for those in among),
            )


def _ranks(medians):
    """Rank of each mechanism in each cell, from 1; equal medians share the mean rank."""
    below = (medians[..., None, :] < medians[..., :, None]).sum(-1)
    equal = (medians[..., None, :] == medians[..., :, None]).sum(-1)
    return np.where(np.isnan(medians), np.nan, below + (equal + 1) / 2)


def _with_interval(values):
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return [round(float(value), 4) for value in (values[0], low, high)]


def _named(mechanisms):
    return {name: Mechanism(**about) for name, about in mechanisms.items()}
