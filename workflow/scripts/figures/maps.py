"""Panels of coloured cells: one cell for each k and epsilon, or each k and mechanism."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from workflow.scripts.figures.panels import remark
from workflow.scripts.figures.style import INK, mechanism_style

LABELLED = 5  # of the k on an axis, at most
NO_DIFFERENCE = "#D9D9D9"
TINT = 0.5  # how much white is in the colour of a win that is not sure
# From dark, which needs least privacy loss, to light; they differ in lightness, for every eye.
SCALE = ("#22155B", "#3B4CA0", "#2E86B5", "#45B39B", "#9BD46A", "#F6E45B")
NOT_REACHED = "#FFFFFF"


def cell_axes(axis, ks, names):
    """A panel with a column for each k and a row for each name, the first at the bottom."""
    axis.grid(False)
    axis.set(xlim=(0, len(ks)), ylim=(0, len(names)), xlabel="$k$")
    every = -(-len(ks) // LABELLED)
    shown = range(0, len(ks), every)
    axis.xaxis.set_major_locator(FixedLocator([place + 0.5 for place in shown]))
    axis.xaxis.set_major_formatter(FixedFormatter([f"{ks[place]:g}" for place in shown]))
    axis.yaxis.set_major_locator(FixedLocator(np.arange(len(names)) + 0.5))
    axis.yaxis.set_major_formatter(FixedFormatter(names))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.tick_params(length=0)


def cells(axis, colors):
    """Fill the panel; colors: rows x columns of colours, white where there is nothing."""
    rgb = np.array([[to_rgb(color) for color in row] for row in colors])
    axis.pcolormesh(rgb, edgecolors="white", linewidth=0.35)


def winners_panel(axis, winners, ks, epsilons):
    """Who wins at each k and epsilon.

    Full colour: the best is told from all others. Pale, with a dot in the colour of the second:
    it is not. Grey: it is told from no other. The marker of a mechanism stands in the middle of
    the cells that it surely wins.
    """
    cell_axes(axis, ks, [f"{epsilon:g}" for epsilon in epsilons])
    axis.set_ylabel(r"$\varepsilon$")
    if not winners.size:
        remark(axis, "nobody to compare")
        return
    colors = np.full((len(epsilons), len(ks)), "#FFFFFF", dtype=object)
    sure, dots = {}, {}
    for epsilon, k, winner, tied, compared in zip(
        *(winners[name].tolist() for name in ("epsilon", "k", "winner", "tied_with", "compared")),
        strict=True,
    ):
        at = epsilons.index(epsilon), ks.index(k)
        others = tied.split()
        if len(others) + 1 == compared:
            colors[at] = NO_DIFFERENCE
        elif others:
            colors[at] = pale(mechanism_style(winner).color)
            dots.setdefault(others[0], []).append(at)
        else:
            colors[at] = mechanism_style(winner).color
            sure.setdefault(winner, []).append(at)
    cells(axis, colors)
    for name, places in dots.items():
        y, x = np.transpose(places) + 0.5
        axis.scatter(x, y, s=2.2, color=mechanism_style(name).color, linewidths=0)
    for name, places in sure.items():
        y, x = middle(places)
        axis.plot(
            x + 0.5, y + 0.5, marker=mechanism_style(name).marker, markersize=4.2, linestyle="",
            markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.4,
        )  # fmt: skip


def pale(color):
    """The colour mixed with white."""
    return tuple(TINT + (1 - TINT) * part for part in to_rgb(color))


def middle(places):
    """The cell of a region that is nearest to its middle."""
    places = np.array(places)
    scale = places.max(axis=0) - places.min(axis=0) + 1
    return places[(((places - places.mean(axis=0)) / scale) ** 2).sum(axis=1).argmin()]


def needed_panel(axis, needed, ks, labels, epsilons):
    """The smallest epsilon that serves, a row for each mechanism; needed: {(name, k): epsilon}.

    A cell that no epsilon serves is crossed out; one that was not run stays blank.
    """
    names = [name for name in labels if any((name, k) in needed for k in ks)][::-1]
    cell_axes(axis, ks, [labels[name] for name in names])
    if not names:
        remark(axis, "no results")
        return
    colors = np.full((len(names), len(ks)), NOT_REACHED, dtype=object)
    crosses = []
    for row, name in enumerate(names):
        for column, k in enumerate(ks):
            if (name, k) in needed:
                epsilon = needed[name, k]
                if np.isfinite(epsilon):
                    colors[row, column] = scale(epsilons)[epsilon]
                else:
                    crosses.append((column + 0.5, row + 0.5))
    cells(axis, colors)
    if crosses:
        axis.scatter(*zip(*crosses, strict=True), s=5, marker="x", color="#AAAAAA", linewidths=0.5)


def scale(epsilons):
    """A colour for each epsilon, small ones dark."""
    places = np.linspace(0, len(SCALE) - 1, len(epsilons))
    channels = np.array([to_rgb(color) for color in SCALE]).T
    mixed = np.array([np.interp(places, range(len(SCALE)), channel) for channel in channels]).T
    return dict(zip(sorted(epsilons), map(tuple, mixed), strict=True))
