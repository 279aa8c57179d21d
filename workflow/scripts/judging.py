"""What a statement about the results is judged by: the tables, and one meaning for each word.

Two mechanisms are compared at each k by the medians of their trials. A difference is *sure* if
a two-sided Mann-Whitney rank test of the trials finds it too, at a level of 5 % shared by all k
of that comparison. Factors are geometric means over k of the ratio of medians padded by 1, as
in the paper's figures. Words have one meaning each:

    consistently, always   true at more than half of the k and surely false at none
    dominates              consistently lower, where the medians differ
    mostly, largely, wide  true at more than half of the k (partly: at more than a quarter)
    often, almost always   true at a third, at 90 %, or more
    much; slightly         by a factor of 2 or more; by less than that
    matches                at most a quarter higher
    small, moderate k      k <= 20, 20 < k <= 100
    roughly k = 30         after k = 20 and before k = 40
    several                three or more

"At more than half of the k" leaves out the k at which both medians are 0: there is nothing to
win. A statement about several datasets holds if it holds on each, and does not hold if it holds
not even partly on any; between these it holds partly.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workflow.scripts import metrics
from workflow.scripts.comparing import LEVEL, compare, rank_z, two_sided

HOLDS, PARTLY, DOES_NOT_HOLD, NOT_CHECKED = "holds", "partly", "does not hold", "not checked"
VERDICTS = (HOLDS, PARTLY, DOES_NOT_HOLD, NOT_CHECKED)

MUCH, MATCH = 2, 1.25
OFTEN, ALMOST_ALWAYS = 1 / 3, 0.9
SMALL_K, MODERATE_K = 20, 100
SEVERAL = 3

PAPER_NAMES = {
    "joint": "Joint",
    "joint_alg1": "Algorithm 1",
    "pnf_peel": "PNF-Peel",
    "cdp_peel": "CDP-Peel",
    "pnf_joint": "PNF-Joint",
    "laplace": "Laplace",
    "gamma": "Gamma",
}


class NotChecked(Exception):
    """This run lacks what a check needs; the message says what."""


@dataclass(frozen=True)
class Outcome:
    """What a check found, the numbers behind it, and the datasets that they rest on."""

    verdict: str
    figure: str
    datasets: tuple = ()


# ---------------------------------------------------------------- from truths to a verdict


def all_of(verdicts):
    """The verdict on a whole from those on its parts; a part without a verdict does not count."""
    verdicts = {verdict for verdict in verdicts if verdict != NOT_CHECKED}
    if not verdicts:
        return NOT_CHECKED
    return verdicts.pop() if len(verdicts) == 1 else PARTLY


def all_or_some(truths):
    return HOLDS if all(truths) else PARTLY if any(truths) else DOES_NOT_HOLD


def all_or_most(truths):
    return HOLDS if all(truths) else PARTLY if np.mean(truths) > 0.5 else DOES_NOT_HOLD


def consistently(true, surely_false):
    """Judge k by k, by arrays of truths."""
    if not len(true):
        return NOT_CHECKED
    if np.mean(true) <= 0.5:
        return DOES_NOT_HOLD
    return PARTLY if np.any(surely_false) else HOLDS


def mostly(true):
    if not len(true):
        return NOT_CHECKED
    share = np.mean(true)
    return HOLDS if share > 0.5 else PARTLY if share > 0.25 else DOES_NOT_HOLD


def surely_higher(a, b, tests):
    """Is sample `a` higher than `b` by a rank test that is one of several?"""
    z = rank_z(a, b)
    return z > 0 and two_sided(z) <= LEVEL / tests


def share_lower(comparisons):
    """At which share of all k with something to win the first is lower, and of how many."""
    lower = np.concatenate([found.lower[found.open] for found in comparisons])
    return (float(lower.mean()) if len(lower) else 0.0), len(lower)


# ---------------------------------------------------------------- numbers as text


def at_k(verb, true, sure, open_):
    """'lower at 18 of 20 k (sure at 17)', and at how many k there was nothing to win."""
    if not open_.any():
        return f"all medians 0 at {len(open_)} k"
    text = f"{verb} at {true[open_].sum()} of {open_.sum()} k (sure at {sure[open_].sum()})"
    return text if open_.all() else f"{text}, all 0 at {(~open_).sum()} more"


def lower_at(found):
    text = at_k("lower", found.lower, found.surely_lower, found.open)
    worse = found.surely_higher.sum()
    return f"{text}, surely higher at {worse}" if worse else text


def higher_at(found):
    return at_k("higher", found.higher, found.surely_higher, found.open)


def rounded(number):
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


# ---------------------------------------------------------------- the tables of a run


@dataclass
class Results:
    """The tables of a run, and questions to them. Only `datasets` has to be there."""

    datasets: pd.DataFrame
    trials: pd.DataFrame | None = None
    timing: pd.DataFrame | None = None
    gaps: pd.DataFrame | None = None
    agreement: pd.DataFrame | None = None
    digest: str | None = None
    kept_digest: str | None = None
    neighbors: str = "add-remove"
    delta: float = 1e-6

    def __post_init__(self):
        self._facts = self.datasets.set_index("dataset").to_dict("index")
        self._errors = {}

    def table(self, name):
        table = getattr(self, name)
        if table is None or table.empty:
            raise NotChecked(f"This run has no table of {name}.")
        return table

    def dataset(self, name):
        """The row of a dataset, as a dict."""
        if name not in self._facts:
            raise NotChecked(f"This run leaves out {name}.")
        return self._facts[name]

    def is_stand_in(self, name):
        return self.dataset(name)["status"] == "stand-in"

    def title(self, name):
        """What to call a dataset, and that it is a stand-in where it is."""
        return self.dataset(name)["title"] + (" (stand-in)" if self.is_stand_in(name) else "")

    def on_each(self, datasets, judge):
        """Judge each dataset by itself; `judge(dataset)` gives a verdict and a text."""
        parts = {name: judge(name) for name in datasets}
        text = "; ".join(f"{self.title(name)}: {part}" for name, (_, part) in parts.items())
        verdict = all_of(verdict for verdict, _ in parts.values())
        if verdict == NOT_CHECKED:
            raise NotChecked(f"There is nothing to compare: {text}.")
        return Outcome(verdict, text, tuple(datasets))

    def errors(self, dataset, mechanism, metric, at_least=1, at_most=math.inf):
        """The errors of the trials at each k, in the paper's setting."""
        self.dataset(dataset)
        if not self._errors:
            self._errors = self._in_paper_setting()
        if (dataset, mechanism) not in self._errors:
            raise NotChecked(f"This run has no trials of {mechanism} on {dataset} at epsilon 1.")
        cells = self._errors[dataset, mechanism]
        kept = {k: cell[metric] for k, cell in cells.items() if at_least <= k <= at_most}
        if not kept:
            raise NotChecked(f"This run has no k between {at_least} and {at_most}.")
        return kept

    def _in_paper_setting(self):
        trials = self.table("trials")
        if self.neighbors != "add-remove" or self.delta != 1e-6:
            raise NotChecked("The paper's setting is add-remove neighbours and delta = 1e-6.")
        trials = trials[trials["epsilon"] == 1]
        columns = {metric: trials[metric].to_numpy() for metric in metrics.NAMES}
        cells = trials.groupby(["dataset", "mechanism", "k"]).indices
        errors = {}
        for (dataset, mechanism, k), rows in cells.items():
            cell = {metric: column[rows] for metric, column in columns.items()}
            errors.setdefault((dataset, mechanism), {})[int(k)] = cell
        return errors

    def compare(self, dataset, a, b, metric, **range_of_k):
        """Mechanism `a` against mechanism `b`, at each k that both have."""
        found = compare(
            self.errors(dataset, a, metric, **range_of_k),
            self.errors(dataset, b, metric, **range_of_k),
        )
        if not len(found.k):
            raise NotChecked(f"This run has no k at which both {a} and {b} ran on {dataset}.")
        return found

    def medians(self, dataset, mechanism, metric):
        """All k in ascending order, and the medians of the trials at them."""
        errors = self.errors(dataset, mechanism, metric)
        k = sorted(errors)
        return np.array(k), np.array([np.median(errors[i]) for i in k])

    def seconds(self, *mechanisms, dataset=None):
        """Median times: a row for each k at which all of the mechanisms were timed."""
        timing = self.table("timing")
        if dataset is not None:
            timing = timing[timing["dataset"] == dataset]
        times = timing.pivot(index="k", columns="mechanism", values="median")
        times = times.reindex(columns=list(mechanisms)).dropna()
        if times.empty:
            names = ", ".join(mechanisms)
            where = "" if dataset is None else f" on {dataset}"
            raise NotChecked(f"This run has no k at which all of {names} were timed{where}.")
        return times
