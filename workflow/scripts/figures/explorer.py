"""The explorer: one page on which people choose which errors they see. It works offline.

explorer.html is the page: its controls, its chart, and the script that draws it. Here it gets its
data. Nothing is loaded from anywhere; the page itself forbids it.
"""

import csv
import itertools
import json
import math
from pathlib import Path

from workflow.scripts.common import InputError, intact, written
from workflow.scripts.figures.style import mechanism_style
from workflow.scripts.results.tables import QUARTILES
from workflow.scripts.trials.metrics import METRICS

PAGE = Path(__file__).with_suffix(".html")
DECIMALS = 4  # more than anybody reads: errors are multiples of 1/4, recall is a share of k
LINE_WIDTH = 2  # pixels
FAR_OFF = 100  # times the smallest error, on the geometric mean: not shown at first
NOTES = {"approx": "(ε, δ)", "set": "set"}  # what must be known before lines are compared


def write_explorer(errors_csv, out_html, labels, titles, kinds=None):
    """Write the page of a table of errors; the same table gives the same bytes.

    labels: {mechanism: label}, in the order of the legend; others are left out
    titles: {dataset: title}, in the order in which they are offered
    kinds: {mechanism: {"guarantee": ..., "output": ...}}, of which the page tells (`Plan.ranked`)
    """
    cells = read_cells(errors_csv, labels, titles)
    if not cells:
        raise InputError(
            f"{errors_csv} has no row of a mechanism and a dataset that are shown; list one of its "
            "mechanisms under `mechanisms` and not under `hidden_mechanisms`"
        )
    content = page_data(cells, labels, titles, kinds or {})
    # Neither can the data end the script in which it stands, nor begin another.
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    with written(out_html) as file:
        file.write(PAGE.read_text(encoding="utf-8").replace("DATA", text, 1))


def read_cells(path, labels, titles):
    """{(dataset, mechanism, epsilon, k): {metric: [q25, median, q75], "trials": n}}, all texts."""
    cells = {}
    with open(intact(path), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["mechanism"] in labels and row["dataset"] in titles:
                name = row["dataset"], row["mechanism"], row["epsilon"], row["k"]
                cell = cells.setdefault(name, {"trials": row["trials"]})
                cell[row["metric"]] = [_short(row[quartile]) for quartile in QUARTILES]
    return cells


def _short(number):
    rounded = round(float(number), DECIMALS)
    return str(int(rounded)) if rounded.is_integer() else str(rounded)


def page_data(cells, labels, titles, kinds):
    """What the script of the page draws from, without what no cell has."""
    datasets, mechanisms, epsilons, _ = (dict.fromkeys(names) for names in zip(*cells, strict=True))
    labels = {name: label for name, label in labels.items() if name in mechanisms}
    titles = {name: title for name, title in titles.items() if name in datasets}
    metrics = [name for name in METRICS if any(name in cell for cell in cells.values())]
    hidden = far_off(cells, labels)
    return {
        "datasets": [
            {"name": name, "title": title, "figure": f"../figures/datasets/{name}.png"}
            for name, title in titles.items()
        ],
        "metrics": [_metric(name) for name in metrics],
        "mechanisms": [
            _mechanism(name, label, kinds.get(name, {}), name not in hidden)
            for name, label in labels.items()
        ],
        "epsilon": float(next(iter(epsilons))),
        "cells": as_csv(cells, labels, titles, metrics),
    }


def _metric(name):
    """How a metric is drawn: linearly from 0, or on a logarithmic axis, with 0 on it if padded."""
    metric = METRICS[name]
    return {
        "name": name,
        "title": metric.title,
        "axis": plain_axis(name),
        "about": metric.about,
        "lift": int(metric.padded),
        "linear": not metric.padded and name != "linf_index",
    }


def plain_axis(metric):
    """The label of a metric's axis without TeX; the page shows errors as they are, not plus 1."""
    text = METRICS[metric].axis.replace("$", "").removesuffix(" + 1")
    return text.replace(r"\ell_\infty", "ℓ∞").replace(r"\ell_1", "ℓ₁")


def _mechanism(name, label, kind, on):
    style = mechanism_style(name)
    dashes = [] if style.dashes == "-" else style.dashes[1]
    return {
        "name": name,
        "label": label,
        "note": ", ".join(NOTES[word] for word in kind.values() if word in NOTES),
        "color": style.color,
        "dashes": " ".join(f"{part * LINE_WIDTH:g}" for part in dashes),
        "marker": style.marker if isinstance(style.marker, str) else "o",
        "on": on,
    }


def far_off(cells, labels):
    """Mechanisms that would squeeze all others into the foot of the chart."""
    best, factors = {}, {name: [] for name in labels}
    errors = {
        (name, metric): float(cell[metric][1]) + 1
        for name, cell in cells.items()
        for metric in ("linf", "k_relative")
        if metric in cell
    }
    for ((dataset, _, *place), metric), error in errors.items():
        group = dataset, *place, metric
        best[group] = min(error, best.get(group, error))
    for ((dataset, mechanism, *place), metric), error in errors.items():
        factors[mechanism].append(math.log(error / best[dataset, *place, metric]))
    return {
        name
        for name, logs in factors.items()
        if logs and math.fsum(logs) / len(logs) > math.log(FAR_OFF)
    }


def as_csv(cells, labels, titles, metrics):
    """A line for each cell with all its metrics, a fraction of what a list of records takes.

    A cell that was not run while others of its dataset were has a line without numbers: what is
    drawn is interrupted there.
    """
    columns = [f"{metric}_{quartile}" for metric in metrics for quartile in QUARTILES]
    lines = [["dataset", "mechanism", "epsilon", "k", "trials", *columns]]
    for dataset in titles:
        names = [name for name in cells if name[0] == dataset]
        epsilons, ks = (sorted({name[n] for name in names}, key=float) for n in (2, 3))
        for mechanism, epsilon, k in itertools.product(labels, epsilons, ks):
            cell = cells.get((dataset, mechanism, epsilon, k), {})
            lines.append([dataset, mechanism, epsilon, k, cell.get("trials", "")])
            for metric in metrics:
                lines[-1] += cell.get(metric, [""] * len(QUARTILES))
    return "\n".join(map(",".join, lines))
