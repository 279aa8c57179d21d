"""The notes under figures: what lines and bands are, and what is left out and why."""

import re

import numpy as np

from workflow.scripts.figures.panels import power_of_ten

_PLACE = re.compile(r" at k = \d+ and epsilon = [\d.e-]+")  # in a reason; the note says where
IN_WORDS = {2: "two", 3: "three", 4: "four"}
MOST = 4  # statements about what is missing; results/missing.csv has them all


def of_samples(rows, unit="trials", column="trials"):
    """What a line and its band show."""
    if not rows.size:
        return ""
    least, most = rows[column].min(), rows[column].max()
    number = f"{least:.0f}" if least == most else f"{least:.0f} to {most:.0f}"
    return f"Line: median of {number} {unit}. Band: quartiles."


def of_errors(errors, missing, titles, labels, epsilon, delta, unresolved=()):
    """What the lines of a figure show at one epsilon, and where they are broken."""
    return "\n".join(
        [
            f"{of_samples(errors)} {of_privacy(epsilon, delta)}",
            *of_unresolved(titles, unresolved),
            *of_missing(errors, missing, titles, labels),
        ]
    )


def of_privacy(epsilon, delta):
    """The privacy parameters; delta is 0 where no mechanism is approximate."""
    return f"\u03b5 = {epsilon:g}. {of_delta(delta)}"


def of_delta(delta):
    return f"Approximate: (\u03b5, \u03b4)-DP with \u03b4 = {power(delta)}." if delta else ""


def power(value):
    """A small number for people: 10\u207b\u2076, 2.5 \u00b7 10\u207b\u2077, 0.01."""
    digits, _, exponent = f"{value:.15g}".partition("e")
    if not exponent:
        return digits
    return ("" if digits == "1" else f"{digits} \u00b7 ") + power_of_ten(int(exponent))


def of_unresolved(titles, unresolved):
    """How far counts were read, where that is not exactly."""
    for dataset, width in dict(unresolved).items():
        yield _plain(
            f"Shaded: {titles[dataset]} to within {width} only, so smaller differences were drawn, "
            "not read."
        )


def of_modelled(titles, modelled):
    """Which counts are modelled."""
    where = [f"{titles[dataset]} below {below:,}" for dataset, below in modelled.items()]
    return _plain(f"Hatched: modelled, not counted: {', '.join(where)}.") if where else ""


def of_winners(winners, limits):
    """How to read maps of winners."""
    yield (
        "Letter on colour: smallest median error (sequences: \u2113\u221e; sets: items missed), "
        "significantly so by a rank test. White: a tie; of two, if it has their letters."
    )
    groups, sizes = (
        set(zip(*(winners[name].tolist() for name in names), strict=True))
        for names in (("guarantee", "output"), ("guarantee", "output", "compared"))
    )
    if len(sizes) > len(groups):
        yield "Not every mechanism was run in every cell (results/missing.csv)."
    yield from of_limits(limits, " (*)")


def of_limits(limits, mark=""):
    """Which mechanisms were run at some epsilons only."""
    for label, some in limits.items():
        where = " and ".join(f"{epsilon:g}" for epsilon in some)
        yield _plain(f"{label} was run at \u03b5 = {where} only{mark}.")


def of_approximate(groups, shown, delta):
    """Which of the mechanisms that are shown guarantee less than the others."""
    weaker = [label for name, label in groups["approx"].items() if name in shown]
    if not weaker:
        return ""
    verb = "is" if len(weaker) == 1 else "are"
    others = "; the others: \u03b5-DP" if len(weaker) < len(shown) else ""
    return _plain(
        f"{', '.join(weaker)} {verb} approximate: (\u03b5, \u03b4)-DP with \u03b4 = {power(delta)}"
        f"{others}."
    )


def of_times(timing, labels, published):
    """What was timed, how often, and which mechanisms at fewer k than the others."""
    first = f"{of_samples(timing, 'calls')} \u03b5 = {timing['epsilon'][0]:g}."
    if timing["trials"].min() < timing["trials"].max():
        first += " Slow calls were timed less often."
    said = [first]
    if published:
        said.append("Open markers: the published algorithms in NumPy, not the published code.")
    ks = {name: timing.at(mechanism=name).size for name in labels}
    most = max(ks.values())
    for number in sorted({*ks.values()} - {0, most}):
        names = [name for name in labels if ks[name] == number]
        who = ", ".join(labels[name] for name in names)
        if names == published and len(names) > 1:
            who = f"The {IN_WORDS.get(len(names), len(names))} published algorithms"
        was = "was" if len(names) == 1 else "were"
        said.append(_plain(f"{who} {was} timed at {number} of the {most} k."))
    return "\n".join(said)


def of_missing(errors, missing, titles, labels, x="k"):
    """Sentences on the cells that have no results: which, and the reason."""
    missing = missing.at(dataset=list(titles), mechanism=list(labels))
    missing["reason"] = np.array([_PLACE.sub("", reason) for reason in missing["reason"]], str)
    where = {}  # (mechanisms, places, reason): datasets
    for dataset in titles:
        there = missing.at(dataset=dataset)
        who = {}  # (places, reason): mechanisms
        for reason in dict.fromkeys(there["reason"].tolist()):
            why = there.at(reason=reason)
            for name in labels:
                at = tuple(np.unique(why.at(mechanism=name)[x]).tolist())
                if at:
                    who.setdefault((at, reason), []).append(name)
        known = {*errors.at(dataset=dataset)[x].tolist(), *there[x].tolist()}
        for (at, reason), names in who.items():
            key = tuple(names), _places(at, known, x), reason
            where.setdefault(key, []).append(titles[dataset])
    said = []
    for (names, places, reason), datasets in where.items():
        everybody = len(names) == len(labels)
        which = "" if everybody else ", ".join(labels[name] for name in names) + ": "
        on = f" on {', '.join(datasets)}" if len(titles) > 1 else ""
        said.append(_plain(f"{which}{places} left out{on}: {reason}"))
    rest = [f"and {len(said) - MOST} more: results/missing.csv"] if len(said) > MOST else []
    return said[:MOST] + rest


def _places(at, known, x):
    """`k >= 55`, or all of them, in the order of size."""
    name = x if x == "k" else "\u03b5"
    if len(at) > 1 and set(at) == {value for value in known if value >= at[0]}:
        return f"{name} \u2265 {at[0]:g}"
    return f"{name} = {', '.join(f'{value:g}' for value in at)}"


def _plain(text):
    """Text without formulas, whatever the user's titles hold."""
    return text.replace("$", r"\$")
