"""The notes under figures: what lines and bands are, and what is left out and why."""

import re

from workflow.scripts.figures.panels import powers

_PLACE = re.compile(r" at k = \d+ and epsilon = [\d.e-]+")  # in a reason; the note says where
SYMBOL = {"k": "k", "epsilon": "\u03b5"}
MOST = 4  # statements about what is missing; results/missing.csv has them all


def of_samples(rows, unit="trials", column="trials"):
    """What a line and its band show."""
    if not rows.size:
        return ""
    least, most = rows[column].min(), rows[column].max()
    number = f"{least:.0f}" if least == most else f"{least:.0f} to {most:.0f}"
    return f"Line: median of {number} {unit}. Band: quartiles."


def of_errors(errors, missing, titles, labels, delta, unresolved, **fixed):
    """What the lines of a figure show, how far counts are known, and where lines are broken.

    fixed: {"epsilon": [...]} of panels against k, {"k": [...]} of those against epsilon.
    delta is 0 where no mechanism is approximate.
    """
    ((column, values),) = fixed.items()
    x = "k" if column == "epsilon" else "epsilon"
    places = [f"{SYMBOL[column]} = {value:g}" for value in values]
    first = [of_samples(errors.at(**fixed)), f"{places[0]}." if len(places) == 1 else ""]
    if delta:
        first.append(f"Approximate: (\u03b5, \u03b4)-DP with \u03b4 = {powers(delta)}.")
    broken = []
    for value, place in zip(values, places, strict=True):
        tables = (table.at(**{column: value}) for table in (errors, missing))
        said = of_missing(*tables, titles, labels, x)
        broken += [f"At {place}, {words}" if len(places) > 1 else words for words in said]
    if len(broken) > MOST:
        broken[MOST:] = [f"and {len(broken) - MOST} more: results/missing.csv"]
    shaded = [
        f"Shaded: counts of {titles[dataset]} are known to within {width} only; smaller "
        "differences are modelled, not read."
        for dataset, width in unresolved.items()
    ]
    return [" ".join(filter(None, first)), *shaded, *broken]


def of_modelled(titles, modelled):
    """Which counts are modelled; modelled: {dataset: below which count}."""
    where = [f"{titles[dataset]} below {below:,}" for dataset, below in modelled.items()]
    return f"Hatched (modelled, not counted): {', '.join(where)}." if where else ""


def of_limits(limits, mark=""):
    """Which mechanisms were run at some epsilons only."""
    for label, some in limits.items():
        where = " and ".join(f"{epsilon:g}" for epsilon in some)
        yield f"{label} was run at \u03b5 = {where} only{mark}."


def of_approximate(groups, shown, delta):
    """Which of the mechanisms that are shown guarantee less than the others."""
    weaker = [label for name, label in groups["approx"].items() if name in shown]
    if not weaker:
        return ""
    others = " The others: \u03b5-DP." if len(weaker) < len(shown) else ""
    return f"(\u03b5, \u03b4)-DP with \u03b4 = {powers(delta)}: {', '.join(weaker)}.{others}"


def of_times(timing, labels, published):
    """What was timed, how often, and which mechanisms at fewer k than the others."""
    first = f"{of_samples(timing, 'calls')} \u03b5 = {timing['epsilon'][0]:g}."
    if timing["trials"].min() < timing["trials"].max():
        first += " Slow calls were timed less often."
    yield first
    if published:
        yield "Open markers: the published algorithms in NumPy, not the published code."
    ks = {name: timing.at(mechanism=name).size for name in labels}
    most = max(ks.values())
    for number in sorted({*ks.values()} - {0, most}):
        names = [name for name in labels if ks[name] == number]
        who = ", ".join(labels[name] for name in names)
        if names == published:
            who = "the published algorithms"
        yield f"Timed at {number} of the {most} k only: {who}."


def of_missing(errors, missing, titles, labels, x):
    """Sentences on the cells that have no results: which, and the reason."""
    on = {}  # (mechanisms, where, reason): datasets
    for dataset in titles:
        holes = missing.at(dataset=dataset, mechanism=list(labels))
        known = {*errors.at(dataset=dataset)[x], *holes[x]} if holes.size else ()
        cells, who = {}, {}  # (reason, mechanism): where; (reason, where): mechanisms
        for reason, name, place in holes.rows("reason", "mechanism", x):
            cells.setdefault((_PLACE.sub("", reason), name), set()).add(place)
        for (reason, name), places in cells.items():
            who.setdefault((reason, _places(sorted(places), known, x)), []).append(name)
        for (reason, where), names in who.items():
            names = tuple(name for name in labels if name in names)
            on.setdefault((names, where, reason), []).append(titles[dataset])
    for (names, where, reason), datasets in on.items():
        which = "" if len(names) == len(labels) else ", ".join(map(labels.get, names)) + ": "
        of_which = f" on {', '.join(datasets)}" if len(titles) > 1 else ""
        yield f"{which}{where} left out{of_which}: {reason}"


def _places(places, known, x):
    """`k >= 55`, or all of them, in the order of size."""
    if len(places) > 1 and places == sorted(place for place in known if place >= places[0]):
        return f"{SYMBOL[x]} \u2265 {places[0]:g}"
    return f"{SYMBOL[x]} = {', '.join(f'{place:g}' for place in places)}"
