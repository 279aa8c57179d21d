"""Print a table of docs/choosing.md, from the results of `make field`:

python -m tools.answers ranking|best-up-to|perfect|contributions|no-list|no-list-errors [FOLDER]

FOLDER has the results: field/results by default. `python -m tools.answers mechanisms` prints the
table of docs/mechanisms.md, from what the modules of the mechanisms declare.
"""

import math
from pathlib import Path

import pandas as pd

from dp_topk import mechanisms
from tools import ROOT, show
from workflow.scripts.common import InputError, made, program
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_yaml
from workflow.scripts.figures.catalogue import WITH_LIST
from workflow.scripts.ranking.leaderboard import WINNERS, read_trials, winners
from workflow.scripts.ranking.pages import GUARANTEES, OUTPUTS, SUMMARY, with_intervals
from workflow.scripts.results.tables import CELL

KS = (25, 95, 195)
OF_SETS = ("canonical_signed", "canonical", "joint")
LEADERS = {"sequence": WITH_LIST, "set": ("canonical_signed", "rdp_peel")}
UNBOUNDED = {
    "sequence": ("limited_joint", "limited_peel"),
    "set": ("limited_canonical", "limited_peel"),
}


def by_dataset(plan, columns, text):
    """A row for each dataset; columns: {head: what text(dataset, *...) is called with}."""
    rows = (
        [plan["datasets"][dataset]["title"], *(text(dataset, *of) for of in columns.values())]
        for dataset in plan.dataset_names
    )
    return ["", *columns], rows


def last(values, holds):
    """The last of the values up to which something holds, as text."""
    reached = "none"
    for value in values:
        if not holds(value):
            break
        reached = str(value)
    return reached


def epsilons(plan):
    """The first epsilon, and the smallest."""
    return dict.fromkeys([plan["epsilons"][0], min(plan["epsilons"])])


def medians(errors):
    """{(dataset, mechanism, epsilon, k, metric): median error}."""
    return errors.set_index([*CELL, "metric"])["median"].to_dict()


def among_the_best(won, guarantee):
    """{(dataset, output, epsilon, k): the winner, and all that tie with it}."""
    return {
        (row.dataset, row.output, row.epsilon, row.k): {row.winner, *row.tied_with.split()}
        for row in won.itertuples()
        if (row.guarantee, row.metric) == (guarantee, SUMMARY[row.output])
    }


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
    return ["name", "gives", "promise", "needs", "source"], rows, range(5)


def ranking(board, plan):
    """Every mechanism over all datasets, in the groups that the map of winners shows."""
    columns = ("cells", "mean_rank", "wins", "sure_wins", "ties", "regret")
    labels, rows = plan.labels(*plan.ranked()), board.to_dict("records")
    shown = (
        [GUARANTEES[row["guarantee"]], OUTPUTS[row["output"]], labels[row["mechanism"]]]
        + [str((row | with_intervals(row))[name]) for name in columns]
        for row in rows
        if (row["dataset"], row["metric"]) == (rows[0]["dataset"], SUMMARY[row["output"]])
        and row["guarantee"] != "either"
    )
    heads = ("guarantee", "output", "mechanism", *(name.replace("_", " ") for name in columns))
    return heads, shown, range(3)


def best_up_to(won, plan, leaders=LEADERS):
    """The largest k up to which a mechanism is the best of all, or ties with the best."""
    best = among_the_best(won, "either")

    def reached(dataset, output, epsilon, name):
        return last(plan["ks"], lambda k: name in best.get((dataset, output, epsilon, k), ()))

    columns = {
        f"{output}, ε = {epsilon:g}: {label}": (output, epsilon, name)
        for output, names in leaders.items()
        for epsilon in epsilons(plan)
        for name, label in plan.labels(*names).items()
    }
    return by_dataset(plan, columns, reached)


def perfect_up_to(errors, plan, names=OF_SETS):
    """The largest k up to which the median trial of each mechanism finds the whole top k."""
    median = medians(errors)

    def reached(dataset, epsilon, name):
        return last(plan["ks"], lambda k: median.get((dataset, name, epsilon, k, "recall")) == 1)

    columns = {
        f"ε = {epsilon:g}: {label}": (epsilon, name)
        for epsilon in epsilons(plan)
        for name, label in plan.labels(*names).items()
    }
    return by_dataset(plan, columns, reached)


def contributions(errors, plan):
    """The largest c up to which noise with that c is as good as the best that cannot use c.

    Compared are median errors, of mechanisms with the same guarantee.
    """
    about, bounded, median = plan.ranked(), plan.bounded(), medians(errors)

    def reached(dataset, name, k):
        def error(name):
            return median.get((dataset, name, plan["epsilons"][0], k, "linf"), math.inf)

        best = min(
            error(other)
            for other, its in about.items()
            if its["guarantee"] == about[name]["guarantee"]
            and not its["output"].startswith("partial")
            and other not in bounded
        )
        names = dict(bounded[name])
        return last(names, lambda c: error(names[c]) <= best) if best < math.inf else ""

    labels = plan.labels(*bounded)
    columns = {f"{labels[name]}, k = {k}": (name, k) for name in bounded for k in KS}
    return by_dataset(plan, columns, reached)


def without_list(trials, plan, pairs=UNBOUNDED):
    """Which of two mechanisms is best up to which k; pairs: {output: their names}."""
    among = {}
    for output, names in pairs.items():
        some = trials[trials["mechanism"].isin(names) & trials["epsilon"].isin(epsilons(plan))]
        about = {"guarantee": "approx", "output": output}
        won = winners(some, dict.fromkeys(names, about))
        among |= among_the_best(pd.DataFrame(won, columns=WINNERS), "approx")

    def ranges(dataset, output, epsilon):
        first, second = pairs[output]
        until = last(plan["ks"], lambda k: first in among.get((dataset, output, epsilon, k), ()))
        first, second = plan.labels(first, second).values()
        if until in ("none", str(plan["ks"][-1])):
            return second if until == "none" else first
        return f"up to k = {until} {first}, then {second}"

    columns = {f"{o}, ε = {e:g}": (o, e) for o in pairs for e in epsilons(plan)}
    return *by_dataset(plan, columns, ranges), range(1 + len(columns))


def errors_without_list(errors, plan):
    """Median error and, where it is not always k, the number of items that came out."""
    median = medians(errors)
    unlisted = [n for n in plan.ranked() if not plan.mechanism(n).needs_domain]
    labels = plan.labels(*unlisted, *WITH_LIST)

    def text(dataset, k, name):
        linf, k_relative, returned = (
            median.get((dataset, name, plan["epsilons"][0], k, metric), math.nan)
            for metric in ("linf", "k_relative", "returned")
        )
        error = k_relative if math.isnan(linf) else linf
        return f"{error:,.0f}" + ("" if math.isnan(returned) else f" ({returned:g})")

    rows = (
        [plan["datasets"][dataset]["title"], str(k), *(text(dataset, k, name) for name in labels)]
        for dataset in plan.dataset_names
        for k in KS
    )
    return ["", "k", *labels.values()], rows


# {table: (the results that it comes from, what makes it of them and the plan)}
TABLES = {
    "ranking": ("leaderboard.csv", ranking),
    "best-up-to": ("winners.csv", best_up_to),
    "perfect": ("errors.csv", perfect_up_to),
    "contributions": ("errors.csv", contributions),
    "no-list": ("trials.csv", without_list),
    "no-list-errors": ("errors.csv", errors_without_list),
}


def main(answer, folder=ROOT / "field/results"):
    """Print a table."""
    if answer == "mechanisms":
        return show(*about_mechanisms())
    if answer not in TABLES:
        raise InputError(f"there is no table {answer!r}, only mechanisms, {', '.join(TABLES)}")
    name, table = TABLES[answer]
    results = made(Path(folder) / name, "field")
    plan = Plan(read_yaml(results.with_name("config.yaml")), ROOT)
    return show(*table(read_trials(results), plan))


if __name__ == "__main__":
    program(main)
