"""Figures that compare many mechanisms at many epsilons; arguments as in drawing.py, and

groups  {"pure": labels, "approx": labels} of the mechanisms with that guarantee
limits  {label: epsilons} of mechanisms that were run at some epsilons only
"""

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from workflow.scripts.figures import notes
from workflow.scripts.figures.columns import Table
from workflow.scripts.figures.panels import (
    HATCHED,
    ends_labelled,
    errors_panel,
    k_axes,
    lines,
    log_axis,
    missed_panel,
    remark,
)
from workflow.scripts.figures.sheet import Sheet
from workflow.scripts.figures.style import INK, mechanism_style, styled
from workflow.scripts.trials.metrics import METRICS

# The maps of winners: what is compared, by which metric.
MAPS = {
    ("pure", "sequence", "linf"): "Sequences, \u03b5-DP",
    ("approx", "sequence", "linf"): "Sequences, (\u03b5, \u03b4)-DP",
    ("pure", "set", "recall"): "Sets, \u03b5-DP",
    ("approx", "set", "recall"): "Sets, (\u03b5, \u03b4)-DP",
}
PERFECT = {"linf": 0, "recall": 1}
FEW = {"pure": 3, "approx": 2}  # mechanisms of each guarantee that the figure of rivals shows
MOST_KS = 10  # columns of a map of winners, so that a letter fits into a cell

# From dark, which needs least privacy loss, to light; they differ in lightness, for every eye.
SCALE = ("#22155B", "#3B4CA0", "#2E86B5", "#45B39B", "#9BD46A", "#F6E45B")


@styled()
def errors_by_dataset(errors, missing, *, titles, labels, delta, ks, columns):
    """A row for each dataset, a column for each (metric, epsilon) of `columns`, against k."""
    sheet = Sheet(len(columns) * len(titles), len(columns), height=1.2)
    panels = [(dataset, *column) for dataset in titles for column in columns]
    epsilons = list(dict.fromkeys(epsilon for _, epsilon in columns))
    shown = errors.at(epsilon=epsilons, mechanism=list(labels))
    for axis, (dataset, metric, epsilon) in zip(sheet.axes, panels, strict=True):
        own, holes = (t.at(dataset=dataset, epsilon=epsilon) for t in (errors, missing))
        if metric == "recall":
            missed_panel(axis, own, labels, holes)
        else:
            errors_panel(axis, own, metric, labels, missing=holes)
    sheet.set_titles(titles[dataset] for dataset, _, _ in panels)
    if len(epsilons) > 1:
        sheet.set_heads(f"\u03b5 = {epsilon:g}" for _, epsilon in columns)
    k_axes(sheet.axes, shown["k"].tolist() or ks)
    sheet.outer_x_only()
    several = len(epsilons) > 1
    privacy = notes.of_delta(delta) if several else notes.of_privacy(epsilons[0], delta)
    said = [
        f"At \u03b5 = {epsilon:g}, {sentence}" if several else sentence
        for epsilon in epsilons
        for sentence in notes.of_missing(
            errors.at(epsilon=epsilon), missing.at(epsilon=epsilon), titles, labels
        )
    ]
    return sheet.finish(labels, _noted(f"{notes.of_samples(shown)} {privacy}", *said[:4]))


# ---------------------------------------------------------------- the best few


@styled()
def rivals(errors, missing, *, titles, groups, delta, epsilon, ks):
    """A row for each dataset: error and share missed of the best mechanisms of each guarantee."""
    errors, missing = errors.at(epsilon=epsilon), missing.at(epsilon=epsilon)
    sheet = Sheet(2 * len(titles), 2, height=1.2, right=0.85)
    chosen = {
        metric: {
            name: label
            for guarantee, labels in groups.items()
            for name, label in best(errors.at(metric=metric), labels, FEW[guarantee]).items()
        }
        for metric in PERFECT
    }
    panels = [(dataset, metric) for dataset in titles for metric in PERFECT]
    for axis, (dataset, metric) in zip(sheet.axes, panels, strict=True):
        own, holes = errors.at(dataset=dataset), missing.at(dataset=dataset)
        labels = chosen[metric]
        if metric == "recall":
            missed_panel(axis, own, labels, holes)
        else:
            errors_panel(axis, own, metric, labels, missing=holes)
        ends_labelled(axis, labels, sheet.height)
    sheet.set_titles(titles[dataset] for dataset, _ in panels)
    sheet.set_heads(["As a sequence", "As a set"])
    k_axes(sheet.axes, errors["k"].tolist() or ks)
    sheet.outer_x_only()
    shown = {name for labels in chosen.values() for name in labels}
    note = (
        f"{notes.of_samples(errors)} \u03b5 = {epsilon:g}. The {FEW['pure']} best pure and the "
        f"{FEW['approx']} best approximate mechanisms, over all panels of a column."
    )
    return sheet.finish(note=_noted(note, notes.of_approximate(groups, shown, delta)))


def best(errors, labels, number):
    """The mechanisms whose errors are the fewest times larger than the smallest of their cell.

    Times larger: the geometric mean of medians padded by 1 (of recall, of 1 - recall padded by a
    hundredth) over the cells in which a mechanism was run.
    """
    errors = errors.at(mechanism=list(labels))
    recall = errors["metric"] == "recall"
    height = np.log(np.where(recall, 1.01 - errors["median"], errors["median"] + 1))
    cells = list(zip(errors["dataset"].tolist(), errors["k"].tolist(), strict=True))
    least = {}
    for cell, value in zip(cells, height.tolist(), strict=True):
        least[cell] = min(value, least.get(cell, value))
    above = height - [least[cell] for cell in cells]
    regret = {
        name: above[errors["mechanism"] == name].mean()
        for name in labels
        if (errors["mechanism"] == name).any()
    }
    few = sorted(regret, key=regret.get)[:number]
    return {name: label for name, label in labels.items() if name in few}


# ---------------------------------------------------------------- maps of cells


def cell_axes(axis, ks, names):
    """A panel with a column for each k and a row for each name, the first at the bottom."""
    axis.grid(False)
    axis.set(xlim=(0, len(ks)), ylim=(0, len(names)), xlabel="$k$")
    shown = _spread(len(ks), 5)
    axis.xaxis.set_major_locator(FixedLocator([place + 0.5 for place in shown]))
    axis.xaxis.set_major_formatter(FixedFormatter([f"{ks[place]:g}" for place in shown]))
    axis.yaxis.set_major_locator(FixedLocator(np.arange(len(names)) + 0.5))
    axis.yaxis.set_major_formatter(FixedFormatter(names))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.tick_params(length=0)


def cells(axis, colors):
    """Fill the panel; colors: rows x columns of colours, white where there is nothing."""
    rgb = np.array([[to_rgb(color) for color in row] for row in colors])
    axis.pcolormesh(rgb, edgecolors="#D0D0D0", linewidth=0.3)


def _spread(number, most):
    """At most this many of the places 0 to number - 1, with the first and the last."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).round().astype(int)).tolist()


@styled()
def winner_maps(winners, *, titles, labels, ks, epsilons, limits):
    """A row for each dataset: who wins at each k and epsilon, in four groups."""
    sheet = Sheet(len(MAPS) * len(titles), len(MAPS), height=0.13 * len(epsilons), left=0.42)
    panels = iter(sheet.axes)
    for dataset in titles:
        winners_panels(panels, winners.at(dataset=dataset), labels, ks, epsilons, limits)
    sheet.set_titles(name for name in titles.values() for _ in MAPS)
    sheet.set_heads(MAPS.values())
    sheet.outer_x_only()
    seen = {letter for axis in sheet.axes for text in axis.texts for letter in text.get_text()}
    keys = {}
    for name, letter in letters_of(labels).items():
        if letter in seen:
            keys[name] = f"{letter}  {labels[name]}"
            color = mechanism_style(name).color
            sheet.axes[0].plot([], [], "s", color=color, markersize=6, label=keys[name])
    shown = (
        f"{MOST_KS} of the {len(ks)} k; results/winners.csv has all." if len(ks) > MOST_KS else ""
    )
    return sheet.finish(keys, _noted(*notes.of_winners(_in_maps(winners), limits), shown))


def winners_panels(axes, winners, labels, ks, epsilons, limits):
    """The four maps of one dataset, on the next four of `axes`."""
    ks, epsilons = [ks[place] for place in _spread(len(ks), MOST_KS)], sorted(epsilons)
    marked = {epsilon for some in limits.values() for epsilon in some}
    rows = [f"{epsilon:g}{'*' if epsilon in marked else ''}" for epsilon in epsilons]
    for (guarantee, output, metric), axis in zip(MAPS, axes, strict=False):
        cell_axes(axis, ks, rows)
        axis.set_ylabel("\u03b5")
        own = winners.at(guarantee=guarantee, output=output, metric=metric, k=ks)
        if own.size:
            winners_map(axis, own, letters_of(labels), ks, epsilons)
        else:
            remark(axis, "\u2013")


def winners_map(axis, winners, letters, ks, epsilons):
    """Who wins at each k and epsilon.

    Colour and letter: the best, significantly better than all others. White: it is not; if it
    is better than all but one, the letters of both.
    """
    colors = np.full((len(epsilons), len(ks)), "#FFFFFF", dtype=object)
    for epsilon, k, winner, tied, compared in zip(
        *(winners[name].tolist() for name in ("epsilon", "k", "winner", "tied_with", "compared")),
        strict=True,
    ):
        y, x = epsilons.index(epsilon), ks.index(k)
        others = tied.split()
        if not others:
            color = colors[y, x] = mechanism_style(winner).color
            dark = np.dot(to_rgb(color), (0.3, 0.59, 0.11)) < 0.55
            words, ink = letters[winner], "white" if dark else "black"
        elif len(others) == 1 < compared - 1:
            words, ink = "".join(sorted(letters[winner] + letters[others[0]])), "#808080"
        else:
            continue
        look = (
            {"fontsize": 4.6, "weight": "normal"} if others else {"fontsize": 6.2, "weight": "bold"}
        )
        middle = {"ha": "center", "va": "center_baseline"}
        axis.text(x + 0.5, y + 0.47, words, color=ink, **look, **middle)
    cells(axis, colors)


def letters_of(labels):
    """A letter for each mechanism: the first of its label that no other has."""
    letters = {}
    for name, label in labels.items():
        wanted = [*label.upper(), *"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "?"]
        letters[name] = next(
            w for w in wanted if w == "?" or (w.isalpha() and w not in letters.values())
        )
    return letters


def key(labels):
    """The letters of a map, for a figure whose legend does not have them."""
    return ", ".join(f"{letter}: {labels[name]}" for name, letter in letters_of(labels).items())


def _in_maps(winners):
    chosen = np.zeros(winners.size, dtype=bool)
    for group in MAPS:
        columns = zip(("guarantee", "output", "metric"), group, strict=True)
        chosen |= np.logical_and.reduce([winners[name] == value for name, value in columns])
    return winners.where(chosen)


@styled()
def epsilon_needed(errors, *, titles, groups, ks, epsilons, limits):
    """The smallest epsilon at which the median selection is perfect: as sequence, and as set."""
    labels = groups["pure"] | groups["approx"]
    sheet = Sheet(2 * len(titles), 2, height=0.115 * len(labels), left=0.78)
    panels = [(dataset, metric) for dataset in titles for metric in PERFECT]
    for axis, (dataset, metric) in zip(sheet.axes, panels, strict=True):
        own = errors.at(dataset=dataset, metric=metric, mechanism=list(labels), epsilon=epsilons)
        weaker = needed_panel(axis, needed(own, PERFECT[metric], epsilons), ks, groups, epsilons)
        if weaker:
            axis.axhline(weaker, color=INK, linewidth=0.9)
    sheet.set_titles(titles[dataset] for dataset, _ in panels)
    sheet.set_heads(["Perfect sequence (median \u2113\u221e error 0)", "Perfect set (recall 1)"])
    sheet.outer_x_only()
    keys = {epsilon: f"\u03b5 = {epsilon:g}" for epsilon in sorted(epsilons)}
    for epsilon, color in scale(epsilons).items():
        sheet.axes[0].plot([], [], "s", color=color, markersize=6, label=keys[epsilon])
    keys["never"] = f"not at \u03b5 \u2264 {max(epsilons):g}"
    sheet.axes[0].plot([], [], "x", color="#888888", markersize=4, label=keys["never"])
    split = "Above the line: \u03b5-DP; below: (\u03b5, \u03b4)-DP." if all(groups.values()) else ""
    first = f"Smallest of the {len(epsilons)} \u03b5 at which the median trial is perfect."
    drawn = [collection for axis in sheet.axes for collection in axis.collections]
    if any(isinstance(some, PatchCollection) and some.get_paths() for some in drawn):
        first += " Hatched: not run; on a colour, not run at some smaller \u03b5."
    return sheet.finish(keys, _noted(f"{first} {split}", *notes.of_limits(limits)))


def needed(errors, perfect, epsilons):
    """{(mechanism, k): (smallest epsilon with that median, or None; were all below it run)}."""
    medians = {}
    columns = (errors[column].tolist() for column in ("mechanism", "k", "epsilon", "median"))
    for name, k, epsilon, median in zip(*columns, strict=True):
        medians.setdefault((name, k), {})[epsilon] = median
    found = {}
    for cell, own in medians.items():
        least = min((e for e, median in own.items() if median == perfect), default=None)
        smaller = {e for e in epsilons if least is None or e < least}
        found[cell] = least, smaller <= own.keys()
    return found


def needed_panel(axis, needed, ks, groups, epsilons):
    """The smallest epsilon that serves, a row for each mechanism; needed: as `needed` gives it.

    A cell that no epsilon serves is crossed out. Hatched: what was not run may need less. Returns
    how many rows at the bottom are those of approximate mechanisms, if there are others.
    """
    there = {name for name, _ in needed}
    pure, weaker = ([n for n in groups[g] if n in there] for g in ("pure", "approx"))
    names, labels = [*pure, *weaker][::-1], groups["pure"] | groups["approx"]
    cell_axes(axis, ks, [labels[name] for name in names])
    if not names:
        remark(axis, "no results")
        return 0
    colors = np.full((len(names), len(ks)), "#FFFFFF", dtype=object)
    crosses, unknown = [], []
    for row, name in enumerate(names):
        for column, k in enumerate(ks):
            epsilon, all_run = needed.get((name, k), (None, False))
            if epsilon is not None:
                colors[row, column] = scale(epsilons)[epsilon]
            elif all_run:
                crosses.append((column + 0.5, row + 0.5))
            if not all_run:
                unknown.append(Rectangle((column, row), 1, 1))
    cells(axis, colors)
    if crosses:
        axis.scatter(*zip(*crosses, strict=True), s=5, marker="x", color="#999999", linewidths=0.5)
    axis.add_collection(PatchCollection(unknown, **HATCHED | {"edgecolor": "#8A8A8A"}))
    return len(weaker) if pure else 0


def scale(epsilons):
    """A colour for each epsilon, small ones dark."""
    places = np.linspace(0, len(SCALE) - 1, len(epsilons))
    channels = np.array([to_rgb(color) for color in SCALE]).T
    mixed = np.array([np.interp(places, range(len(SCALE)), channel) for channel in channels]).T
    return dict(zip(sorted(epsilons), map(tuple, mixed), strict=True))


# ---------------------------------------------------------------- contributions


@styled()
def against_contributions(errors, *, titles, groups, delta, epsilon, ks, bounded):
    """Error against c, the number of items that a user contributes to, at some k.

    bounded: {mechanism: [[c, its name with that bound], ...]}; the best of the others, which
    cannot use c, are level lines.
    """
    errors = errors.at(epsilon=epsilon, metric="linf")
    labels = groups["pure"] | groups["approx"]
    places = list(dict.fromkeys(c for pairs in bounded.values() for c, _ in pairs))
    level = {}
    for guarantee, of_group in groups.items():
        others = {name: label for name, label in of_group.items() if name not in bounded}
        level |= best(errors, others, FEW[guarantee])
    shown = level | {name: labels[name] for name in bounded}
    sheet = Sheet(len(ks) * len(titles), len(ks), height=1.2, right=0.85)
    panels = [(dataset, k) for dataset in titles for k in ks]
    for axis, (dataset, k) in zip(sheet.axes, panels, strict=True):
        own = errors.at(dataset=dataset, k=k)
        everywhere = {name: [[c, name] for c in places] for name in level} | bounded
        curves = along(own, everywhere, places)
        of_others = np.isin(curves["mechanism"], list(level))  # their bands would fill the panel
        for column in ("q25", "q75"):
            curves[column] = np.where(of_others, curves["median"], curves[column])
        lines(axis, curves, shown, "place", 1)
        axis.set(xlabel="$c$", ylabel=METRICS["linf"].axis, xlim=(-0.35, len(places) - 0.65))
        axis.set_xticks(range(len(places)), places)
        if curves.size:
            log_axis(axis.yaxis, [*curves["q25"] + 1, *curves["q75"] + 1])
            ends_labelled(axis, shown, sheet.height)
    sheet.set_titles(titles[dataset] for dataset, _ in panels)
    sheet.set_heads(f"k = {k}" for k in ks)
    sheet.outer_x_only()
    note = (
        f"{notes.of_samples(errors)} \u03b5 = {epsilon:g}. A user contributes to at most c items. "
        "Level lines: the best of the mechanisms that cannot use that."
    )
    return sheet.finish(note=_noted(note, notes.of_approximate(groups, shown, delta)))


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


def _noted(*sentences):
    return "\n".join(filter(None, sentences))
