"""Statements that one mechanism is better than others: what is compared, judged by a word."""

from dataclasses import dataclass

import numpy as np

from workflow.scripts.claims import words
from workflow.scripts.claims.evidence import METRICS, NotChecked, Outcome, listed
from workflow.scripts.claims.words import (
    BANDS,
    DOES_NOT_HOLD,
    GROUPS,
    HOLDS,
    NOT_CHECKED,
    PARTLY,
    WORDS,
)


def over_metrics(verdicts):
    """The verdict on a statement that names no metric, from those on each."""
    told = [one for one in verdicts if one != NOT_CHECKED]
    failed, held = (told.count(one) * 3 >= len(told) * 2 for one in (DOES_NOT_HOLD, HOLDS))
    if not told:
        return NOT_CHECKED
    return DOES_NOT_HOLD if failed else words.verdict(held and DOES_NOT_HOLD not in told, True)


@dataclass(frozen=True)
class Comparison:
    """The columns of statements.csv that say what is compared, and by which word."""

    mechanisms: str  # "joint vs pnf_peel, cdp_peel"
    datasets: str  # a group, or "four of six": there rather than elsewhere
    metrics: str  # "linf, l1", or "each"
    ks: str  # a band, or "moderate of all", or "moderate or not large": two equally good readings
    word: str

    @property
    def sides(self):
        this, rivals = self.mechanisms.split(" vs ")
        return this, rivals.split(", ")

    @property
    def each_metric(self):
        return self.metrics == "each"

    def check(self, results):
        """Judge it, then see whether another reading gives another verdict."""
        datasets, *groups = GROUPS[self.datasets.split(" of ")[-1]]
        ks, *or_ks = self.ks.split(" of ")[-1].split(" or ")
        band, *bands = BANDS[ks]
        cells = self.cells(results, datasets, band)
        found = self.verdict_on(cells)
        if found == NOT_CHECKED:
            raise NotChecked("All medians are 0, so there is nothing to compare.")
        texts, readings = [self.text(results, cells)], []
        for other_ks in or_ks:
            other = self.verdict_on(self.cells(results, datasets, BANDS[other_ks][0]))
            texts.append(f"{found} if k is {ks}, {other} if k is {other_ks}")
            found = found if found == other else PARTLY
        if not or_ks:
            readings += [("every cell is tested at 5 % by itself", datasets, band, False)]
            readings += [(f"k is from {a} to {b}", datasets, (a, b), True) for a, b in bands]
        by_size = "datasets are large or small by their number of items"
        readings += [(by_size, other, band, True) for other in groups]
        for name, *reading in readings:
            try:
                other = self.verdict_on(self.cells(results, *reading))
            except NotChecked:
                continue  # the run has less than this reading needs
            texts += [f"fragile: {other} if {name}"] * (other not in (found, NOT_CHECKED))
        return Outcome(found, "; ".join(texts), datasets)

    def cells(self, results, datasets, band, corrected=True):
        metrics = list(METRICS) if self.each_metric else self.metrics.split(", ")
        cells = results.cells(*self.sides, datasets, metrics, band, corrected)
        if " of " in self.datasets:  # the word compares what is inside with the rest
            (group, *_), ((low, high), *_) = (
                GROUPS[self.datasets.split(" of ")[0]],
                BANDS[self.ks.split(" of ")[0]],
            )
            cells.inside = np.isin(cells.dataset, group) & (low <= cells.k) & (cells.k <= high)
        return cells.best_of() if WORDS[self.word].best else cells

    def verdict_on(self, cells):
        if self.each_metric:
            return over_metrics([self.verdict_in(cells, metric) for metric in METRICS])
        return self.verdict_in(cells)

    def verdict_in(self, cells, metric=None):
        cells = cells if metric is None else cells[cells.metric == metric]
        nothing = cells.zero.all() and not WORDS[self.word].ties
        return NOT_CHECKED if nothing else words.JUDGES[self.word](cells)

    # ------------------------------------------------------------ for people

    def criterion(self, results):
        """'always: Joint against PNF-Peel in ℓ1; all six datasets; small k'."""
        this, rivals = self.sides
        against = f"{results.label(this)} against {listed([results.label(r) for r in rivals])}"
        metrics = listed([METRICS.get(m, "each metric") for m in self.metrics.split(", ")])
        there, *rest = self.datasets.split(" of ")
        datasets = listed([name.capitalize() for name in GROUPS[there][0]])
        datasets = "all six datasets" if there == "six" else datasets
        ks = self.ks.split(" of ")[0].replace("low", "up to 45")
        text = f"{self.word}: {against} in {metrics}; {datasets}; k: {ks}"
        return f"{text}; compared with all other cells" if rest else text

    def words(self):
        chosen = [self.word, "cell", "tie at 0", "ratio", "fragile"]
        chosen += ["no metric named"] * self.each_metric
        chosen += [f"{name} k" for name in ("small", "moderate", "not large") if name in self.ks]
        return chosen + ["large and small"] * self.datasets.startswith(("large", "small"))

    def text(self, results, cells):
        if not self.each_metric:
            return self.tally(results, cells)
        return "; ".join(
            f"{name} {self.verdict_in(cells, metric)}: "
            f"{self.tally(results, cells[cells.metric == metric])}"
            for metric, name in METRICS.items()
        )

    def tally(self, results, cells):
        """'won 12, lost 3 of 20 cells (Books 2–1 of 5), mean ratio 1.2, 5 ties at 0 left out'."""
        if self.word == "relatively":
            ratios = {name: part.mean_ratio for name, part in cells.by_dataset().items()}
            return f"mean ratios {results.named(ratios)}"
        ties = WORDS[self.word].ties
        told = cells if ties else cells.told
        text = f"won {told.win.sum()}, lost {told.loss.sum()} of {len(told)} cells"
        parts = [(name, told[told.dataset == name]) for name in dict.fromkeys(cells.dataset)]
        if len(parts) > 1:
            each = (
                f"{results.title(name)} {part.win.sum()}–{part.loss.sum()} of {len(part)}"
                for name, part in parts
            )
            text += f" ({', '.join(each)})"
        if len(told) and not WORDS[self.word].best:
            text += f", mean ratio {told.mean_ratio:.3g}"
        if self.word in ("matches", "consistently", "not different"):
            text += f", {cells.matching.mean():.0%} match"
            worse = (cells.ratio < 0.8).mean()
            text += f", {worse:.0%} with a ratio below 0.8" * (self.word == "matches")
        if cells.zero.any():
            text += f", {cells.zero.sum()} ties at 0 {'in favour' if ties else 'left out'}"
            text += f" ({cells.ranks.sum()} differ by ranks)" * bool(cells.ranks.any())
        if self.word == "always" and told.win.mean() < 0.5:
            text += ", mostly by shared zeros"
        if self.word == "only to about 30":
            text += f"; last k won: {results.named(words.last_wins(cells), '.0f')}"
        if self.word == "particularly":
            (a, b), (c, d) = words.inside_and_outside(cells)
            text += f"; there {a:.0%} won and ratio {b:.3g}, elsewhere {c:.0%} and {d:.3g}"
        return text
