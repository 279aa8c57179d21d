"""The tables of docs/choosing.md, from the results of `make field`, each by its name:

python -m tools.answers ranking|perfect|contributions|no-list [field/results]
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
from workflow.scripts.ranking.pages import GUARANTEES, OUTPUTS, SUMMARY

ROOT = Path(__file__).parents[1]
KS = (25, 95, 195)
OF_SETS = ("canonical_signed", "canonical", "joint")
WITH_LIST = ("joint", "rdp_peel")
BEST = {"linf": min, "recall": max}
PERFECT = {"linf": 0, "recall": 1}


def ranking(rows, labels):
    """Every mechanism over all datasets, in the groups that the map of winners shows."""
    yield (
        "| guarantee | output | mechanism | cells | mean rank | wins | significant wins | ties "
        "| regret |"
    )
    yield "|---|---|---|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        group = row["dataset"], row["metric"]
        if group == (rows[0]["dataset"], SUMMARY[row["output"]]) and row["guarantee"] != "either":
            yield (
                f"| {GUARANTEES[row['guarantee']]} | {OUTPUTS[row['output']]} "
                f"| {labels[row['mechanism']]} | {row['cells']} | {_interval(row, 'mean_rank', 2)} "
                f"| {_interval(row, 'wins', 0)} | {row['sure_wins']} | {row['ties']} "
                f"| {_interval(row, 'regret', 2)} |"
            )


def _interval(row, column, digits):
    """A value and the interval around it."""
    value, low, high = (f"{float(row[column + end]):.{digits}f}" for end in ("", "_low", "_high"))
    return f"{value} ({low} to {high})"


def perfect_up_to(errors, plan, metric, names, epsilon):
    """The largest k up to which the median trial of each mechanism is perfect, by dataset."""
    yield f"| | {' | '.join(plan.labels(*names).values())} |"
    yield "|---" + "|--:" * len(names) + "|"
    errors = errors.at(epsilon=epsilon, metric=metric)
    for dataset in plan.dataset_names:
        found = []
        for name in names:
            own = errors.at(dataset=dataset, mechanism=name)
            medians = dict(zip(own["k"].tolist(), own["median"].tolist(), strict=True))
            found.append(_last(plan["ks"], lambda k, m=medians: m.get(k) == PERFECT[metric]))
        yield f"| {plan['datasets'][dataset]['title']} | {' | '.join(found)} |"


def contributions(errors, plan, metric):
    """The largest c up to which noise with that c is as good as what cannot use c.

    Compared with the best mechanism of the same guarantee, by the median error.
    """
    about, bounded = plan.ranked(), plan.bounded()
    heads = [f"{label}, k = {k}" for label in plan.labels(*bounded).values() for k in KS]
    yield f"| | {' | '.join(heads)} |"
    yield "|---" + "|--:" * len(heads) + "|"
    errors = errors.at(epsilon=plan["epsilons"][0], metric=metric)
    for dataset in plan.dataset_names:
        found = []
        for name, pairs in bounded.items():
            alike = [
                other
                for other in about
                if about[other]["guarantee"] == about[name]["guarantee"]
                and not about[other]["output"].startswith("partial")
            ]
            for k in KS:
                own = errors.at(dataset=dataset, k=k)
                medians = dict(zip(own["mechanism"].tolist(), own["median"].tolist(), strict=True))
                rivals = [medians[n] for n in alike if n not in bounded and n in medians]
                best, names = BEST[metric](rivals, default=None), dict(pairs)
                found.append(
                    _last(
                        names,
                        lambda c, n=names, m=medians, b=best: BEST[metric](m[n[c]], b) == m[n[c]],
                    )
                    if rivals
                    else ""
                )
        yield f"| {plan['datasets'][dataset]['title']} | {' | '.join(found)} |"


def _last(values, holds):
    """The last of the values up to which something holds, as text."""
    reached = "none"
    for value in values:
        if not holds(value):
            break
        reached = str(value)
    return reached


def without_list(errors, plan, names, epsilon):
    """Median error, and how many items came out where those are not always k."""
    yield f"| | k | {' | '.join(plan.labels(*names).values())} |"
    yield "|---|--:" + "|--:" * len(names) + "|"
    errors = errors.at(epsilon=epsilon)
    for dataset in plan.dataset_names:
        for k in KS:
            own = errors.at(dataset=dataset, k=k)
            found = []
            for name in names:
                cell = own.at(mechanism=name)
                medians = dict(zip(cell["metric"].tolist(), cell["median"].tolist(), strict=True))
                error = medians.get("linf", medians.get("k_relative", math.nan))
                items = f" ({medians['returned']:g})" if "returned" in medians else ""
                found.append(f"{error:,.0f}{items}")
            yield f"| {plan['datasets'][dataset]['title']} | {k} | {' | '.join(found)} |"


def side_by_side(tables):
    """One table of several that have the same rows: {head of a table: its lines}."""
    heads, rulers, *rows = zip(*tables.values(), strict=True)
    first = [
        " | ".join(f"{head}: {name}" for name in line.split(" | ")[1:])
        for head, line in zip(tables, heads, strict=True)
    ]
    yield "| | " + " | ".join(text.removesuffix(" |") for text in first) + " |"
    for lines in (rulers, *rows):
        cut = [line.strip("|").split("|", 1) for line in lines]
        yield f"|{cut[0][0]}|{'|'.join(rest for _, rest in cut)}|"


def main(answer, folder=ROOT / "field/results"):
    folder = Path(folder)
    if not (folder / "leaderboard.csv").is_file():
        raise InputError(f"{folder}/leaderboard.csv does not exist: run `make field` first")
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    plan = Plan(config, ROOT)
    errors = read(folder / "errors.csv")
    first, least = plan["epsilons"][0], min(plan["epsilons"])
    if answer == "ranking":
        with open(folder / "leaderboard.csv", encoding="utf-8", newline="") as file:
            lines = ranking(list(csv.DictReader(file)), plan.labels(*plan.ranked()))
    elif answer == "perfect":
        lines = side_by_side(
            {
                f"\u03b5 = {epsilon:g}": perfect_up_to(errors, plan, "recall", OF_SETS, epsilon)
                for epsilon in (first, least)
            }
        )
    elif answer == "contributions":
        lines = contributions(errors, plan, "linf")
    elif answer == "no-list":
        unlisted = [n for n in plan.ranked() if not mechanisms.get(plan.variant(n)[0]).needs_domain]
        lines = without_list(errors, plan, [*unlisted, *WITH_LIST], first)
    else:
        raise InputError(f"there is no table {answer!r}: ranking, perfect, contributions, no-list")
    print(*lines, sep="\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
