"""Draw figures from tables; catalogue.py says which and of what.

A figure function takes tables (columns.Table) and plain arguments and returns a Matplotlib
Figure. Two arguments are everywhere:

titles  {dataset: title}, in the order of the panels
labels  {mechanism: label}, in the order of the legend; others are left out
"""

import numpy as np

from workflow.scripts.data.describe import rows_of_gaps, rows_of_histograms
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.figures import notes, ranking
from workflow.scripts.figures.columns import Table, read
from workflow.scripts.figures.panels import (
    OF_ONE_ITEM,
    errors_panel,
    gaps_panel,
    histogram_panel,
    k_axes,
    log_axis,
    log_axis_at,
    times_panel,
)
from workflow.scripts.figures.sheet import Sheet
from workflow.scripts.figures.style import mechanism_style, save, save_page, styled
from workflow.scripts.trials.metrics import METRICS

OF_THE_PAPER = ("linf", "l1", "k_relative", "linf_index", "recall")


def draw(name, entry, png, pdf, page):
    """Draw one figure of the catalogue from its files, save it and return it."""
    tables, given = dict(entry["tables"]), dict(entry["shows"])
    if "counts" in tables:
        given["profile"] = read_profile(tables.pop("counts"), tables.pop("facts"))
    given |= {argument: read(path) for argument, path in tables.items()}
    figure = function_of(name)(**given)
    save(figure, png, pdf)
    save_page(name, entry["caption"], png, page)
    return figure


def function_of(name):
    """The function that draws a figure."""
    return dataset_page if name.startswith("datasets/") else FIGURES[name]


@styled()
def gaps_and_errors(errors, missing, gaps, *, titles, labels, epsilon, delta, ks, unresolved):
    """A row for each dataset: gaps between its top counts, linf and l1 error."""
    errors, missing = errors.at(epsilon=epsilon), missing.at(epsilon=epsilon)
    ks = run(errors, ks)
    gaps = gaps.where(gaps["k"] <= max(ks))
    sheet = Sheet(3 * len(titles), 3, height=1.15)
    for row, dataset in enumerate(titles):
        left, *right = sheet.axes[3 * row : 3 * row + 3]
        gaps_panel(left, gaps.at(dataset=dataset), unresolved.get(dataset, 0))
        draw_errors(right, ("linf", "l1"), errors, missing, labels, dataset, unresolved)
    sheet.set_titles([name for name in titles.values() for _ in range(3)])
    k_axes(sheet.axes[0::3], [1, *ks])
    k_axes(sheet.axes[1::3] + sheet.axes[2::3], ks)
    sheet.outer_x_only()
    about = notes.of_errors(errors, missing, titles, labels, epsilon, delta, unresolved)
    return sheet.finish(labels, about)


@styled()
def error_grid(errors, missing, *, titles, labels, epsilon, delta, ks, metric, unresolved):
    """One error metric against k, a panel for each dataset."""
    errors, missing = (table.at(epsilon=epsilon, k=ks) for table in (errors, missing))
    columns = 2 if len(titles) in (2, 4) else 3
    sheet = Sheet(len(titles), columns, height=1.45 if columns == 2 else 1.3)
    for axis, dataset in zip(sheet.axes, titles, strict=True):
        draw_errors([axis], [metric], errors, missing, labels, dataset, unresolved)
    sheet.set_titles(titles.values())
    k_axes(sheet.axes, run(errors, ks))
    sheet.outer_x_only()
    unresolved = unresolved if metric in OF_ONE_ITEM else {}
    about = notes.of_errors(errors, missing, titles, labels, epsilon, delta, unresolved)
    about += "\nIndex 1 also where there is no error." * (metric == "linf_index")
    return sheet.finish(labels, about)


def draw_errors(axes, metrics, errors, missing, labels, dataset, unresolved, x="k"):
    """The panels of some metrics on one dataset."""
    own, holes = errors.at(dataset=dataset), missing.at(dataset=dataset)
    for axis, metric in zip(axes, metrics, strict=True):
        errors_panel(axis, own, metric, labels, x, holes, unresolved.get(dataset, 0))


@styled()
def time_against_k(timing, *, titles, labels):
    """Seconds for one call against k, on the one dataset that was timed."""
    ((dataset, name),) = titles.items()
    timing = timing.at(dataset=dataset)
    sheet = Sheet(1, 1, height=1.9)
    times_panel(sheet.axes[0], timing, labels, "k")
    sheet.set_titles([name])
    k_axes(sheet.axes, timing["k"])
    published = [name for name in labels if mechanism_style(name).hollow]
    return sheet.finish(labels, notes.of_times(timing, labels, published))


@styled()
def histogram_grid(histograms, *, titles, modelled):
    """How many items have which count, a panel for each dataset."""
    sheet = Sheet(len(titles), 3, height=1.2)
    for axis, dataset in zip(sheet.axes, titles, strict=True):
        histogram_panel(axis, histograms.at(dataset=dataset), modelled.get(dataset, 0))
    sheet.set_titles(titles.values())
    return sheet.finish(note=notes.of_modelled(titles, modelled))


@styled()
def all_metrics(errors, missing, *, titles, labels, epsilon, delta, ks, unresolved):
    """The three errors of the paper's definition on one dataset."""
    ((dataset, name),) = titles.items()
    errors, missing = (table.at(dataset=dataset, epsilon=epsilon) for table in (errors, missing))
    metrics = OF_THE_PAPER[:3]
    sheet = Sheet(len(metrics), len(metrics), height=1.5)
    sheet.set_headline(name)
    draw_errors(sheet.axes, metrics, errors, missing, labels, dataset, unresolved)
    sheet.set_titles(METRICS[metric].title for metric in metrics)
    k_axes(sheet.axes, run(errors, ks))
    about = notes.of_errors(errors, missing, titles, labels, epsilon, delta, unresolved)
    return sheet.finish(labels, about)


@styled()
def dataset_page(
    errors, missing, profile, *, titles, labels, epsilon, delta, ks, unresolved, modelled,
    winners=None, epsilons=(), limits=None,
):  # fmt: skip
    """All about one dataset: histogram, gaps, every metric of every mechanism, who wins where."""
    ((dataset, name),) = titles.items()
    errors, missing = errors.at(epsilon=epsilon), missing.at(epsilon=epsilon)
    ks = run(errors, ks)
    own = [profile], [{"dataset": dataset}]
    gaps = Table.of(rows_of_gaps(*own, [int(max(ks))], beyond=0))
    bins = Table.of(rows_of_histograms(*own))
    maps = list(ranking.MAPS.values()) if winners else []
    sheet = Sheet(2 + len(OF_THE_PAPER) + len(maps), 3, height=1.3)
    sheet.set_headline(name)
    histogram, gap, *rest = sheet.axes
    rest, last = rest[: len(OF_THE_PAPER)], rest[len(OF_THE_PAPER) :]
    histogram_panel(histogram, bins, modelled.get(dataset, 0))
    gaps_panel(gap, gaps, unresolved.get(dataset, 0))
    draw_errors(rest, OF_THE_PAPER, errors, missing, labels, dataset, unresolved)
    heads = [METRICS[metric].title for metric in OF_THE_PAPER]
    sheet.set_titles(["Item counts", "Gaps at the top", *heads, *maps])
    k_axes([gap], [1, *ks])
    k_axes(rest, ks)
    said = [
        notes.of_errors(errors, missing, titles, labels, epsilon, delta, unresolved),
        notes.of_modelled(titles, modelled),
    ]
    if winners:
        every_k = sorted({*ks, *winners["k"].tolist()})
        ranking.winners_panels(iter(last), winners, labels, every_k, epsilons, limits)
        said += [*notes.of_winners(winners, limits), ranking.key(labels)]
    return sheet.finish(labels, "\n".join(filter(None, said)))


@styled()
def errors_against_epsilon(errors, missing, *, titles, labels, delta, k):
    """A row for each dataset: linf and l1 error against epsilon at one k."""
    errors, missing = errors.at(k=k), missing.at(k=k)
    sheet = Sheet(2 * len(titles), 2, height=1.15)
    for row, dataset in enumerate(titles):
        axes = sheet.axes[2 * row : 2 * row + 2]
        draw_errors(axes, ("linf", "l1"), errors, missing, labels, dataset, {}, "epsilon")
    sheet.set_titles([name for name in titles.values() for _ in range(2)])
    for axis in sheet.axes:
        axis.set_xlabel(r"$\varepsilon$")
        log_axis_at(axis.xaxis, np.concatenate([errors["epsilon"], missing["epsilon"]]))
    sheet.outer_x_only()
    left_out = notes.of_missing(errors, missing, titles, labels, x="epsilon")
    first = f"{notes.of_samples(errors)} $k$ = {k}. {notes.of_delta(delta)}"
    return sheet.finish(labels, "\n".join([first, *left_out]))


@styled()
def scaling_panels(scaling, *, labels):
    """Seconds for one call against the number of items, and against k."""
    sheet = Sheet(2, 2, height=1.7)
    by_d, by_k = scaling.at(sweep="d"), scaling.at(sweep="k")
    times_panel(sheet.axes[0], by_d, labels, "d")
    times_panel(sheet.axes[1], by_k, labels, "k")
    sheet.axes[0].set_xlabel("number of items $d$")
    log_axis(sheet.axes[0].xaxis, by_d["d"])
    sheet.axes[1].set_xlabel("number of selected items $k$")
    log_axis_at(sheet.axes[1].xaxis, by_k["k"])
    sheet.set_titles([f"k = {by_d['k'][0]:,.0f}", f"d = {by_k['d'][0]:,.0f}"])
    return sheet.finish(labels, notes.of_samples(scaling, "calls", "calls"))


def run(errors, ks):
    """The k that have results, which may be fewer than the config has."""
    return errors["k"].tolist() or ks


FIGURES = {
    "figure-1-gaps-and-errors": gaps_and_errors,
    "figure-2-linf-index": error_grid,
    "figure-3-time": time_against_k,
    "figure-4-histograms": histogram_grid,
    "figure-5-k-relative": error_grid,
    "figure-6-all-mechanisms": all_metrics,
    "figure-7-pnf-joint": error_grid,
    "error-against-epsilon": errors_against_epsilon,
    "scaling": scaling_panels,
    "rivals": ranking.rivals,
    "winners": ranking.winner_maps,
    "epsilon-needed": ranking.epsilon_needed,
    "contributions": ranking.against_contributions,
    "joint-and-pair": ranking.errors_by_dataset,
    "no-list": ranking.errors_by_dataset,
    "no-list-small-epsilon": ranking.errors_by_dataset,
}
