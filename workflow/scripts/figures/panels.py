"""The panels of figures: their axes, and what is drawn on them."""

import math
from itertools import accumulate

import numpy as np
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

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


def powers(number, digits=15):
    """A number such as 2.5e-07 for people: 2.5 \u00b7 10\u207b\u2077."""
    digits, _, exponent = f"{number:.{digits}g}".partition("e")
    if not exponent:
        return digits
    return ("" if digits == "1" else f"{digits} \u00b7 ") + power_of_ten(int(exponent))


def log_axis(axis, values, foot=0):
    """Make an x or y axis logarithmic around `values`, with a few labelled powers of ten.

    foot: a power of ten that stands for 0, and is labelled so.
    """
    low, high = log_limits(np.min(values), np.max(values))
    name = axis.axis_name
    axis.axes.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(
        lambda value, _: "0" if value < 2 * foot else power_of_ten(round(math.log10(value)))
    )
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
    shown = [values[0]]
    for value in values:
        if value >= shown[-1] * room:
            shown.append(value)
    axis.set_major_formatter(lambda value, _: f"{value:g}" if value in shown else "")
    axis.set_minor_locator(NullLocator())


def k_axis(axis, ks):
    """An x axis of whole numbers that begins and ends with the data."""
    low, high = min(ks), max(ks)
    margin = max(0.03 * (high - low), 0.5)
    axis.set(xlabel="$k$", xlim=(low - margin, high + margin))
    several = MaxNLocator(5, integer=True, steps=[1, 2, 5, 10])
    axis.xaxis.set_major_locator(several if low < high else FixedLocator([low]))


def lines(axis, rows, labels, x="k", pad=0, missing=None):
    """Draw the median and the band between the quartiles of each mechanism in `labels`.

    A line is broken where `missing` has a row of its mechanism. At one k only there are points
    side by side, each with its quartiles as a bar. A panel without data says so instead of staying
    blank. Returns the quartiles that were drawn.
    """
    rows = rows.at(mechanism=list(labels))
    if not rows.size:
        axis.set_yticks([])
        remark(axis, "no results")
        return []
    one_k = x == "k" and np.unique(rows[x]).size == 1
    band = {"alpha": 0.4, "linewidth": 2} if one_k else {"alpha": 0.18, "linewidth": 0.4}
    longest = np.unique(rows["mechanism"], return_counts=True)[1].max()
    for place, (name, label) in enumerate(labels.items()):
        line = rows.at(mechanism=name)
        if not line.size:
            continue
        holes = missing.at(mechanism=name)[x] if missing else []
        xs = np.append(line[x], holes)
        if one_k:
            xs = xs + 0.7 * (place + 0.5) / len(labels) - 0.35
        order = np.argsort(xs)
        gaps = np.full(len(holes), np.nan)
        low, middle, high = (np.append(line[q] + pad, gaps)[order] for q in QUARTILES)
        every = 1
        if line.size == longest > MARK_ALL:
            # Overlapping lines carry their markers at different points.
            step = min(line.size, max(math.ceil(line.size / MARKERS), len(labels)))
            every = (place % step, step)
        style = look(name)
        axis.fill_between(xs[order], low, high, color=style["color"], **band)
        axis.plot(xs[order], middle, label=label, markevery=every, **style)
    return np.append(rows["q25"], rows["q75"]) + pad


def remark(axis, words):
    """Say in the middle of a panel what its lines cannot show."""
    axis.text(0.5, 0.5, words, transform=axis.transAxes, ha="center", va="center", color=INK)


def shaded(axis, high, words=""):
    """Shade the panel up to a y: what lies below it is not known."""
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
            end = (math.log(y[-1]) - low) / (high - low)
            ends.append((end, line.get_label(), line.get_color()))
    if not ends:
        return
    ends.sort()
    step = 0.105 / inches
    # No label on the one below it, and none above the panel.
    heights = list(accumulate((end[0] for end in ends), lambda below, y: max(y, below + step)))
    heights[-1] = min(heights[-1], 1.0)
    heights = list(accumulate(reversed(heights), lambda above, y: min(y, above - step)))
    for height, (end, label, color) in zip(reversed(heights), ends, strict=True):
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
        places = {"xy": (1, end), "xytext": (1.05, height), "xycoords": axis.transAxes}
        words = {"va": "center", "fontsize": 6.3, "color": color, "parse_math": False}
        axis.annotate(label, **places, arrowprops=line | {"relpos": (0, 0.5)}, **words)


def of_times(axis, rows, labels, x, xlabel=""):
    """Seconds of one call of every mechanism."""
    axis.set(xlabel=xlabel, ylabel="seconds for one call")
    log_axis(axis.yaxis, lines(axis, rows, labels, x))


def of_errors(axis, errors, missing, labels, metric, xs, x="k", unresolved=0):
    """One metric of every mechanism that has it, against k or epsilon.

    metric: of METRICS, or `missed`, which is 1 - recall on a logarithmic axis.
    xs: all k, or epsilons, of the figure. unresolved: differences up to this are not known.
    """
    if x == "k":
        k_axis(axis, xs)
    else:
        axis.set_xlabel(r"$\varepsilon$")
        log_axis_at(axis.xaxis, xs)
    if metric == "missed":
        of_missed(axis, errors.at(metric="recall"), missing, labels)
        return
    axis.set_ylabel(METRICS[metric].axis)
    pad = int(METRICS[metric].padded)
    errors = errors.at(metric=metric)
    drawn = lines(axis, errors, labels, x, pad, missing)
    if metric == "recall":
        axis.set_ylim(-0.06, 1.06)
        axis.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    elif metric == "returned":
        axis.set_ylim(0, 1.06 * max([1, *errors["k"], *drawn]))
    elif len(drawn):
        log_axis(axis.yaxis, drawn)
        if unresolved and metric in OF_ONE_ITEM:
            shaded(axis, unresolved + pad)
        if max(drawn) == pad:
            remark(axis, "every quartile is 0")


def of_missed(axis, recall, missing, labels):
    """1 - recall; where nothing is missed, a line lies at the foot of the axis, on 0."""
    axis.set_ylabel("1 \u2212 recall")
    # Half an item of the largest k is the least that a median can miss.
    floor = 10.0 ** (math.ceil(math.log10(0.5 / max([1, *recall["k"]]))) - 1)
    turned = {"q25": recall["q75"], "median": recall["median"], "q75": recall["q25"]}
    missed = {name: np.maximum(1 - share, floor) for name, share in turned.items()}
    if len(lines(axis, Table(recall | missed), labels, missing=missing)):
        log_axis(axis.yaxis, [floor, 1], foot=floor)


def of_gaps(axis, rows, ks, unresolved=0):
    """The gaps between neighbouring counts up to the largest k; unresolved as for of_errors."""
    axis.set_ylabel(GAP)
    k_axis(axis, [1, *ks])
    rows = rows.where(rows["k"] <= max(ks))
    if not rows.size:
        axis.set_yticks([])
        remark(axis, "no gap: one item")
        return
    padded = rows["gap"] + 1
    axis.plot(rows["k"], padded, color=INK, linewidth=0.8, label=GAP)
    log_axis(axis.yaxis, padded)
    if unresolved:
        shaded(axis, unresolved + 1, "below: modelled, not read")


def of_histogram(axis, rows, modelled=0):
    """How many items have a count in each bin; the bin of count 0 stands apart at the left.

    modelled: below which count the bins were not counted.
    """
    rows = rows.where(rows["items"] > 0)
    low, width, items = rows["low"], rows["high"] - rows["low"], rows["items"]
    zero, most = int(low[0] == 0), max(rows["high"][-1], 10)
    decades = math.ceil(math.log10(most))
    axis.set_xscale("symlog", linthresh=1, linscale=0.6)
    # White between bars; but where they are narrow it would hide them.
    edges = {"edgecolor": "white" if decades <= 9 else BARS, "linewidth": 0.3}
    axis.bar(low, items, width, align="edge", color=BARS, **edges)
    guess = low < modelled
    axis.bar(low[guess], items[guess], width[guess], align="edge", **HATCHED)
    d = items.sum()
    d = f"{d:,.0f}" if d < 10**10 else powers(d, 4)  # which fits under a panel
    axis.set(xlabel=f"item count ($d$ = {d})", ylabel="items in bin")
    log_axis(axis.yaxis, [1, items.max()])
    axis.set_ylim(bottom=0.5)  # a bin with one item has height
    # The label 0 stands under its bin; beside it there is no room for a label of 1.
    ticks = {0.5: "0"} if zero else {}
    every = math.ceil(decades / 4)
    for n in range(zero, decades + 1):
        ticks[10.0**n] = power_of_ten(n) if n % every == 0 else ""
    axis.set_xticks(list(ticks), list(ticks.values()))
    axis.set_xlim(1 - zero, most * 10 ** (0.015 * decades))
    axis.xaxis.set_minor_locator(NullLocator())
