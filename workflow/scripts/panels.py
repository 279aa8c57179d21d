"""The parts of figures: grids of panels, axes, the panel of each kind, the legend."""

import math
import textwrap

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from workflow.scripts.style import INK, WIDTH, mechanism_style

# What can be 0 is padded by 1 for the logarithmic axis, as in the paper. The index counts
# from 1: that is the paper's index, which counts from 0, padded.
METRICS = {
    "linf": r"$\ell_\infty$ error + 1",
    "l1": r"$\ell_1$ error + 1",
    "k_relative": r"$k$-relative error + 1",
    "linf_index": r"$\ell_\infty$ error index",
}
PAD = {"linf": 1, "l1": 1, "k_relative": 1, "linf_index": 0}
GAP = "gap $c_k - c_{k+1}$ + 1"

# Each point has a marker if there are few, or if the line has fewer points than others of the
# panel; else a line carries about MARKERS of them.
MARK_ALL = 10
MARKERS = 4


def grid(panels, columns, row_height):
    """A figure with room for so many panels, at most `columns` side by side, and the panels."""
    columns = min(columns, panels)
    rows = math.ceil(panels / columns)
    # One panel is not stretched over the whole width.
    width = WIDTH if columns > 1 else 0.6 * WIDTH
    height = rows * row_height + 0.3  # the x axis at the bottom
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[panels:]:
        unused.remove()
    return figure, axes[:panels]


def outer_x_only(axes, columns):
    """Keep the x label and its numbers on the lowest panel of each column."""
    columns = min(columns, len(axes))
    for axis in axes[:-columns]:
        axis.set_xlabel("")
        axis.tick_params(labelbottom=False)


def set_titles(axes, texts):
    """Give each panel its title, broken where it would run into the next panel."""
    figure, columns = axes[0].figure, axes[0].get_gridspec().ncols
    letters = int((figure.get_figwidth() / columns - 0.4) / 0.08)
    broken = [textwrap.fill(text, letters) for text in texts]
    for axis, text in zip(axes, broken, strict=True):
        axis.set_title(text, parse_math=False)
    for start in range(0, len(broken), columns):
        _grow(figure, 0.13 * max(text.count("\n") for text in broken[start : start + columns]))


def set_headline(figure, text):
    """Give a figure about one dataset its name, above the panels."""
    broken = textwrap.fill(text, int(figure.get_figwidth() / 0.09))
    figure.suptitle(broken, parse_math=False)
    _grow(figure, 0.15 * (1 + broken.count("\n")))


def _grow(figure, inches):
    """Make room below or between the panels, so that they keep their height."""
    figure.set_figheight(figure.get_figheight() + inches)


def log_limits(low, high):
    """Limits that hold the data, at least two powers of ten, and a margin."""
    low, high = math.log10(low), math.log10(high)
    while math.floor(high) - math.ceil(low) < 1:
        below, above = math.ceil(low) - 1, math.floor(high) + 1
        if low - below < above - high:
            low = below
        else:
            high = above
    margin = 0.06 * (high - low)
    return 10 ** (low - margin), 10 ** (high + margin)


def log_axis(axis, values):
    """Make an x or y axis logarithmic around `values`, with a few labelled powers of ten."""
    low, high = log_limits(np.min(values), np.max(values))
    name = axis.axis_name
    axis.axes.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(LogFormatterSciNotation())
    few = math.log10(high / low) < 4.5
    axis.set_minor_locator(LogLocator(subs=range(2, 10)) if few else NullLocator())
    axis.set_minor_formatter(NullFormatter())


def log_axis_at(axis, values):
    """A logarithmic axis labelled at the values themselves, where there is room."""
    values = np.unique(values)
    log_axis(axis, values)
    if values[0] < values[-1]:
        margin = (values[-1] / values[0]) ** 0.04
        axis.axes.set(**{f"{axis.axis_name}lim": (values[0] / margin, values[-1] * margin)})
    axis.set_major_locator(FixedLocator(values))
    room = (values[-1] / values[0]) ** 0.07
    shown = []
    for value in values:
        free = not shown or value >= shown[-1] * room
        shown += [value] if free else []
    axis.set_major_formatter(lambda value, _: f"{value:g}" if value in shown else "")
    axis.set_minor_locator(NullLocator())


def linear_x(axis, values):
    """An x axis of whole numbers that begins and ends with the data."""
    if not len(values):
        return
    low, high = min(values), max(values)
    margin = max(0.03 * (high - low), 0.5)
    axis.set_xlim(low - margin, high + margin)
    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))


def lines(axis, rows, labels, x="k", pad=0):
    """Draw the median and the band between the quartiles of each mechanism in `labels`.

    `rows` has the columns mechanism, q25, median, q75 and the one that `x` names. A panel
    without data says so instead of staying blank.
    """
    rows = rows[rows["mechanism"].isin(list(labels))]
    if rows.empty:
        remark(axis, "no results")
        return
    longest = rows["mechanism"].value_counts().max()
    for place, (name, label) in enumerate(labels.items()):
        own = rows[rows["mechanism"] == name].sort_values(x)
        if own.empty:
            continue
        style = mechanism_style(name)
        at = own[x].to_numpy()
        every = 1
        if len(at) == longest > MARK_ALL:
            # Overlapping lines carry their markers at different points.
            step = min(len(at), max(math.ceil(len(at) / MARKERS), len(labels)))
            every = (place % step, step)
        axis.fill_between(
            at, own["q25"] + pad, own["q75"] + pad, color=style.color, alpha=0.18, linewidth=0.4
        )
        axis.plot(
            at,
            own["median"] + pad,
            label=label,
            markevery=every,
            markeredgecolor="white",
            **_look(style),
        )
    log_axis(axis.yaxis, np.concatenate([rows["q25"] + pad, rows["q75"] + pad]))


def remark(axis, words):
    """Say in the middle of a panel what its lines cannot show."""
    axis.text(0.5, 0.5, words, transform=axis.transAxes, ha="center", va="center", color=INK)


def errors_panel(axis, rows, metric, labels, x="k"):
    """One error metric of every mechanism against k (or epsilon)."""
    axis.set_ylabel(METRICS[metric])
    rows = rows[(rows["metric"] == metric) & rows["mechanism"].isin(list(labels))]
    lines(axis, rows, labels, x, PAD[metric])
    if len(rows) and not rows["q75"].any():
        remark(axis, "every quartile is 0")


def gaps_panel(axis, rows):
    """The gaps between neighbouring counts at the top."""
    axis.set_ylabel(GAP)
    if rows.empty:
        remark(axis, "no gap: one item")
        return
    padded = rows["gap"] + 1
    axis.plot(rows["k"], padded, color=INK, linewidth=0.8, label=GAP)
    log_axis(axis.yaxis, padded)


def histogram_panel(axis, rows):
    """How many items have a count in each bin; the bin of count 0 stands apart at the left."""
    low, high, items = (rows[name].to_numpy() for name in ("low", "high", "items"))
    full = items > 0
    zero, most = bool((low[full] == 0).any()), high[full].max()
    axis.set_xscale("symlog", linthresh=1, linscale=0.6)
    axis.bar(
        low[full],
        items[full],
        (high - low)[full],
        align="edge",
        color="#8FA3BF",
        edgecolor="white",
        linewidth=0.3,
    )
    axis.set(xlabel=f"item count ($d$ = {items.sum():,})", ylabel="items in bin")
    log_axis(axis.yaxis, [1, items.max()])
    axis.set_ylim(bottom=0.5)  # a bin with one item has height
    axis.set_xlim(0 if zero else 1, most * 1.1)
    # The label 0 stands under its bin; beside it there is no room for a label of 1.
    ticks = {0.5: "0"} if zero else {}
    decades = math.ceil(math.log10(max(most, 10)))
    every = 2 if decades > 4 else 1
    for n in range(zero, decades + 1):
        ticks[10**n] = f"$10^{{{n}}}$" if n % every == 0 else ""
    axis.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axis.xaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axis.xaxis.set_minor_locator(NullLocator())


def legend(figure, labels, note):
    """The one legend of a figure, below the panels, with a note on what the lines are."""
    drawn = {line.get_label() for axis in figure.axes for line in axis.lines}
    handles = [
        Line2D([], [], label=label, markeredgecolor="white", **_look(mechanism_style(name)))
        for name, label in labels.items()
        if label in drawn
    ]
    renderer = figure.canvas.get_renderer()
    for rows in range(1, len(handles) + 1):
        columns = math.ceil(len(handles) / rows)
        box = figure.legend(handles=handles, loc="outside lower center", ncols=columns, title=note)
        box.get_title().set(color=INK, multialignment="center")
        for text in box.get_texts():
            text.set_parse_math(False)
        extent = box.get_window_extent(renderer)
        if columns == 1 or extent.width < figure.bbox.width:
            _grow(figure, extent.height / figure.dpi)
            return
        box.remove()


def _look(style):
    return {"color": style.color, "linestyle": style.dashes, "marker": style.marker}


def sample_note(rows, unit="trials"):
    """What a line and its band show, in words."""
    if rows.empty:
        return ""
    least, most = rows["trials"].min(), rows["trials"].max()
    number = f"{least}" if least == most else f"{least} to {most}"
    return f"Line: median of {number} {unit}. Band: quartiles."
