"""Draw figures from tables; catalogue.py says which and of what.

A figure function takes tables (columns.Table) and plain arguments and returns a Matplotlib
Figure. These arguments are everywhere:

titles    {dataset: title}, in the order of the panels
labels    {mechanism: label}, in the order of the legend; others are left out
ks        all k of the config that the figure shows
epsilons  the epsilons that it shows
"""

import itertools

import numpy as np

from workflow.scripts.data.describe import rows_of_gaps, rows_of_histograms
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.figures import notes, panels, ranking
from workflow.scripts.figures.columns import Table, read
from workflow.scripts.figures.sheet import Sheet, by_dataset
from workflow.scripts.figures.style import mechanism_style, save, save_page, styled
from workflow.scripts.trials.metrics import METRICS


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
    return styled()(one_dataset if name.startswith("datasets/") else FIGURES[name])


def errors_by_dataset(
    errors, missing, gaps=None, *, titles, labels, delta, metrics, epsilons, ks, unresolved, x="k"
):
    """A row for each dataset: a panel for each metric (or `gap`) and epsilon, against k.

    With x="epsilon": a panel for each metric and k, against epsilon. A single column is broken
    into several. unresolved: {dataset: how large a difference of counts must be to be known}.
    """
    errors, missing = (
        table.at(mechanism=list(labels), k=ks, epsilon=epsilons) for table in (errors, missing)
    )
    fixed, values, xs = ("epsilon", epsilons, ks) if x == "k" else ("k", ks, epsilons)
    xs = errors[x].tolist() or xs
    columns = list(itertools.product(metrics, values))
    across, height = len(columns), 1.15 if gaps or x == "epsilon" else 1.2
    if across == 1:
        across, height = (2, 1.45) if len(titles) in (2, 4) else (3, 1.3)
    heads = [f"\u03b5 = {value:g}" for _, value in columns] if len(values) > 1 else ()
    sheet, grid = by_dataset(titles, columns, height, across, heads=heads)
    for axis, dataset, (metric, value) in grid:
        width = unresolved.get(dataset, 0)
        if metric == "gap":
            panels.of_gaps(axis, gaps.at(dataset=dataset), xs, width)
        else:
            tables = (table.at(dataset=dataset, **{fixed: value}) for table in (errors, missing))
            panels.of_errors(axis, *tables, labels, metric, xs, x, width)
    said = notes.of_errors(errors, missing, titles, labels, delta, unresolved, **{fixed: values})
    index = "An index of 1 also stands for no error." if "linf_index" in metrics else ""
    return sheet.finish(labels, *said, index)


def one_dataset(
    errors,
    missing,
    profile=None,
    winners=None,
    *,
    titles,
    labels,
    delta,
    metrics,
    epsilons,
    ks,
    unresolved,
    modelled=None,
    limits=None,
):
    """Errors on one dataset at the first epsilon; with more tables, all about it.

    These are the profile, for a histogram and gaps, and the winners at all epsilons.
    """
    ((dataset, name),) = titles.items()
    ks = np.unique(errors["k"]).tolist() or ks
    width, shown = unresolved.get(dataset, 0), {}  # head: (function of an axis, its arguments)
    if profile:
        given = [profile], [{"dataset": dataset}]
        gaps, bins = rows_of_gaps(*given, [int(max(ks))], beyond=0), rows_of_histograms(*given)
        shown["Item counts"] = panels.of_histogram, Table.of(bins), modelled.get(dataset, 0)
        shown["Gaps at the top"] = panels.of_gaps, Table.of(gaps), ks, width
    tables = [table.at(dataset=dataset, epsilon=epsilons[0]) for table in (errors, missing)]
    for metric in metrics:
        shown[METRICS[metric].title] = panels.of_errors, *tables, labels, metric, ks, "k", width
    said = notes.of_errors(*tables, titles, labels, delta, unresolved, epsilon=epsilons[:1])
    said.append(notes.of_modelled(titles, modelled or {}))
    if winners:
        for group in ranking.MAPS:
            shown[group] = ranking.winners_map, winners, group, labels, ks, epsilons, limits
        said += [*ranking.about_winners(winners, limits), ranking.key(labels)]
    sheet = Sheet(shown, 3, height=1.3 if profile else 1.5, headline=name, one_x=False)
    for axis, (panel, *given) in zip(sheet.axes, shown.values(), strict=True):
        panel(axis, *given)
    return sheet.finish(labels, *said)


def time_against_k(timing_summary, *, titles, labels):
    """Seconds for one call against k, on the one dataset that was timed."""
    timed = timing_summary.at(dataset=list(titles))
    sheet = Sheet(titles.values(), 1, height=1.9)
    panels.of_times(sheet.axes[0], timed, labels, "k")
    panels.k_axis(sheet.axes[0], timed["k"])
    published = [name for name in labels if mechanism_style(name).hollow]
    return sheet.finish(labels, *notes.of_times(timed, labels, published))


def scaling_panels(scaling, *, labels):
    """Seconds for one call against the number of items, and against k."""
    by_d, by_k = scaling.at(sweep="d"), scaling.at(sweep="k")
    titles = f"k = {by_d['k'][0]:,.0f}", f"d = {by_k['d'][0]:,.0f}"
    sheet = Sheet(titles, 2, height=1.7)
    panels.of_times(sheet.axes[0], by_d, labels, "d", "number of items $d$")
    panels.log_axis(sheet.axes[0].xaxis, by_d["d"])
    panels.of_times(sheet.axes[1], by_k, labels, "k", "number of selected items $k$")
    panels.log_axis_at(sheet.axes[1].xaxis, by_k["k"])
    return sheet.finish(labels, notes.of_samples(scaling, "calls", "calls"))


def histograms_by_dataset(histograms, *, titles, modelled):
    """How many items have which count, a panel for each dataset."""
    sheet = Sheet(titles.values(), 3, height=1.2, one_x=False)
    for axis, dataset in zip(sheet.axes, titles, strict=True):
        panels.of_histogram(axis, histograms.at(dataset=dataset), modelled.get(dataset, 0))
    return sheet.finish({}, notes.of_modelled(titles, modelled))


FIGURES = {
    "figure-1-gaps-and-errors": errors_by_dataset,
    "figure-2-linf-index": errors_by_dataset,
    "figure-3-time": time_against_k,
    "figure-4-histograms": histograms_by_dataset,
    "figure-5-k-relative": errors_by_dataset,
    "figure-6-all-mechanisms": one_dataset,
    "figure-7-pnf-joint": errors_by_dataset,
    "error-against-epsilon": errors_by_dataset,
    "scaling": scaling_panels,
    "rivals": ranking.rivals,
    "winners": ranking.winner_maps,
    "epsilon-needed": ranking.epsilon_needed,
    "contributions": ranking.against_contributions,
    "joint-and-pair": errors_by_dataset,
    "no-list": errors_by_dataset,
    "no-list-small-epsilon": errors_by_dataset,
}
