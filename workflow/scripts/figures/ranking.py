"""Figures that compare many mechanisms at many epsilons; arguments as in drawing.py, and

approximate  the mechanisms that guarantee (epsilon, delta)-DP; the others guarantee epsilon-DP
"""

import numpy as np

from workflow.scripts.figures import notes
from workflow.scripts.figures.columns import Table
from workflow.scripts.figures.maps import needed_panel, scale, winners_panel
from workflow.scripts.figures.panels import errors_panel, k_axes, lines, log_axis, share_axis
from workflow.scripts.figures.sheet import Sheet
from workflow.scripts.figures.style import look, styled
from workflow.scripts.trials.metrics import METRICS

# The maps of winners: what is compared, by which metric.
MAPS = {
    ("pure", "sequence", "linf"): "Sequences, \u03b5-DP",
    ("approx", "sequence", "linf"): "Sequences, (\u03b5, \u03b4)-DP",
    ("pure", "set", "recall"): "Sets, \u03b5-DP",
    ("approx", "set", "recall"): "Sets, (\u03b5, \u03b4)-DP",
}
PERFECT = {"linf": 0, "recall": 1}


@styled()
def errors_by_dataset(errors, missing, *, titles, labels, approximate, ks, columns):
    """A row for each dataset, a column for each (metric, epsilon) of `columns`, against k."""
    sheet = Sheet(len(columns) * len(titles), len(columns), height=1.2)
    panels = [(dataset, *column) for dataset in titles for column in columns]
    shown = errors.at(epsilon=[epsilon for _, epsilon in columns], mechanism=list(labels))
    for axis, (dataset, metric, epsilon) in zip(sheet.axes, panels, strict=True):
        own, holes = (t.at(dataset=dataset, epsilon=epsilon) for t in (errors, missing))
        errors_panel(axis, own, metric, labels, missing=holes)
    sheet.set_titles(titles[dataset] for dataset, _, _ in panels)
    several = len({epsilon for _, epsilon in columns}) > 1
    if several:
        sheet.set_heads(f"$\\varepsilon$ = {epsilon:g}" for _, epsilon in columns)
    k_axes(sheet.axes, shown["k"].tolist() or ks)
    sheet.outer_x_only()
    note = notes.of_samples(shown) + ("" if several else f" $\\varepsilon$ = {columns[0][1]:g}")
    said = [
        f"At \u03b5 = {epsilon:g}, {sentence}" if several else sentence
        for epsilon in dict.fromkeys(epsilon for _, epsilon in columns)
        for sentence in notes.of_missing(
            errors.at(epsilon=epsilon), missing.at(epsilon=epsilon), titles, labels
        )
    ]
    return sheet.finish(labels, _noted(note, notes.of_guarantees(labels, approximate), *said[:4]))


@styled()
def winner_maps(winners, *, titles, labels, ks, epsilons, limits):
    """A row for each dataset: who wins at each k and epsilon, in four groups."""
    sheet = Sheet(len(MAPS) * len(titles), len(MAPS), height=0.85)
    panels = iter(sheet.axes)
    for dataset in titles:
        winners_panels(panels, winners.at(dataset=dataset), ks, epsilons)
    sheet.set_titles(name for name in titles.values() for _ in MAPS)
    sheet.set_heads(MAPS.values())
    sheet.outer_x_only()
    found = _in_maps(winners)
    second = [tied.split()[0] for tied in found["tied_with"].tolist() if tied]
    seen = {*found["winner"].tolist(), *second}
    for name in labels:
        if name in seen:
            style = look(name) | {"linestyle": "-", "linewidth": 5.5, "markersize": 4.2}
            style |= {"markerfacecolor": "white", "markeredgecolor": "#333333"}
            sheet.axes[0].plot([], [], label=labels[name], **style)
    return sheet.finish(labels, _noted(*notes.of_winners(found), *limits))


def winners_panels(axes, winners, ks, epsilons):
    """The four maps of one dataset, on the next four of `axes`."""
    for (guarantee, output, metric), axis in zip(MAPS, axes, strict=False):
        own = winners.at(guarantee=guarantee, output=output, metric=metric)
        winners_panel(axis, own, ks, sorted(epsilons))


def _in_maps(winners):
    chosen = np.zeros(winners.size, dtype=bool)
    for guarantee, output, metric in MAPS:
        chosen |= (
            (winners["guarantee"] == guarantee)
            & (winners["output"] == output)
            & (winners["metric"] == metric)
        )
    return winners.where(chosen)


@styled()
def epsilon_needed(errors, *, titles, labels, approximate, ks, epsilons, limits):
    """The smallest epsilon at which the median selection is perfect: as sequence, and as set."""
    pure = [name for name in labels if name not in approximate]
    ordered = {name: labels[name] for name in [*pure, *approximate]}
    sheet = Sheet(2 * len(titles), 2, height=0.115 * len(labels), left=0.78)
    panels = [(dataset, metric) for dataset in titles for metric in PERFECT]
    for axis, (dataset, metric) in zip(sheet.axes, panels, strict=True):
        own = errors.at(dataset=dataset, metric=metric, mechanism=list(labels), epsilon=epsilons)
        needed_panel(axis, needed(own, PERFECT[metric]), ks, ordered, epsilons)
        if pure and approximate:
            axis.axhline(len(approximate), color="#333333", linewidth=0.9)
    sheet.set_titles(titles[dataset] for dataset, _ in panels)
    sheet.set_heads(["Perfect sequence (median $\\ell_\\infty$ error 0)", "Perfect set (recall 1)"])
    sheet.outer_x_only()
    keys = {epsilon: f"\u03b5 = {epsilon:g}" for epsilon in sorted(epsilons)}
    for epsilon, color in scale(epsilons).items():
        sheet.axes[0].plot([], [], "s", color=color, markersize=6, label=keys[epsilon])
    keys["never"] = f"not at \u03b5 \u2264 {max(epsilons):g}"
    sheet.axes[0].plot([], [], "x", color="#888888", markersize=4, label=keys["never"])
    line = "Above the line: \u03b5-DP; below: (\u03b5, \u03b4)-DP." if pure and approximate else ""
    first = f"Smallest of the {len(epsilons)} \u03b5 at which the median trial is perfect."
    return sheet.finish(keys, _noted(f"{first} Blank: not run. {line}", *limits))


def needed(errors, perfect):
    """{(mechanism, k): smallest epsilon with that median; infinite if there is none}."""
    found = {}
    for name, k, epsilon, median in zip(
        *(errors[column].tolist() for column in ("mechanism", "k", "epsilon", "median")),
        strict=True,
    ):
        this = epsilon if median == perfect else np.inf
        found[name, k] = min(found.get((name, k), np.inf), this)
    return found


@styled()
def against_contributions(errors, *, titles, labels, approximate, epsilon, ks, bounded):
    """Error against c, the number of items that a user contributes to, at some k.

    bounded: {mechanism: [[c, its name with that bound], ...]}; the others cannot use c.
    """
    errors = errors.at(epsilon=epsilon)
    places = list(dict.fromkeys(c for pairs in bounded.values() for c, _ in pairs))
    columns = [(metric, k) for metric in PERFECT for k in ks]
    sheet = Sheet(len(columns) * len(titles), len(columns), height=1.15)
    panels = [(dataset, *column) for dataset in titles for column in columns]
    for axis, (dataset, metric, k) in zip(sheet.axes, panels, strict=True):
        own = errors.at(dataset=dataset, metric=metric, k=k)
        pad = int(METRICS[metric].padded)
        levels(axis, own, [name for name in labels if name not in bounded], labels, places, pad)
        curves = along(own, bounded, places)
        lines(axis, curves, {name: labels[name] for name in bounded}, "place", pad)
        axis.set(xlabel="$c$", ylabel=METRICS[metric].axis, xlim=(-0.35, len(places) - 0.65))
        axis.set_xticks(range(len(places)), _sparse(places))
        drawn = [y for line in axis.lines for y in line.get_ydata()]
        if metric == "recall":
            share_axis(axis.yaxis)
        elif drawn:
            log_axis(axis.yaxis, [*drawn, *curves["q25"] + pad, *curves["q75"] + pad])
    sheet.set_titles(titles[dataset] for dataset, _, _ in panels)
    sheet.set_heads(f"$k$ = {k}" for _, k in columns)
    sheet.outer_x_only()
    note = (
        f"{notes.of_samples(errors)} $\\varepsilon$ = {epsilon:g}. "
        "A user contributes to at most $c$ items. Level lines: mechanisms that cannot use that."
    )
    return sheet.finish(labels, _noted(note, notes.of_guarantees(labels, approximate)))


def levels(axis, rows, names, labels, places, pad):
    """The medians of mechanisms that are the same for every c."""
    for number, name in enumerate(names):
        own = rows.at(mechanism=name)
        if own.size:
            mark = [(2 * number + 1) % len(places)]
            y = np.full(len(places), own["median"][0] + pad)
            style = look(name) | {"linewidth": 0.9}
            axis.plot(range(len(places)), y, label=labels[name], markevery=mark, **style)


def along(rows, bounded, places):
    """The rows of mechanisms with a bound, as rows of the mechanism at the place of the bound."""
    found = {"mechanism": [], "place": [], "q25": [], "median": [], "q75": []}
    for name, pairs in bounded.items():
        for c, variant in pairs:
            own = rows.at(mechanism=variant)
            if own.size:
                found["mechanism"].append(name)
                found["place"].append(places.index(c))
                for column in ("q25", "median", "q75"):
                    found[column].append(own[column][0])
    text = {"mechanism": str}
    return Table((column, np.array(v, text.get(column, float))) for column, v in found.items())


def _sparse(places):
    """Names for every second place and for the last, with room between them."""
    last = len(places) - 1
    return [
        str(c) if i == last or (i % 2 == 0 and i < last - 1) else "" for i, c in enumerate(places)
    ]


def _noted(*sentences):
    return "\n".join(filter(None, sentences))
