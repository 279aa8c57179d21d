"""The tables of docs/choosing.md, from the results of `make field`, each by its name:

python -m tools.answers ranking|best-up-to|perfect|contributions|no-list|no-list-errors [FOLDER]

FOLDER has the results: field/results, unless another is given. `python -m tools.answers mechanisms`
prints the table of docs/mechanisms.md, from what the mechanisms say of themselves.
"""

import csv
import math
import sys
from pathlib import Path

import yaml

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config.plan import Plan
from workflow.scripts.figures.columns import read
from workflow.scripts.ranking.leaderboard import WINNERS, read_trials, winners
from workflow.scripts.ranking.pages import GUARANTEES, OUTPUTS, SUMMARY, with_intervals

ROOT = Path(__file__).parents[1]
KS = (25, 95, 195)
OF_SETS = ("canonical_signed", "canonical", "joint")
LEADERS = {"sequence": ("joint", "rdp_peel"), "set": ("canonical_signed", "rdp_peel")}
WITH_LIST = ("joint", "rdp_peel")
UNBOUNDED = {
    "sequence": ("limited_joint", "limited_peel"),
    "set": ("limited_canonical", "limited_peel"),
}
BEST = {"linf": min, "recall": max}
PERFECT = {"linf": 0, "recall": 1}


def table(heads, rows, texts=1):
    """Lines of a table whose first columns are texts and whose others are numbers."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * texts + "--:|" * (len(heads) - texts)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def by_dataset(plan, columns, text, texts=1):
    """A row for each dataset; columns: {head: what text(dataset, *...) is called with}."""
    rows = (
        [plan["datasets"][dataset]["title"], *(text(dataset, *of) for of in columns.values())]
        for dataset in plan.dataset_names
    )
    return table(["", *columns], rows, texts)


def last(values, holds):
    """The last of the values up to which something holds, as text."""
    reached = "none"
    for value in values:
        if not holds(value):
            break
        reached = str(value)
    return reached


def about_mechanisms():
    """What each mechanism gives, promises and needs, and where it was published."""

    def needs(mechanism):
        yield "a list of items" if mechanism.needs_domain else "no list"
        if mechanism.guarantee == "approx":
            yield "δ" + (" (or 0)" if mechanism.zero_delta else "")
        if "contributions" in mechanism.options:
            yield "can use a bound c" if mechanism.needs_domain else "users with at most c items"

    rows = (
        [f"`{m.name}`", OUTPUTS[m.output], GUARANTEES[m.guarantee], ", ".join(needs(m)), m.citation]
        for m in map(mechanisms.get, mechanisms.names())
    )
    return table(["name", "gives", "promise", "needs", "source"], rows, texts=5)


def ranking(rows, labels):
    """Every mechanism over all datasets, in the groups that the map of winners shows."""
    columns = ("cells", "mean_rank", "wins", "sure_wins", "ties", "regret")
    heads = ("guarantee", "output", "mechanism", *(name.replace("_", " ") for name in columns))
    shown = (
        row | with_intervals(row)
        for row in rows
        if (row["dataset"], row["metric"]) == (rows[0]["dataset"], SUMMARY[row["output"]])
        and row["guarantee"] != "either"
    )
    texts = (
        [
            GUARANTEES[row["guarantee"]],
            OUTPUTS[row["output"]],
            labels[row["mechanism"]],
            *(row[name] for name in columns),
        ]
        for row in shown
    )
    return table(heads, texts, texts=3)


def best_up_to(won, plan, leaders, epsilons):
    """The largest k up to which a mechanism is the best of all, or not told from the best."""

    def reached(dataset, output, epsilon, name):
        group = {"guarantee": "either", "output": output, "metric": SUMMARY[output]}
        own = won.at(dataset=dataset, epsilon=epsilon, **group)
        cells = zip(*(own[column].tolist() for column in ("k", "winner", "tied_with")), strict=True)
        among = {k: {winner, *tied.split()} for k, winner, tied in cells}
        return last(plan["ks"], lambda k: name in among.get(k, ()))

    columns = {
        f"{output}, \u03b5 = {epsilon:g}: {label}": (output, epsilon, name)
        for output, names in leaders.items()
        for epsilon in epsilons
        for name, label in plan.labels(*names).items()
    }
    return by_dataset(plan, columns, reached)


def perfect_up_to(errors, plan, metric, names, epsilons):
    """The largest k up to which the median trial of each mechanism is perfect, by dataset."""

    def reached(dataset, epsilon, name):
        own = errors.at(dataset=dataset, epsilon=epsilon, metric=metric, mechanism=name)
        medians = medians_by("k", own)
        return last(plan["ks"], lambda k: medians.get(k) == PERFECT[metric])

    columns = {
        f"\u03b5 = {epsilon:g}: {label}": (epsilon, name)
        for epsilon in epsilons
        for name, label in plan.labels(*names).items()
    }
    return by_dataset(plan, columns, reached)


def contributions(errors, plan, metric):
    """The largest c up to which noise with that c is as good as what cannot use c.

    Compared with the best mechanism of the same guarantee, by the median error.
    """
    about, bounded, better = plan.ranked(), plan.bounded(), BEST[metric]
    errors = errors.at(epsilon=plan["epsilons"][0], metric=metric)

    def reached(dataset, name, k):
        medians = medians_by("mechanism", errors.at(dataset=dataset, k=k))
        rivals = [
            medians[other]
            for other, its in about.items()
            if its["guarantee"] == about[name]["guarantee"]
            and not its["output"].startswith("partial")
            and other in medians.keys() - bounded.keys()
        ]
        names = dict(bounded[name])

        def as_good(c):
            return better([medians[names[c]], *rivals]) == medians[names[c]]

        return last(names, as_good) if rivals else ""

    labels = plan.labels(*bounded)
    columns = {f"{labels[name]}, k = {k}": (name, k) for name in bounded for k in KS}
    return by_dataset(plan, columns, reached)


def without_list(trials, plan, pairs, epsilons):
    """Which of two mechanisms is best up to which k; pairs: {output: their names}."""
    among = {}
    for output, names in pairs.items():
        some = trials[trials["mechanism"].isin(names) & trials["epsilon"].isin(epsilons)]
        about = {"guarantee": "approx", "output": output}
        for row in winners(some, dict.fromkeys(names, about)):
            cell = dict(zip(WINNERS, row, strict=True))
            if (cell["guarantee"], cell["metric"]) == ("approx", SUMMARY[output]):
                key = cell["dataset"], output, cell["epsilon"], cell["k"]
                among[key] = {cell["winner"], *cell["tied_with"].split()}

    def ranges(dataset, output, epsilon):
        first, second = pairs[output]
        until = last(plan["ks"], lambda k: first in among.get((dataset, output, epsilon, k), ()))
        first, second = plan.labels(first, second).values()
        if until in ("none", str(plan["ks"][-1])):
            return second if until == "none" else first
        return f"up to k = {until} {first}, then {second}"

    columns = {f"{o}, \u03b5 = {e:g}": (o, e) for o in pairs for e in epsilons}
    return by_dataset(plan, columns, ranges, texts=1 + len(columns))


def errors_without_list(errors, plan, names, epsilon):
    """Median error, and how many items came out where those are not always k."""
    errors = errors.at(epsilon=epsilon)

    def text(dataset, k, name):
        medians = medians_by("metric", errors.at(dataset=dataset, k=k, mechanism=name))
        error = medians.get("linf", medians.get("k_relative", math.nan))
        items = f" ({medians['returned']:g})" if "returned" in medians else ""
        return f"{error:,.0f}{items}"

    rows = (
        [plan["datasets"][dataset]["title"], str(k), *(text(dataset, k, name) for name in names)]
        for dataset in plan.dataset_names
        for k in KS
    )
    return table(["", "k", *plan.labels(*names).values()], rows)


def medians_by(column, errors):
    """{value of the column: median}."""
    return dict(zip(errors[column].tolist(), errors["median"].tolist(), strict=True))


def lines_of(answer, folder):
    """The lines of a table."""
    if answer == "mechanisms":
        return about_mechanisms()
    if not (folder / "leaderboard.csv").is_file():
        raise InputError(f"{folder}/leaderboard.csv does not exist: run `make field` first")
    plan = Plan(yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8")), ROOT)
    epsilons = list(dict.fromkeys([plan["epsilons"][0], min(plan["epsilons"])]))
    if answer == "ranking":
        with open(folder / "leaderboard.csv", encoding="utf-8", newline="") as file:
            return ranking(list(csv.DictReader(file)), plan.labels(*plan.ranked()))
    if answer == "best-up-to":
        return best_up_to(read(folder / "winners.csv"), plan, LEADERS, epsilons)
    if answer == "no-list":
        return without_list(read_trials(folder / "trials.csv"), plan, UNBOUNDED, epsilons)
    errors = read(folder / "errors.csv")
    if answer == "perfect":
        return perfect_up_to(errors, plan, "recall", OF_SETS, epsilons)
    if answer == "contributions":
        return contributions(errors, plan, "linf")
    if answer == "no-list-errors":
        unlisted = [n for n in plan.ranked() if not mechanisms.get(plan.variant(n)[0]).needs_domain]
        return errors_without_list(errors, plan, [*unlisted, *WITH_LIST], epsilons[0])
    raise InputError(f"there is no table {answer!r}; the docstring of tools/answers.py lists them")


def main(answer, folder=ROOT / "field/results"):
    print(*lines_of(answer, Path(folder)), sep="\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
