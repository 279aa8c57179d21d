"""The tables of docs/choosing.md, from the results of `make field`:

python -m tools.answers field/results
"""

import csv
import sys
from pathlib import Path

import yaml

from workflow.scripts.common import InputError
from workflow.scripts.config.plan import Plan
from workflow.scripts.figures.columns import read
from workflow.scripts.ranking.pages import GUARANTEES, SUMMARY

KS = (25, 95, 195)
BEST = {"linf": min, "recall": max}
PERFECT = {"linf": 0, "recall": 1}


def ranking(rows, labels):
    """Every mechanism over all datasets, in the groups that the map of winners shows."""
    yield "| guarantee | output | mechanism | mean rank | wins | sure wins | ties | regret |"
    yield "|---|---|---|--:|--:|--:|--:|--:|"
    for row in rows:
        group = row["dataset"], row["metric"]
        if group == (rows[0]["dataset"], SUMMARY[row["output"]]) and row["guarantee"] != "either":
            yield (
                f"| {GUARANTEES[row['guarantee']]} | {row['output']} | {labels[row['mechanism']]} "
                f"| {float(row['mean_rank']):.2f} | {row['wins']} | {row['sure_wins']} "
                f"| {row['ties']} | {float(row['regret']):.2f} |"
            )


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
                other for other in about if about[other]["guarantee"] == about[name]["guarantee"]
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


def main(folder):
    folder = Path(folder)
    if not (folder / "leaderboard.csv").is_file():
        raise InputError(f"{folder}/leaderboard.csv does not exist: run `make field` first")
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    plan = Plan(config, Path(__file__).parents[1])
    labels, about = plan.labels(*plan.ranked()), plan.ranked()
    with open(folder / "leaderboard.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    errors = read(folder / "errors.csv")
    print("\nAll datasets together\n", *ranking(rows, labels), sep="\n")
    for metric in PERFECT:
        names = [n for n in about if metric == "recall" or about[n]["output"] == "sequence"]
        for epsilon in (plan["epsilons"][0], min(plan["epsilons"])):
            print(f"\nPerfect by {metric} up to which k, epsilon = {epsilon:g}\n")
            print(*perfect_up_to(errors, plan, metric, names, epsilon), sep="\n")
    for metric in PERFECT:
        print(f"\nAs good by {metric} up to which c, epsilon = {plan.epsilon_texts[0]}\n")
        print(*contributions(errors, plan, metric), sep="\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
