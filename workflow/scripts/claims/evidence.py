"""The tables of a run, and questions to them that the checks ask."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from workflow.scripts.claims.judging import NOT_CHECKED, NotChecked, Outcome, all_of
from workflow.scripts.data.status import STATUS
from workflow.scripts.results.comparing import LEVEL, Cells, rank_z
from workflow.scripts.results.tables import QUARTILES

# "Large" and "small" datasets are read as those with large and with small gaps between counts:
# Foods has the most items of all, but the paper counts it with Games.
LARGE = ("books", "movies", "news", "tweets")
SMALL = ("foods", "games")
SIX = ("books", "foods", "games", "movies", "news", "tweets")
PEELING = ("pnf_peel", "cdp_peel")
# The error measures of definition 2.2, and how statements call them.
MEASURES = {"linf": "ℓ∞", "l1": "ℓ1", "k_relative": "k-relative"}

PAPER_NAMES = {
    "joint": "Joint",
    "joint_alg1": "Algorithm 1",
    "pnf_peel": "PNF-Peel",
    "pnf_peel_alg2": "Algorithm 2",
    "cdp_peel": "CDP-Peel",
    "cdp_peel_alg3": "Algorithm 3",
    "pnf_joint": "PNF-Joint",
    "laplace": "Laplace",
    "laplace_c1": "Laplace for one item",
    "gamma": "Gamma",
}


@dataclass
class Results:
    """The tables of a run. Only `datasets` has to be there."""

    datasets: pd.DataFrame
    errors: pd.DataFrame | None = None
    trials: pd.DataFrame | None = None
    timing: pd.DataFrame | None = None
    gaps: pd.DataFrame | None = None
    histograms: pd.DataFrame | None = None
    agreement: pd.DataFrame | None = None
    digest: str | None = None
    kept_digest: str | None = None
    neighbors: str = "add-remove"
    delta: float = 1e-6

    def __post_init__(self):
        self._facts = self.datasets.set_index("dataset").to_dict("index")
        self._trials, self._quartiles, self._compared = None, None, {}

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

    def title(self, name):
        return self.dataset(name)["title"]

    def not_real(self, datasets):
        """Those of the datasets whose counts are not the original's, and what they are."""
        status = {self.title(name): self.dataset(name)["status"] for name in datasets}
        return "; ".join(f"{title}: {STATUS[s]}" for title, s in status.items() if s != "real")

    def on_each(self, datasets, judge):
        """Judge each dataset by itself; `judge(dataset)` gives a verdict and a text."""
        parts = {name: judge(name) for name in datasets}
        text = "; ".join(f"{self.title(name)} {part}" for name, (_, part) in parts.items())
        verdict = all_of(verdict for verdict, _ in parts.values())
        if verdict == NOT_CHECKED:
            raise NotChecked(f"There is nothing to compare: {text}.")
        return Outcome(verdict, text, tuple(datasets))

    # ---------------------------------------------------------------- the paper's setting

    def trials_of(self, dataset, mechanism, metric):
        """The trials at each k."""
        self._require(dataset, mechanism)
        return {k: cell[metric] for k, cell in self._trials[dataset, mechanism].items()}

    def quartile(self, dataset, mechanism, metric, at_most=math.inf, name="median"):
        """k in ascending order, and the medians (or another quartile) at them."""
        self._require(dataset, mechanism)
        cells = self._quartiles[name][dataset, mechanism, metric]
        k = sorted(i for i in cells if i <= at_most)
        return np.array(k), np.array([cells[i] for i in k])

    def _require(self, dataset, mechanism):
        self.dataset(dataset)
        if self._trials is None:
            self._read_paper_setting()
        if (dataset, mechanism) not in self._trials:
            raise NotChecked(f"This run has no trials of {mechanism} on {dataset} at epsilon 1.")

    def _read_paper_setting(self):
        trials, errors = self.table("trials"), self.table("errors")
        if self.neighbors != "add-remove" or self.delta != 1e-6:
            raise NotChecked("The paper's setting is add-remove neighbours and delta = 1e-6.")
        trials, errors = trials[trials["epsilon"] == 1], errors[errors["epsilon"] == 1]
        columns = {metric: trials[metric].to_numpy() for metric in (*MEASURES, "linf_index")}
        self._trials = {}
        for (dataset, mechanism, k), rows in trials.groupby(
            ["dataset", "mechanism", "k"]
        ).indices.items():
            cell = {metric: column[rows] for metric, column in columns.items()}
            self._trials.setdefault((dataset, mechanism), {})[int(k)] = cell
        self._quartiles = {name: {} for name in QUARTILES}
        keys = [errors[name].tolist() for name in ("dataset", "mechanism", "metric", "k")]
        for name, cells in self._quartiles.items():
            for *key, k, value in zip(*keys, errors[name].tolist(), strict=True):
                cells.setdefault(tuple(key), {})[k] = value

    # ---------------------------------------------------------------- two mechanisms

    def cells(self, datasets, a, b, *metrics, at_least=1, at_most=math.inf):
        """Mechanism `a` against mechanism `b`, in every cell that both have."""
        columns = {name: [] for name in ("dataset", "metric", "k", "a", "b", "z")}
        for dataset in datasets:
            for metric in metrics:
                rows = self._all_k(dataset, a, b, metric)
                rows = [row for row in rows if at_least <= row[0] <= at_most]
                if not rows:
                    raise NotChecked(
                        f"This run has no k from {at_least} to {at_most} at which both {a} and "
                        f"{b} ran on {dataset}."
                    )
                columns["dataset"] += [dataset] * len(rows)
                columns["metric"] += [metric] * len(rows)
                for name, values in zip(("k", "a", "b", "z"), zip(*rows, strict=True), strict=True):
                    columns[name] += values
        arrays = {name: np.array(values) for name, values in columns.items()}
        return Cells(**arrays, level=LEVEL / len(arrays["k"]))

    def _all_k(self, dataset, a, b, metric):
        """(k, median of a, median of b, z score); kept, because many claims ask the same."""
        key = dataset, a, b, metric
        if key not in self._compared:
            of_a, of_b = (self.trials_of(dataset, name, metric) for name in (a, b))
            median = {
                name: dict(zip(*self.quartile(dataset, name, metric), strict=True))
                for name in (a, b)
            }
            self._compared[key] = [
                (k, median[a][k], median[b][k], rank_z(of_a[k], of_b[k]))
                for k in sorted(set(of_a) & set(of_b))
            ]
        return self._compared[key]

    def best_of_three(self, datasets, *metrics, **range_of_k):
        """Joint against both peeling mechanisms, at the same cells."""
        pnf, cdp = (self.cells(datasets, "joint", b, *metrics, **range_of_k) for b in PEELING)
        if not np.array_equal(pnf.k, cdp.k):
            raise NotChecked("The peeling mechanisms ran at different k.")
        return BestOfThree(pnf, cdp)

    # ---------------------------------------------------------------- time

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


@dataclass(frozen=True)
class BestOfThree:
    """Is Joint the best of Joint, PNF-Peel and CDP-Peel? Answers as Cells do.

    Joint is `lower` where neither of the others is below it: a tie counts as best.
    """

    pnf: Cells
    cdp: Cells

    def __len__(self):
        return len(self.pnf)

    @property
    def dataset(self):
        return self.pnf.dataset

    @property
    def lower(self):
        return ~self.higher

    @property
    def higher(self):
        return self.pnf.higher | self.cdp.higher

    @property
    def surely_lower(self):
        return self.pnf.surely_lower & self.cdp.surely_lower

    @property
    def surely_higher(self):
        return self.pnf.surely_higher | self.cdp.surely_higher

    @property
    def open(self):
        return self.pnf.open | self.cdp.open

    @property
    def lead(self):
        """The factor by which the better peeling mechanism is above Joint."""
        return replace(self.pnf, b=np.minimum(self.pnf.b, self.cdp.b)).factor

    def where(self, chosen):
        return BestOfThree(self.pnf.where(chosen), self.cdp.where(chosen))

    def of(self, dataset):
        return self.where(self.dataset == dataset)


# ---------------------------------------------------------------- numbers as text


def won(results, cells, verb="lower"):
    """'lower at 18 of 20, surely at 17, surely not at 1 (Books 18/20); nothing to win at 2'."""
    there = cells.where(cells.open)
    true, sure, contrary = there.lower, there.surely_lower, there.surely_higher
    if verb == "higher":
        true, sure, contrary = there.higher, contrary, sure
    text = f"{verb} at {true.sum()} of {len(there)}, surely at {sure.sum()}"
    text += f", surely not at {contrary.sum()}" if contrary.any() else ""
    names = list(dict.fromkeys(cells.dataset))
    if len(names) > 1:
        parts = [
            f"{results.title(name)} {true[there.dataset == name].sum()}/{len(there.of(name))}"
            for name in names
        ]
        text += f" ({', '.join(parts)})"
    closed = len(cells) - len(there)
    return f"{text}; nothing to win at {closed}" if closed else text


def rounded(number):
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def named(results, numbers):
    """'Books 2.1, Foods 3'."""
    return ", ".join(f"{results.title(name)} {rounded(x)}" for name, x in numbers.items())


def large_above_small(numbers):
    """Of the pairs of a large and a small dataset, how many have the larger number on the large?"""
    return [numbers[a] > numbers[b] for a in LARGE for b in SMALL]
