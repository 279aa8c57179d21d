"""The panels of figures: their axes, and what is drawn on them."""

import math

import numpy as np
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from workflow.scripts.figures.columns import Table
from workflow.scripts.figures.style import INK, look
from workflow.scripts.results.tables import QUARTILES
from workflow.scripts.trials.metrics import METRICS

BARS = "#8FA3BF"
HATCHED = {"facecolor": "none", "edgecolor": INK, "linewidth": 0, "hatch": "/////"}
SHADE = "#DDDDDD"
OF_ONE_ITEM = ("linf", "k_relative")  # metrics that are a difference of two counts
GAP = "gap $c_k - c_{k+1}$ + 1"

# Each point has a marker if there are few, or if the line has fewer points than others of the
# panel; else a line carries about MARKERS of them.
MARK_ALL = 10
MARKERS = 4

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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


def power_of_ten(n):
    """10^n, not as a formula: parsing those takes longer than all else about an axis."""
    return f"10{str(n).translate(RAISED)}"


def log_axis(axis, values):
    """Make an x or y axis logarithmic around `values`, with a few labelled powers of ten."""
    low, high = log_limits(np.min(values), np.max(values))
    name = axis.axis_name
    axis.axes.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(lambda value, _: power_of_ten(round(math.log10(value))))
    few = math.log10(high / low) < 2.5
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


def share_axis(axis):
    """A y axis from 0 to 1."""
    axis.axes.set_ylim(-0.06, 1.06)
    axis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axis.set_major_formatter(FixedFormatter(["0", "", "0.5", "", "1"]))


def k_axes(axes, ks):
    """The same k axis on every panel: whole numbers that begin and end with the data."""
    low, high = min(ks), max(ks)
    margin = max(0.03 * (high - low), 0.5)
    for axis in axes:
        axis.set_xlabel("$k$")
        axis.set_xlim(low - margin, high + margin)
        several = MaxNLocator(5, integer=True, steps=[1, 2, 5, 10])
        axis.xaxis.set_major_locator(several if low < high else FixedLocator([low]))


def lines(axis, rows, labels, x="k", pad=0, missing=None):
    """Draw the median and the band between the quartiles of each mechanism in `labels`.

    `rows` has the columns mechanism, q25, median, q75 and the one that `x` names. A line is
    broken where `missing` has a row of its mechanism. At one k only there are points side by
    side, each with its quartiles as a bar. A panel without data says so instead of staying blank.
    """
    rows = rows.at(mechanism=list(labels))
    if not rows.size:
        axis.set_yticks([])
        remark(axis, "no results")
        return
    one_k = x == "k" and np.unique(rows[x]).size == 1
    longest = np.unique(rows["mechanism"], return_counts=True)[1].max()
    for place, (name, label) in enumerate(labels.items()):
        own = rows.at(mechanism=name)
        if not own.size:
            continue
        holes = missing.at(mechanism=name)[x] if missing else []
        at = np.concatenate([own[x], holes])
        if one_k:
            at = at + 0.7 * (place + 0.5) / len(labels) - 0.35
        order = np.argsort(at)
        low, middle, high = (
            np.concatenate([own[column] + pad, np.full(len(holes), np.nan)])[order]
            for column in QUARTILES
        )
        every = 1
        if own.size == longest > MARK_ALL:
            # Overlapping lines carry their markers at different points.
            step = min(own.size, max(math.ceil(own.size / MARKERS), len(labels)))
            every = (place % step, step)
        style = look(name)
        band = {"alpha": 0.4, "linewidth": 2} if one_k else {"alpha": 0.18, "linewidth": 0.4}
        axis.fill_between(at[order], low, high, color=style["color"], **band)
        axis.plot(at[order], middle, label=label, markevery=every, **style)


def remark(axis, words):
    """Say in the middle of a panel what its lines cannot show."""
    axis.text(0.5, 0.5, words, transform=axis.transAxes, ha="center", va="center", color=INK)


def shaded(axis, high, words=""):
    """Shade the panel up to a y: what is there is not known."""
    axis.axhspan(axis.get_ylim()[0], high, zorder=0.5, color=SHADE, linewidth=0)
    place = {"transform": axis.get_yaxis_transform(), "ha": "right", "va": "bottom"}
    axis.text(0.985, high * 1.1, words, fontsize=6.5, color=INK, **place)


def ends_labelled(axis, labels, inches):
    """Write beside the right end of each line what it is; `inches` is the height of the panel."""
    low, high = (math.log(limit) for limit in axis.get_ylim())
    ends = []  # (height of the end of a line, from 0 to 1; its label; its colour)
    for line in axis.lines:
        y = line.get_ydata()[~np.isnan(line.get_ydata())]
        if line.get_label() in labels.values() and y.size:
            ends.append(
                ((math.log(y[-1]) - low) / (high - low), line.get_label(), line.get_color())
            )
    ends.sort()
    at, step = [end[0] for end in ends], 0.105 / inches
    for i in range(1, len(at)):  # no label on the one below
        at[i] = max(at[i], at[i - 1] + step)
    ceiling = 1.0
    for i in reversed(range(len(at))):  # and none above the panel
        at[i] = min(at[i], ceiling)
        ceiling = at[i] - step
    for y, (end, label, color) in zip(at, ends, strict=True):
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
        places = {"xy": (1, end), "xytext": (1.05, y), "xycoords": axis.transAxes}
        words = {"va": "center", "fontsize": 6.3, "color": color, "parse_math": False}
        axis.annotate(label, **places, arrowprops=line | {"relpos": (0, 0.5)}, **words)


def times_panel(axis, rows, labels, x):
    """Seconds of one call of every mechanism."""
    axis.set_ylabel("seconds for one call")
    lines(axis, rows, labels, x)
    log_axis(axis.yaxis, [*rows["q25"], *rows["q75"]])


def errors_panel(axis, rows, metric, labels, x="k", missing=None, unresolved=0):
    """One metric of every mechanism that has it, against k (or epsilon).

    unresolved: how large a difference of counts must be to be known.
    """
    axis.set_ylabel(METRICS[metric].axis)
    rows, pad = rows.at(metric=metric, mechanism=list(labels)), int(METRICS[metric].padded)
    lines(axis, rows, labels, x, pad, missing)
    if metric == "recall":
        share_axis(axis.yaxis)
    elif metric == "returned":
        axis.set_ylim(0, 1.06 * max(rows[x].max(), rows["q75"].max()) if rows.size else 1)
    elif rows.size:
        log_axis(axis.yaxis, [*rows["q25"] + pad, *rows["q75"] + pad])
        if unresolved and metric in OF_ONE_ITEM:
            shaded(axis, unresolved + pad)
        if not rows["q75"].any():
            remark(axis, "every quartile is 0")


def missed_panel(axis, rows, labels, missing=None):
    """1 - recall on a logarithmic axis; where nothing is missed, a line lies at its foot, on 0."""
    axis.set_ylabel("1 \u2212 recall")
    rows = rows.at(metric="recall", mechanism=list(labels))
    if not rows.size:
        lines(axis, rows, labels)
        return
    # Half an item of the largest k is the least that a median can miss.
    floor = 10.0 ** (math.ceil(math.log10(0.5 / rows["k"].max())) - 1)
    turned = {"q25": rows["q75"], "median": rows["median"], "q75": rows["q25"]}
    rows = Table(rows | {name: np.maximum(1 - share, floor) for name, share in turned.items()})
    lines(axis, rows, labels, missing=missing)
    log_axis(axis.yaxis, [floor, 1])
    axis.yaxis.set_major_formatter(
        lambda value, _: "0" if value < 2 * floor else power_of_ten(round(math.log10(value)))
    )


def gaps_panel(axis, rows, unresolved=0):
    """The gaps between neighbouring counts at the top; unresolved as for errors_panel."""
    axis.set_ylabel(GAP)
    if not rows.size:
        axis.set_yticks([])
        remark(axis, "no gap: one item")
        return
    padded = rows["gap"] + 1
    axis.plot(rows["k"], padded, color=INK, linewidth=0.8, label=GAP)
    log_axis(axis.yaxis, padded)
    if unresolved:
        shaded(axis, unresolved + 1, "below: drawn, not read")


def histogram_panel(axis, rows, modelled=0):
    """How many items have a count in each bin; the bin of count 0 stands apart at the left.

    modelled: below which count the bins were not counted.
    """
    rows = rows.where(rows["items"] > 0)
    low, high, items = rows["low"], rows["high"], rows["items"]
    zero, most = low[0] == 0, max(high[-1], 10)
    decades = math.ceil(math.log10(most))
    axis.set_xscale("symlog", linthresh=1, linscale=0.6)
    axis.bar(
        low,
        items,
        high - low,
        align="edge",
        color=BARS,
        # White between bars; but where they are narrow it would hide them.
        edgecolor="white" if decades <= 9 else BARS,
        linewidth=0.3,
    )
    guess = low < modelled
    if guess.any():
        axis.bar(low[guess], items[guess], (high - low)[guess], align="edge", **HATCHED)
    axis.set(xlabel=f"item count ($d$ = {number(items.sum())})", ylabel="items in bin")
    log_axis(axis.yaxis, [1, items.max()])
    axis.set_ylim(bottom=0.5)  # a bin with one item has height
    axis.set_xlim(0 if zero else 1, most * 10 ** (0.015 * decades))
    # The label 0 stands under its bin; beside it there is no room for a label of 1.
    ticks = {0.5: "0"} if zero else {}
    every = math.ceil(decades / 4)
    for n in range(int(zero), decades + 1):
        ticks[10.0**n] = power_of_ten(n) if n % every == 0 else ""
    axis.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axis.xaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axis.xaxis.set_minor_locator(NullLocator())


def number(d):
    """A number of items with all its digits, as long as they fit under a panel."""
    if d < 10**10:
        return f"{d:,.0f}"
    digits, _, power = f"{d:.3e}".partition("e")
    return f"{float(digits):g} \u00b7 {power_of_ten(int(power))}"
