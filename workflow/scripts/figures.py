"""Draw the figures from results/*.csv alone.

A figure function takes tables (as in results/) and plain arguments and returns a Matplotlib
Figure; `style.save` writes it. Two arguments are everywhere:

titles  {dataset: title}, in the order of the panels
labels  {mechanism: label}, in the order of the legend; others are left out
"""

import functools

import pandas as pd

from workflow.scripts.common import logged
from workflow.scripts.panels import (
    METRICS,
    errors_panel,
    gaps_panel,
    grid,
    histogram_panel,
    legend,
    linear_x,
    lines,
    log_axis,
    log_axis_at,
    outer_x_only,
    sample_note,
    set_headline,
    set_titles,
)
from workflow.scripts.style import save, styled

METRIC_TITLES = {
    "linf": "Largest error",
    "l1": "Sum of errors",
    "k_relative": "k-relative error",
    "linf_index": "Index of largest error",
}


@styled()
def gaps_and_errors(errors, gaps, *, titles, labels, epsilon):
    """A row for each dataset: gaps between its top counts, linf and l1 error."""
    errors = at(errors, epsilon=epsilon)
    gaps = gaps[gaps["k"] <= errors["k"].max()]
    figure, axes = grid(3 * len(titles), 3, row_height=1.35)
    for row, dataset in enumerate(titles):
        own = at(errors, dataset=dataset)
        left, middle, right = axes[3 * row : 3 * row + 3]
        gaps_panel(left, at(gaps, dataset=dataset))
        errors_panel(middle, own, "linf", labels)
        errors_panel(right, own, "l1", labels)
    set_titles(axes, [name for name in titles.values() for _ in range(3)])
    k_axes(axes, [1, *errors["k"]])
    outer_x_only(axes, 3)
    legend(figure, labels, error_note(errors, epsilon))
    return figure


@styled()
def error_grid(errors, *, titles, labels, epsilon, metric, max_k=None):
    """One error metric against k, a panel for each dataset."""
    errors = at(errors, epsilon=epsilon)
    if max_k is not None:
        errors = errors[errors["k"] <= max_k]
    columns = 2 if len(titles) in (2, 4) else 3
    figure, axes = grid(len(titles), columns, row_height=1.8 if columns == 2 else 1.65)
    for axis, dataset in zip(axes, titles, strict=True):
        errors_panel(axis, at(errors, dataset=dataset), metric, labels)
    set_titles(axes, titles.values())
    k_axes(axes, errors["k"])
    outer_x_only(axes, columns)
    legend(figure, labels, error_note(errors, epsilon))
    return figure


@styled()
def time_against_k(timing, *, titles, labels):
    """Seconds for one call against k, on the one dataset that was timed."""
    ((dataset, name),) = titles.items()
    timing = at(timing, dataset=dataset)
    figure, axes = grid(1, 1, row_height=2.0)
    lines(axes[0], timing, labels)
    axes[0].set_ylabel("seconds for one call")
    set_titles(axes, [name])
    k_axes(axes, timing["k"])
    legend(figure, labels, time_note(timing, labels))
    return figure


def time_note(timing, labels):
    """What was timed, and which mechanisms were timed at fewer k than the others."""
    note = [sample_note(timing, "calls") + f" $\\varepsilon = {timing['epsilon'].iloc[0]:g}$"]
    ks = timing.groupby("mechanism")["k"].nunique()
    for mechanism, label in labels.items():
        if mechanism in ks and ks[mechanism] < ks.max():
            note.append(f"{label}: timed at {ks[mechanism]} of the {ks.max()} k (markers).")
    return "\n".join(note)


@styled()
def histogram_grid(histograms, *, titles):
    """How many items have which count, a panel for each dataset."""
    figure, axes = grid(len(titles), 3, row_height=1.65)
    for axis, dataset in zip(axes, titles, strict=True):
        histogram_panel(axis, at(histograms, dataset=dataset))
    set_titles(axes, titles.values())
    return figure


@styled()
def all_metrics(errors, *, titles, labels, epsilon):
    """Every error metric on one dataset."""
    ((dataset, name),) = titles.items()
    errors = at(errors, dataset=dataset, epsilon=epsilon)
    figure, axes = grid(len(METRICS), 2, row_height=1.75)
    set_headline(figure, name)
    for axis, metric in zip(axes, METRICS, strict=True):
        errors_panel(axis, errors, metric, labels)
    set_titles(axes, METRIC_TITLES.values())
    k_axes(axes, errors["k"])
    outer_x_only(axes, 2)
    legend(figure, labels, error_note(errors, epsilon))
    return figure


@styled()
def dataset_panels(errors, gaps, histograms, *, titles, labels, epsilon):
    """All about one dataset: histogram, gaps, every error metric of every mechanism."""
    ((dataset, name),) = titles.items()
    errors = at(errors, dataset=dataset, epsilon=epsilon)
    gaps = at(gaps, dataset=dataset)
    figure, axes = grid(2 + len(METRICS), 3, row_height=1.75)
    set_headline(figure, name)
    histogram, gap, *rest = axes
    histogram_panel(histogram, at(histograms, dataset=dataset))
    gaps_panel(gap, gaps[gaps["k"] <= errors["k"].max()])
    for axis, metric in zip(rest, METRICS, strict=True):
        errors_panel(axis, errors, metric, labels)
    set_titles(axes, ["Item counts", "Gaps at the top", *METRIC_TITLES.values()])
    k_axes([gap, *rest], [1, *errors["k"]])
    legend(figure, labels, error_note(errors, epsilon))
    return figure


@styled()
def errors_against_epsilon(errors, *, titles, labels, k):
    """A row for each dataset: linf and l1 error against epsilon at one k."""
    errors = at(errors, k=k)
    figure, axes = grid(2 * len(titles), 2, row_height=1.35)
    for row, dataset in enumerate(titles):
        for axis, metric in zip(axes[2 * row : 2 * row + 2], ("linf", "l1"), strict=True):
            errors_panel(axis, at(errors, dataset=dataset), metric, labels, x="epsilon")
    set_titles(axes, [name for name in titles.values() for _ in range(2)])
    for axis in axes:
        axis.set_xlabel(r"$\varepsilon$")
        log_axis_at(axis.xaxis, errors["epsilon"])
    outer_x_only(axes, 2)
    legend(figure, labels, f"{sample_note(errors)} $k = {k}$")
    return figure


@styled()
def scaling_panels(scaling, *, labels):
    """Seconds for one call against the number of items, and against k."""
    figure, axes = grid(2, 2, row_height=2.0)
    by_d, by_k = at(scaling, sweep="d"), at(scaling, sweep="k")
    for axis, sweep, own in zip(axes, "dk", (by_d, by_k), strict=True):
        lines(axis, quartiles(own, sweep), labels, x=sweep)
        axis.set_ylabel("seconds for one call")
    axes[0].set_xlabel("number of items $d$")
    log_axis(axes[0].xaxis, by_d["d"])
    axes[1].set_xlabel("number of selected items $k$")
    log_axis_at(axes[1].xaxis, by_k["k"])
    set_titles(axes, [f"k = {by_d['k'].iloc[0]:,}", f"d = {by_k['d'].iloc[0]:,}"])
    repeats = scaling["repeat"].nunique()
    legend(figure, labels, f"Line: median of {repeats} calls. Band: quartiles.")
    return figure


def quartiles(scaling, sweep):
    """The quartiles of the repeated measurements of one sweep."""
    seconds = scaling.groupby(["mechanism", sweep])["seconds"]
    table = seconds.quantile([0.25, 0.5, 0.75]).unstack()
    return table.set_axis(["q25", "median", "q75"], axis="columns").reset_index()


def k_axes(axes, ks):
    """The same k axis on every panel."""
    for axis in axes:
        axis.set_xlabel("$k$")
        linear_x(axis, ks)


def error_note(errors, epsilon):
    """What the lines of an error figure show."""
    return f"{sample_note(errors)} $\\varepsilon = {epsilon:g}$"


def at(table, **values):
    """The rows in which each named column has the given value."""
    for column, value in values.items():
        table = table[table[column] == value]
    return table


def dataset_titles(datasets, names):
    """How figures call each dataset; a stand-in says so."""
    facts = datasets.set_index("dataset").loc[list(names)]
    marks = facts["status"].map({"stand-in": " (stand-in)"}).fillna("")
    return dict(zip(names, facts["title"] + marks, strict=True))


def read(path):
    """A results table; names stay text, even a dataset called `null`."""
    text = dict.fromkeys(("dataset", "title", "status", "mechanism"), str)
    return pd.read_csv(path, dtype=text, keep_default_na=False)


TABLES = ("errors", "gaps", "histograms", "timing", "scaling", "datasets")

FIGURES = {
    "figure-1-gaps-and-errors": gaps_and_errors,
    "figure-2-linf-index": functools.partial(error_grid, metric="linf_index"),
    "figure-3-time": time_against_k,
    "figure-4-histograms": histogram_grid,
    "figure-5-k-relative": functools.partial(error_grid, metric="k_relative"),
    "figure-6-all-mechanisms": all_metrics,
    "figure-7-pnf-joint": functools.partial(error_grid, metric="linf"),
    "dataset": dataset_panels,
    "error-against-epsilon": errors_against_epsilon,
    "scaling": scaling_panels,
}


def main(figure, tables, png, pdf, *, datasets=(), mechanisms=(), labels=None, **options):
    """Draw one of FIGURES from CSV files, save it and return it.

    `tables` maps the names of a figure function's tables to paths, and `datasets` to
    results/datasets.csv where the figure has titles. `datasets` and `mechanisms` list what to
    show, in order; `labels` has the label of each mechanism. `options` go to the function.
    """
    tables = {name: read(path) for name, path in tables.items()}
    if datasets:
        options["titles"] = dataset_titles(tables.pop("datasets"), datasets)
    if "epsilon" in options:
        options["epsilon"] = float(options["epsilon"])
    if mechanisms:
        options["labels"] = {name: labels[name] for name in mechanisms}
    drawn = FIGURES[figure](**tables, **options)
    save(drawn, png, pdf)
    return drawn


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        main(
            snakemake.params.draws,
            tables={name: path for name, path in snakemake.input.items() if name in TABLES},
            png=snakemake.output.png,
            pdf=snakemake.output.pdf,
            **snakemake.params.shows,
        )
