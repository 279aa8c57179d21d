"""Figures that compare many mechanisms at many epsilons; arguments as in drawing.py, and

groups  {"pure": labels, "approx": labels} of the mechanisms with that guarantee
limits  {label: epsilons} of mechanisms that were run at some epsilons only
"""

import itertools

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from workflow.scripts.figures import notes, panels
from workflow.scripts.figures.columns import Table
from workflow.scripts.figures.sheet import by_dataset
from workflow.scripts.figures.style import INK, mechanism_style
from workflow.scripts.results.tables import QUARTILES
from workflow.scripts.trials.metrics import METRICS

# The maps of winners: what is compared, by which metric.
MAPS = {
    f"{head}, {guarantee}": {"guarantee": name, "output": output, "metric": metric}
    for head, output, metric in (("Sequences", "sequence", "linf"), ("Sets", "set", "recall"))
    for guarantee, name in (("\u03b5-DP", "pure"), ("(\u03b5, \u03b4)-DP", "approx"))
}
PERFECT = {"linf": 0, "recall": 1}
FEW = {"pure": 3, "approx": 2}  # mechanisms of each guarantee that the figure of rivals shows
MOST_KS = 10  # columns of a map of winners, so that a letter fits into a cell
EDGES = {"edgecolors": "#D0D0D0", "linewidth": 0.3}  # of the cells of a map

# From dark, which needs least privacy loss, to light; they differ in lightness, for every eye.
SCALE = ("#22155B", "#3B4CA0", "#2E86B5", "#45B39B", "#9BD46A", "#F6E45B")


# ---------------------------------------------------------------- the best few


def rivals(errors, missing, *, titles, groups, delta, epsilon, ks):
    """A row for each dataset: error and share missed of the best mechanisms of each guarantee."""
    errors, missing = errors.at(epsilon=epsilon), missing.at(epsilon=epsilon)
    ks = errors["k"].tolist() or ks
    of_sequences, of_sets = (best(errors.at(metric=m), groups) for m in ("linf", "recall"))
    chosen = {"linf": of_sequences, "missed": of_sets}
    heads = "As a sequence", "As a set"
    sheet, grid = by_dataset(titles, chosen, heads=heads, right=0.85)
    for axis, dataset, metric in grid:
        tables = errors.at(dataset=dataset), missing.at(dataset=dataset)
        panels.of_errors(axis, *tables, chosen[metric], metric, ks)
        panels.ends_labelled(axis, chosen[metric], sheet.height)
    note = (
        f"{notes.of_samples(errors)} \u03b5 = {epsilon:g}. The {FEW['pure']} best pure and the "
        f"{FEW['approx']} best approximate mechanisms, over all panels of a column."
    )
    return sheet.finish({}, note, notes.of_approximate(groups, of_sequences | of_sets, delta))


def best(errors, groups):
    """The FEW mechanisms of each guarantee whose medians are the fewest times the smallest.

    The smallest of that guarantee in a cell. Times: the geometric mean of medians padded by 1 (of
    recall, of 1 - recall padded by a hundredth) over the cells in which a mechanism was run.
    """
    chosen = {}
    for guarantee, labels in groups.items():
        rows = errors.at(mechanism=list(labels))
        missed, padded = 1.01 - rows["median"], rows["median"] + 1
        height = np.log(np.where(rows["metric"] == "recall", missed, padded))
        cells = list(rows.rows("dataset", "k"))
        # The last of each cell, which stays, is its smallest.
        least = dict(sorted(zip(cells, height.tolist(), strict=True), reverse=True))
        above = height - [least[cell] for cell in cells]
        run = [name for name in labels if name in rows["mechanism"]]
        few = sorted(run, key=lambda name: above[rows["mechanism"] == name].mean())
        chosen |= {name: labels[name] for name in run if name in few[: FEW[guarantee]]}
    return chosen


# ---------------------------------------------------------------- maps of cells


def cell_axes(axis, ks, names):
    """A panel with a column for each k and a row for each name, the first at the bottom."""
    axis.grid(False)
    axis.set(xlim=(0, len(ks)), ylim=(0, len(names)), xlabel="$k$")
    shown = _spread(len(ks), 5)
    axis.set_xticks([place + 0.5 for place in shown], [f"{ks[place]:g}" for place in shown])
    axis.set_yticks(np.arange(len(names)) + 0.5, names)
    axis.tick_params(length=0)


def _spread(number, most):
    """At most this many of the places 0 to number - 1, with the first and the last."""
    return np.unique(np.linspace(0, number - 1, min(number, most)).round().astype(int)).tolist()


def winner_maps(winners, *, titles, labels, ks, epsilons, limits):
    """A row for each dataset: who wins at each k and epsilon, in four groups."""
    sheet, grid = by_dataset(titles, MAPS, 0.13 * len(epsilons), heads=MAPS, left=0.42)
    for axis, dataset, group in grid:
        winners_map(axis, winners.at(dataset=dataset), group, labels, ks, epsilons, limits)
    seen = {letter for axis in sheet.axes for text in axis.texts for letter in text.get_text()}
    keys = [
        swatch(f"{letter}  {labels[name]}", mechanism_style(name).color)
        for name, letter in letters_of(labels).items()
        if letter in seen
    ]
    few = f"{MOST_KS} of the {len(ks)} k; results/winners.csv has all."
    said = [*about_winners(winners, limits), few if len(ks) > MOST_KS else ""]
    return sheet.finish({}, *said, handles=keys)


def swatch(label, color, marker="s", size=6):
    """An entry of the legend of a map."""
    return Line2D([], [], linestyle="", marker=marker, color=color, markersize=size, label=label)


def winners_map(axis, winners, group, labels, ks, epsilons, limits):
    """Who wins on one dataset at each k and epsilon, in one of MAPS.

    Colour and letter: the best, significantly better than all others. White: it is not; if it
    is better than all but one, the letters of both.
    """
    letters, epsilons = letters_of(labels), sorted(epsilons)
    ks = [ks[place] for place in _spread(len(ks), MOST_KS)]
    marked = {epsilon for some in limits.values() for epsilon in some}
    cell_axes(axis, ks, [f"{e:g}{'*' if e in marked else ''}" for e in epsilons])
    axis.set_ylabel("\u03b5")
    winners = winners.at(**MAPS[group], k=ks)
    if not winners.size:
        panels.remark(axis, "\u2013")
        return
    colors = np.ones((len(epsilons), len(ks), 3))
    for epsilon, k, winner, tied, compared in winners.rows(
        "epsilon", "k", "winner", "tied_with", "compared"
    ):
        y, x, others = epsilons.index(epsilon), ks.index(k), tied.split()
        if not others:
            colors[y, x] = to_rgb(mechanism_style(winner).color)
            dark = np.dot(colors[y, x], (0.3, 0.59, 0.11)) < 0.55
            words, look = letters[winner], {"fontsize": 6.2, "weight": "bold"}
            look["color"] = "white" if dark else "black"
        elif len(others) == 1 < compared - 1:
            words = "".join(sorted(letters[winner] + letters[others[0]]))
            look = {"fontsize": 4.6, "color": "#808080"}
        else:
            continue
        axis.text(x + 0.5, y + 0.47, words, ha="center", va="center_baseline", **look)
    axis.pcolormesh(colors, **EDGES)


def about_winners(winners, limits):
    """How to read maps of winners."""
    yield (
        "Letter on colour: smallest median error (sequences: \u2113\u221e; sets: items missed), "
        "significantly so by a rank test. White: a tie, with letters where only two are tied."
    )
    if any(np.unique(winners.at(**group)["compared"]).size > 1 for group in MAPS.values()):
        yield "Not every mechanism was run in every cell (results/missing.csv)."
    yield from notes.of_limits(limits, " (*)")


def letters_of(labels):
    """A letter for each mechanism: the first of its label that no other has."""
    letters = {}
    for name, label in labels.items():
        wanted = filter(str.isalpha, label.upper() + "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        letters[name] = next((w for w in wanted if w not in letters.values()), "?")
    return letters


def key(labels):
    """The letters of a map, for a figure whose legend does not have them."""
    return ", ".join(f"{letter}: {labels[name]}" for name, letter in letters_of(labels).items())


def epsilon_needed(errors, *, titles, groups, ks, epsilons, limits):
    """The smallest epsilon at which the median selection is perfect: as sequence, and as set."""
    labels, epsilons = groups["pure"] | groups["approx"], sorted(epsilons)
    heads = "Perfect sequence (median \u2113\u221e error 0)", "Perfect set (recall 1)"
    sheet, grid = by_dataset(titles, PERFECT, 0.115 * len(labels), heads=heads, left=0.78)
    hatched = False
    for axis, dataset, metric in grid:
        rows = errors.at(dataset=dataset, metric=metric)
        hatched |= needed_panel(axis, rows, PERFECT[metric], ks, groups, epsilons)
    keys = [swatch(f"\u03b5 = {epsilon:g}", color) for epsilon, color in scale(epsilons).items()]
    keys.append(swatch(f"not at \u03b5 \u2264 {max(epsilons):g}", "#888888", "x", 4))
    said = [f"Smallest of the {len(epsilons)} \u03b5 at which the median trial is perfect."]
    if hatched:
        said.append("Hatched: not run; on a colour, not run at some smaller \u03b5.")
    if all(groups.values()):
        said.append("Above the line: \u03b5-DP; below: (\u03b5, \u03b4)-DP.")
    return sheet.finish({}, " ".join(said), *notes.of_limits(limits), handles=keys)


def needed_panel(axis, rows, perfect, ks, groups, epsilons):
    """The smallest epsilon with a perfect median, a row for each mechanism that was run.

    A cell that no epsilon serves is crossed out. Hatched: what was not run may need less. A line
    parts pure mechanisms from approximate ones. Returns whether something is hatched.
    """
    labels = groups["pure"] | groups["approx"]
    names = [name for name in labels if name in rows["mechanism"]][::-1]
    cell_axes(axis, ks, [labels[name] for name in names])
    if not names:
        panels.remark(axis, "no results")
        return False
    cells = rows.rows("mechanism", "k", "epsilon")
    medians = dict(zip(cells, rows["median"].tolist(), strict=True))
    colors_of = scale(epsilons)
    colors = np.ones((len(names), len(ks), 3))
    crosses, unknown = [], []
    for (y, name), (x, k) in itertools.product(enumerate(names), enumerate(ks)):
        found = [medians.get((name, k, epsilon)) for epsilon in epsilons]
        smaller = found[: found.index(perfect)] if perfect in found else found
        if perfect in found:
            colors[y, x] = colors_of[epsilons[len(smaller)]]
        elif None not in found:
            crosses.append((x + 0.5, y + 0.5))
        if None in smaller:
            unknown.append(Rectangle((x, y), 1, 1))
    axis.pcolormesh(colors, **EDGES)
    if crosses:
        axis.scatter(*zip(*crosses, strict=True), s=5, marker="x", color="#999999", linewidths=0.5)
    axis.add_collection(PatchCollection(unknown, **panels.HATCHED | {"edgecolor": "#8A8A8A"}))
    weaker = sum(name in groups["approx"] for name in names)
    if 0 < weaker < len(names):
        axis.axhline(weaker, color=INK, linewidth=0.9)
    return bool(unknown)


def scale(epsilons):
    """A colour for each epsilon, small ones dark."""
    places = np.linspace(0, len(SCALE) - 1, len(epsilons))
    channels = np.array([to_rgb(color) for color in SCALE]).T
    mixed = np.array([np.interp(places, range(len(SCALE)), channel) for channel in channels]).T
    return dict(zip(sorted(epsilons), map(tuple, mixed), strict=True))


# ---------------------------------------------------------------- contributions


def against_contributions(errors, *, titles, groups, delta, epsilon, ks, bounded):
    """Error against c, the number of items that a user contributes to, at some k.

    bounded: {mechanism: [[c, its name with that bound], ...]}; the best of the others, which
    cannot use c, are level lines, without the bands that would fill the panel.
    """
    errors = errors.at(epsilon=epsilon, metric="linf")
    labels = groups["pure"] | groups["approx"]
    level = best(errors.where(~np.isin(errors["mechanism"], list(bounded))), groups)
    shown = level | {name: labels[name] for name in bounded}
    bounds = list(dict.fromkeys(c for variants in bounded.values() for c, _ in variants))
    place_of = {
        variant: (name, bounds.index(c))
        for name, variants in bounded.items()
        for c, variant in variants
    }
    curves = [("dataset", "k", "mechanism", "place", *QUARTILES)]
    for *cell, name, low, median, high in errors.rows("dataset", "k", "mechanism", *QUARTILES):
        if name in place_of:
            curves.append((*cell, *place_of[name], low, median, high))
        elif name in level:
            curves += [(*cell, name, place, *[median] * 3) for place in range(len(bounds))]
    curves = Table.of(curves)
    sheet, grid = by_dataset(titles, ks, heads=[f"k = {k}" for k in ks], right=0.85)
    for axis, dataset, k in grid:
        axis.set(xlabel="$c$", ylabel=METRICS["linf"].axis, xlim=(-0.35, len(bounds) - 0.65))
        drawn = panels.lines(axis, curves.at(dataset=dataset, k=k), shown, "place", 1)
        axis.set_xticks(range(len(bounds)), bounds)
        if len(drawn):
            panels.log_axis(axis.yaxis, drawn)
            panels.ends_labelled(axis, shown, sheet.height)
    note = (
        f"{notes.of_samples(errors)} \u03b5 = {epsilon:g}. A user contributes to at most c items. "
        "Level lines: the best of the mechanisms that make no use of c."
    )
    return sheet.finish({}, note, notes.of_approximate(groups, shown, delta))
