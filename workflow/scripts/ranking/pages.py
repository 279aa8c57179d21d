"""The page of the ranking: who is best on the whole, and every mechanism in every group."""

import itertools
from operator import itemgetter

from workflow.scripts.common import intact, read_dicts, written
from workflow.scripts.ranking.leaderboard import ALL, EVERY_METRIC
from workflow.scripts.results.page import Column, heading, page, paragraph, table
from workflow.scripts.trials.metrics import METRICS

GUARANTEES = {"pure": "ε-DP", "approx": "(ε, δ)-DP", "either": "both, ranked together"}
OUTPUTS = {
    "sequence": "sequence",
    "set": "set",
    "partial sequence": "sequence of at most k items",
    "partial set": "set of at most k items",
}
# What the map of winners goes by.
SUMMARY = {output: "recall" if output.endswith("set") else "linf" for output in OUTPUTS}

RANKING = {
    "dataset in words": Column("dataset"),
    "guarantee in words": Column("guarantee"),
    "output in words": Column("output"),
    "metric in words": Column("compared by"),
    "mechanism in words": Column("mechanism"),
    "mean_rank": Column("mean rank", "number"),
    "regret": Column("regret", "number"),
    "wins": Column("wins", "number"),
    "sure_wins": Column("sure wins", "number"),
    "ties": Column("ties", "number"),
    "cells": Column("cells", "number"),
}
WORDS = (
    "A cell is a dataset, an epsilon and a k. A mechanism wins a cell if no other has a smaller "
    "median error; equal medians win together. A win is sure if a rank test tells the winner from "
    "every other mechanism; if not, the cell is a tie of all those not told apart. Regret: how "
    "many times larger the error is than the smallest of the group (medians + 1, geometric mean "
    "over cells). In brackets, the interval that holds 95 % of the values when the trials are "
    "drawn again with replacement; that adds noise, so a value may lie outside. Sets are compared "
    "by the items that they miss, and a sequence is a set, too. Mechanisms that "
    "guarantee ε-DP and those that guarantee (ε, δ)-DP are in one ranking only where it says so."
)


def write_page(path, leaderboard, titles, labels):
    """Make the page of a table of leaderboard.LEADERBOARD."""
    rows = read_dicts(intact(leaderboard))
    with written(path) as file:
        file.write(leaderboard_page(rows, titles, labels))


def leaderboard_page(rows, titles, labels):
    """titles: {dataset: title}; labels: {mechanism: label}."""
    filters = {
        "dataset": {ALL: "all datasets together", **titles},
        "guarantee": GUARANTEES,
        "output": OUTPUTS,
        "metric": {name: METRICS[name].title for name in EVERY_METRIC},
    }
    words = filters | {"mechanism": labels}
    shown = [
        row
        | {f"{key} in words": of_key[row[key]] for key, of_key in words.items()}
        | {name: int(row[name]) for name in ("sure_wins", "ties", "cells")}
        | with_intervals(row)
        for row in rows
    ]
    whole = rows[0]["dataset"] if rows else ""  # all together, if there are several
    of_best = {key: RANKING[key] for key in RANKING if key not in ("dataset in words", "cells")}
    return page(
        "Which mechanism is best?",
        paragraph(WORDS),
        heading(f"The best two: {filters['dataset'].get(whole, '')}"),
        table(_best(shown, whole), of_best, name="best"),
        heading("Every mechanism"),
        table(shown, RANKING, filters, "ranking", chosen={"dataset": whole}),
    )


def _best(rows, whole):
    """The best two mechanisms of each group that stands for a question; rows are ranked."""
    rows = (r for r in rows if r["dataset"] == whole and r["metric"] == SUMMARY[r["output"]])
    groups = itertools.groupby(rows, key=itemgetter("guarantee", "output"))
    return [row for _, group in groups for row in itertools.islice(group, 2)]


def with_intervals(row):
    """The columns of a row of the ranking that have intervals, as texts."""
    shown = {}
    for name, digits in {"mean_rank": 2, "regret": 2, "wins": 0}.items():
        value, low, high = (float(row[name + end]) for end in ("", "_low", "_high"))
        shown[name] = f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
    return shown
