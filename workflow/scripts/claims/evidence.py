"""The tables of a run, and the cells that statements need of them."""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.claims.words import ALL_K, SIX, Cells
from workflow.scripts.common import listed
from workflow.scripts.data.describe import STATUS
from workflow.scripts.results.comparing import LEVEL, holm, rank_z, two_sided

METRICS = {"linf": "ℓ∞", "l1": "ℓ1", "k_relative": "k-relative"}
PEELING = ("pnf_peel", "cdp_peel")
COLUMNS = ("rival", "dataset", "metric", "k", "a", "b")  # of cells; a and b are medians


class NotChecked(Exception):
    """This run lacks what a check needs; the message says all that is missing."""


def need(there, message):
    if not there:
        raise NotChecked(message)


@dataclass(frozen=True)
class Outcome:
    """A verdict, the numbers that decide it, the datasets that they rest on, and all numbers."""

    verdict: str
    found: str
    datasets: tuple = ()
    details: str = ""


def short(number):
    """'0.981', '41.2' or '1,200'."""
    return f"{float(f'{number:.3g}'):,g}"


class Results:
    """The tables of a run by name, of which only `datasets` is required, and its setting."""

    def __init__(self, neighbors="add-remove", delta=1e-6, **tables):
        self.tables, self.neighbors, self.delta = tables, neighbors, delta
        self.facts = tables["datasets"].set_index("dataset").to_dict("index")
        self.trials_at = {}  # {(dataset, mechanism): {k: {metric: array}}}, in ascending order of k
        self._all_k = functools.cache(self._all_k)  # many statements need the same
        if "trials" in tables:
            trials = tables["trials"][tables["trials"]["epsilon"] == 1]
            columns = {name: trials[name].to_numpy() for name in ("loss", *METRICS, "linf_index")}
            groups = trials.groupby(["dataset", "mechanism", "k"])
            self._medians = groups[["loss", *METRICS]].median()
            for (*key, k), rows in sorted(groups.indices.items()):
                cell = {name: column[rows] for name, column in columns.items()}
                self.trials_at.setdefault(tuple(key), {})[int(k)] = cell

    def table(self, name):
        there = name in self.tables and len(self.tables[name])
        need(there, f"This run has no table of {name}.")
        return self.tables[name]

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

    def title(self, name):
        """The title of one of the paper's datasets, or what the paper calls a mechanism."""
        if name in SIX:
            return self.facts[name]["title"]
        known = mechanisms.get(name)
        return known.paper_name or known.label

    def named(self, numbers, form=short):
        """'Books 2.1, Foods 3'."""
        return ", ".join(f"{self.title(name)} {form(x)}" for name, x in numbers.items())

    def not_real(self, datasets):
        """Those of the datasets whose counts are not the original's, and what they are."""
        facts = (self.facts[name] for name in datasets)
        not_real = (each for each in facts if each["status"] != "real")
        return "; ".join(f"{each['title']}: {STATUS[each['status']]}" for each in not_real)

    def medians(self, dataset, mechanism, metric):
        """A series over k."""
        return self._medians.loc[dataset, mechanism][metric]

    def cells(self, this, rivals, datasets, metrics, band=ALL_K, corrected=True):
        """The cells that a mechanism shares with its rivals; `corrected` over all by Holm."""
        self.require(datasets, (this, *rivals))
        rows = [
            (*names, *row)
            for names in itertools.product(rivals, datasets, metrics)
            for row in self._all_k(this, *names)
            if band[0] <= row[0] <= band[1]
        ]
        there = {row[:2] for row in rows}
        without = [d for d in datasets if any((rival, d) not in there for rival in rivals)]
        if without:
            raise NotChecked(f"This run has no k from {band[0]} to {band[1]} on {listed(without)}.")
        *columns, chance = map(np.array, zip(*rows, strict=True))
        significant = holm(chance) if corrected else chance <= LEVEL
        return Cells(**dict(zip(COLUMNS, columns, strict=True)), significant=significant)

    def _all_k(self, this, rival, dataset, metric):
        """Rows (k, medians, chance of such ranks)."""
        a, b = (self.trials_at[dataset, name] for name in (this, rival))
        medians = [self.medians(dataset, name, metric) for name in (this, rival)]
        return [
            (k, *(m[k] for m in medians), two_sided(rank_z(a[k][metric], b[k][metric])))
            for k in sorted(a.keys() & b.keys())
        ]

    def seconds(self, *names, dataset="foods"):
        """Median times: a row for each k at which all of the mechanisms were timed."""
        timing = self.table("timing")
        timing = timing[timing["dataset"] == dataset]
        times = timing.pivot(index="k", columns="mechanism", values="median")
        times = times.reindex(columns=list(names)).dropna()
        which = f"{listed(names)} were timed on {dataset}"
        need(len(times), f"This run has no k at which {which}.")
        return times
