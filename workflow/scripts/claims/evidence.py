"""The tables of a run, and the cells that statements need of them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dp_topk import mechanisms
from workflow.scripts.claims.words import ALL_K, Cells
from workflow.scripts.data.describe import STATUS
from workflow.scripts.results.comparing import LEVEL, holm, rank_z, two_sided

METRICS = {"linf": "ℓ∞", "l1": "ℓ1", "k_relative": "k-relative"}
PEELING = ("pnf_peel", "cdp_peel")


class NotChecked(Exception):
    """This run lacks what a check needs; the message says all that is missing."""


@dataclass(frozen=True)
class Outcome:
    """A verdict, the numbers that decide it, the datasets that they rest on, and all numbers."""

    verdict: str
    found: str
    datasets: tuple = ()
    details: str = ""


def listed(names):
    """'a, b and c'."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def short(number):
    """'0.981', '41.2' or '1,200'."""
    return f"{float(f'{number:.3g}'):,g}"


@dataclass
class Results:
    """The tables of a run. Only `datasets` has to be there."""

    datasets: pd.DataFrame
    errors: pd.DataFrame | None = None
    trials: pd.DataFrame | None = None
    timing: pd.DataFrame | None = None
    gaps: pd.DataFrame | None = None
    agreement: pd.DataFrame | None = None
    neighbors: str = "add-remove"
    delta: float = 1e-6

    def __post_init__(self):
        self.facts = self.datasets.set_index("dataset").to_dict("index")
        self._compared, self._medians = {}, {}
        self.trials_at = {}  # {(dataset, mechanism): {k: {metric: array}}}, in ascending order of k
        if self.trials is None or self.errors is None:
            return
        trials, errors = (t[t["epsilon"] == 1] for t in (self.trials, self.errors))
        columns = {name: trials[name].to_numpy() for name in ("loss", *METRICS, "linf_index")}
        groups = trials.groupby(["dataset", "mechanism", "k"]).indices
        for (*key, k), rows in sorted(groups.items()):
            cell = {name: column[rows] for name, column in columns.items()}
            self.trials_at.setdefault(tuple(key), {})[int(k)] = cell
        names = ("dataset", "mechanism", "metric", "k", "median")
        for *key, k, median in zip(*(errors[name].tolist() for name in names), strict=True):
            self._medians.setdefault(tuple(key), {})[k] = median

    def table(self, name):
        table = getattr(self, name)
        if table is None or table.empty:
            raise NotChecked(f"This run has no table of {name}.")
        return table

    def require(self, datasets=(), names=()):
        """Say at once all that this run lacks of the paper's setting, datasets and mechanisms."""
        absent = [name for name in datasets if name not in self.facts]
        lacks = [f"leaves out {listed(absent)}"] if absent else []
        if names and (self.neighbors != "add-remove" or self.delta != 1e-6):
            lacks.append("has another setting than the paper's (add-remove neighbours, δ = 10⁻⁶)")
        there = [name for name in datasets if name in self.facts] or list(self.facts)
        without = [name for name in names if any((d, name) not in self.trials_at for d in there)]
        lacks += [f"has no trials of {listed(without)} at ε = 1"] if without else []
        if lacks:
            raise NotChecked(f"This run {listed(lacks)}.")

    def title(self, dataset):
        return self.facts[dataset]["title"]

    def label(self, mechanism):
        """What the paper calls a mechanism."""
        known = mechanisms.get(mechanism)
        return known.paper_name or known.label

    def named(self, numbers, form=short):
        """'Books 2.1, Foods 3'."""
        return ", ".join(f"{self.title(name)} {form(x)}" for name, x in numbers.items())

    def not_real(self, datasets):
        """Those of the datasets whose counts are not the original's, and what they are."""
        status = {self.title(name): self.facts[name]["status"] for name in datasets}
        return "; ".join(f"{title}: {STATUS[s]}" for title, s in status.items() if s != "real")

    def medians(self, dataset, mechanism, metric):
        """A series over k."""
        return pd.Series(self._medians[dataset, mechanism, metric], dtype=float).sort_index()

    def cells(self, this, rivals, datasets, metrics, band=ALL_K, corrected=True):
        """The cells that a mechanism shares with its rivals; words.csv says what is won.

        Columns: rival, dataset, metric, k, the medians a and b, ratio, significant (Holm over all
        rows, unless not `corrected`), win, loss, zero (a tie at 0) and ranks (a tie at 0 whose
        ranks differ).
        """
        self.require(datasets, (this, *rivals))
        parts = {}
        for key in ((r, d, m) for r in rivals for d in datasets for m in metrics):
            part = self._all_k(this, *key)
            parts[key] = part[(band[0] <= part[:, 0]) & (part[:, 0] <= band[1])]
        without = dict.fromkeys(key[1] for key, part in parts.items() if not len(part))
        if without:
            raise NotChecked(f"This run has no k from {band[0]} to {band[1]} on {listed(without)}.")
        names = np.repeat(np.array(list(parts)), [len(part) for part in parts.values()], axis=0)
        k, a, b, chance = np.concatenate(list(parts.values())).T
        significant = holm(chance) if corrected else chance <= LEVEL
        zero = (a == 0) & (b == 0)
        return Cells(
            **dict(zip(("rival", "dataset", "metric"), names.T, strict=True)),
            **{"k": k.astype(int), "a": a, "b": b, "ratio": (b + 1) / (a + 1)},
            significant=significant,
            win=(a < b) & significant,
            loss=(a > b) & significant,
            zero=zero,
            ranks=zero & significant,
        )

    def _all_k(self, this, rival, dataset, metric):
        """Rows (k, medians, chance of such ranks); kept, because many statements need the same."""
        key = this, rival, dataset, metric
        if key not in self._compared:
            a, b = (self.trials_at[dataset, name] for name in (this, rival))
            medians = [self._medians[dataset, name, metric] for name in (this, rival)]
            rows = [
                (k, medians[0][k], medians[1][k], two_sided(rank_z(a[k][metric], b[k][metric])))
                for k in sorted(a.keys() & b.keys())
            ]
            self._compared[key] = np.array(rows).reshape(-1, 4)
        return self._compared[key]

    def seconds(self, *names, dataset="foods"):
        """Median times: a row for each k at which all of the mechanisms were timed."""
        timing = self.table("timing")
        timing = timing[timing["dataset"] == dataset]
        times = timing.pivot(index="k", columns="mechanism", values="median")
        times = times.reindex(columns=list(names)).dropna()
        if times.empty:
            raise NotChecked(f"This run has no k at which {listed(names)} were timed on {dataset}.")
        return times
