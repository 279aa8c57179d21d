"""The explorer: one page on which people choose which errors they see. It works offline.

explorer.html is the page: its controls, its chart, and the script that draws it. Here it gets its
data. Nothing is loaded from anywhere; the page itself forbids it.
"""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd

from workflow.scripts.common import InputError, intact, written
from workflow.scripts.figures.style import mechanism_style
from workflow.scripts.results.tables import QUARTILES
from workflow.scripts.trials.metrics import METRICS

PAGE = Path(__file__).with_suffix(".html")
DECIMALS = 4  # more than anybody reads: errors are multiples of 1/4, recall is a share of k
LINE_WIDTH = 2  # pixels
COMPARED = ["dataset", "epsilon", "k"]  # mechanisms are, within these
FAR_OFF = 100  # times the smallest error, on the geometric mean: not shown at first
NOTES = {"approx": "(ε, δ)", "set": "set"}  # what must be known before lines are compared


def write_explorer(errors_csv, out_html, labels, titles, kinds):
    """Write the page of a table of errors; the same table gives the same bytes.

    labels, titles: {mechanism: label}, {dataset: title}, in order; others are left out.
    kinds: {mechanism: {"guarantee": ..., "output": ...}}.
    """
    errors = read_errors(errors_csv, labels, titles)
    if errors.empty:
        raise InputError(
            f"{errors_csv} has no row of a mechanism and a dataset that are shown; list one of its "
            "mechanisms under `mechanisms` and not under `hidden_mechanisms`"
        )
    content = page_data(errors, labels, titles, kinds)
    # The data can neither end the script in which it stands, nor begin another.
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    with written(out_html) as file:
        file.write(PAGE.read_text(encoding="utf-8").replace("DATA", text, 1))


def read_errors(path, labels, titles):
    """The rows that are shown."""
    rows = pd.read_csv(intact(path), keep_default_na=False)  # a dataset may be called nan
    return rows[rows["mechanism"].isin(labels) & rows["dataset"].isin(titles)]


def page_data(errors, labels, titles, kinds):
    """What the script of the page draws from, without what no row has."""
    used = {column: set(errors[column]) for column in ("dataset", "mechanism", "metric")}
    hidden = far_off(errors)
    return {
        "datasets": [
            {"name": name, "title": title, "figure": f"../figures/datasets/{name}.png"}
            for name, title in titles.items()
            if name in used["dataset"]
        ],
        "metrics": [
            {
                "name": name,
                "title": metric.title,
                "axis": plain_axis(metric.axis),
                "about": metric.about,
                # Drawn linearly from 0, or on a logarithmic axis, which has a 0 if lifted by 1.
                "lift": int(metric.padded),
                "linear": not metric.padded and name != "linf_index",
            }
            for name, metric in METRICS.items()
            if name in used["metric"]
        ],
        "mechanisms": [
            {
                "name": name,
                "label": label,
                "note": ", ".join(NOTES[word] for word in kinds[name].values() if word in NOTES),
                **style_of(name),
                "on": name not in hidden,
            }
            for name, label in labels.items()
            if name in used["mechanism"]
        ],
        "epsilon": float(errors["epsilon"].iloc[0]),
        "cells": as_csv(errors),
    }


def plain_axis(text):
    """The label of an axis without TeX; the page shows errors as they are, not plus 1."""
    text = text.replace("$", "").removesuffix(" + 1")
    return text.replace(r"\ell_\infty", "ℓ∞").replace(r"\ell_1", "ℓ₁")


def style_of(name):
    """The style of a mechanism in the words of the page."""
    style = mechanism_style(name)
    dashes = [] if style.dashes == "-" else style.dashes[1]
    return {
        "color": style.color,
        "dashes": " ".join(f"{part * LINE_WIDTH:g}" for part in dashes),
        "marker": style.marker if isinstance(style.marker, str) else "o",
    }


def far_off(errors):
    """Mechanisms that would squeeze all others into the foot of the chart."""
    rows = errors[errors["metric"].isin(("linf", "k_relative"))]
    padded = rows["median"] + 1
    best = padded.groupby([rows[column] for column in (*COMPARED, "metric")]).transform("min")
    means = np.log(padded / best).groupby(rows["mechanism"]).mean()
    return set(means.index[means > math.log(FAR_OFF)])


def as_csv(errors):
    """A line for each cell with all its metrics, a fraction of what a list of records takes.

    A cell that was not run while others of its dataset, epsilon and k were has a line without
    numbers: what is drawn is interrupted there.
    """
    wide = errors.pivot(index=[*COMPARED, "mechanism"], columns="metric", values=list(QUARTILES))
    wide.columns = [f"{metric}_{quartile}" for quartile, metric in wide.columns]
    wide.insert(0, "trials", errors.groupby(wide.index.names)["trials"].first())
    wide = wide.unstack("mechanism").stack("mechanism", future_stack=True).round(DECIMALS)
    return wide.reset_index().to_csv(index=False, float_format="%.12g", lineterminator="\n")[:-1]
