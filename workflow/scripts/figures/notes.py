"""The notes under figures: what lines and bands are, and what is left out and why."""

import re

import numpy as np

_PLACE = re.compile(r" at k = \d+ and epsilon = [\d.e-]+")  # in a reason; the note says where
MOST = 4  # statements about what is missing; results/missing.csv has them all


def of_samples(rows, unit="trials", column="trials"):
    """What a line and its band show."""
    if not rows.size:
        return ""
    least, most = rows[column].min(), rows[column].max()
    number = f"{least:.0f}" if least == most else f"{least:.0f} to {most:.0f}"
    return f"Line: median of {number} {unit}. Band: quartiles."


def of_errors(errors, missing, titles, labels, epsilon):
    """What the lines of a figure show at one epsilon, and where they are broken."""
    return "\n".join(
        [
            f"{of_samples(errors)} $\\varepsilon$ = {epsilon:g}",
            *of_missing(errors, missing, titles, labels),
        ]
    )


def of_guarantees(labels, approximate):
    """Which of the mechanisms guarantee less than the others."""
    there = [label for name, label in labels.items() if name in approximate]
    if not there or len(there) == len(labels):
        return ""
    return f"(\u03b5, \u03b4)-DP: {', '.join(there)}; all others: \u03b5-DP."


def of_winners(winners):
    """How to read maps of winners."""
    yield (
        "Colour: smallest median error (sequences: $\\ell_\\infty$; sets: items missed). "
        "Pale with a dot: a rank test does not tell the best from the mechanism of the dot. "
        "Grey: from none."
    )
    groups, sizes = (
        set(zip(*(winners[name].tolist() for name in names), strict=True))
        for names in (("guarantee", "output"), ("guarantee", "output", "compared"))
    )
    if len(sizes) > len(groups):
        yield "Not every mechanism was run in every cell (results/missing.csv)."


def of_times(timing, labels):
    """What was timed, how often, and which mechanisms at fewer k than the others."""
    epsilon = f"$\\varepsilon$ = {timing['epsilon'][0]:g}"
    first = f"{of_samples(timing, 'calls')} {epsilon}"
    if timing["trials"].min() < timing["trials"].max():
        first += ". Slow calls were timed less often."
    ks = {name: timing.at(mechanism=name).size for name in labels}
    most = max(ks.values())
    fewer = {}
    for name, number in ks.items():
        if 0 < number < most:
            fewer.setdefault(number, []).append(labels[name])
    said = [
        f"{', '.join(who)}: timed at {n} of the {most} k (markers)." for n, who in fewer.items()
    ]
    return "\n".join([first, *said])


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
