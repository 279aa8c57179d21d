"""The rows of statements.csv, which is to be held beside the paper, judged by the tables of a run.

A row has the statement in our words, its id, which stays, its place, and what judges it: a word,
with the mechanisms, datasets, metric and k that are compared; a function of `checks`; other
statements; or a test of the definitions.

A statement that does not hold is a finding, and is written down like any other. A check that
crashes is a defect, and stops the run. What a run has no data for is "not checked".
"""

import contextlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

from workflow.scripts.claims import words
from workflow.scripts.claims.checks import CHECKS, check
from workflow.scripts.claims.evidence import METRICS, NotChecked, Outcome, Results, need, short
from workflow.scripts.claims.pages import as_markdown
from workflow.scripts.claims.words import BANDS, DOES_NOT_HOLD, GROUPS, HOLDS, NOT_CHECKED
from workflow.scripts.common import intact, read_dicts, written

TABLE = Path(__file__).parents[2] / "statements.csv"
TABLES = ("datasets", "trials", "timing", "gaps", "agreement")  # that are judged
REFUTED = "refuted by "
COLUMNS = (
    *("claim", "section", "place", "statement", "verdict", "found", "details", "criterion"),
    *("words", "depends_on_time", "not_real"),
)


class Statement(SimpleNamespace):
    """A row of statements.csv, by the names of its columns.

    mechanisms: "joint vs pnf_peel, cdp_peel".
    datasets: a group, or "four of six": there rather than elsewhere.
    metric: or "each", where none is named.
    ks: a band, or "moderate of all", or "moderate or not large": two equally good readings.
    test: the test that shows it, if that is what judges it. how: what the verdict rests on.
    """

    def __init__(self, **row):
        super().__init__(**row)
        self.test = self.judged_by.removeprefix(REFUTED) if "::" in self.judged_by else ""
        self.how = self.test or self.criterion
        self.all_words = self.words.split(", ") if self.words else []
        self.all_words += ["shown by a test"] * bool(self.test)

    def judge(self, results):
        if self.test:
            refuted = self.judged_by.startswith(REFUTED)
            return Outcome(DOES_NOT_HOLD if refuted else HOLDS, self.criterion or "as stated")
        name, _, arguments = self.judged_by.rstrip(")").partition("(")
        return CHECKS[name](results, *filter(None, arguments.split(", ")))


@check
def parts(results, *ids):
    outcomes = [STATEMENTS[part].judge(results) for part in ids]
    verdicts = [one.verdict for one in outcomes]
    datasets = dict.fromkeys(name for one in outcomes for name in one.datasets)
    return Outcome(words.together(verdicts), ", ".join(verdicts), tuple(datasets))


class Comparison(Statement):
    """A statement that one mechanism is better than others, judged by a word."""

    def __init__(self, **row):
        super().__init__(**row)
        this, rivals = self.mechanisms.split(" vs ")
        self.sides = this, rivals.split(", ")
        self.metrics = list(METRICS) if self.metric == "each" else [self.metric]
        metric = METRICS.get(self.metric, "each metric")
        self.how = f"{self.mechanisms}; {metric}; datasets: {self.datasets}; k: {self.ks}"
        self.all_words += ["no metric named"] * (self.metric == "each")
        self.all_words += [f"{k} k" for k in ("small", "moderate", "not large") if k in self.ks]
        self.all_words += ["large and small"] * self.datasets.startswith(("large", "small"))
        # "four of six": what is named, and what it is part of; "six" is both.
        group, self.groups = (GROUPS[self.datasets.split(" of ")[n]] for n in (0, -1))
        self.either_ks = self.ks.split(" or ")
        band, self.bands = (BANDS[self.either_ks[0].split(" of ")[n]] for n in (0, -1))
        self.named = group[0], band[0]

    def judge(self, results):
        """Judge it, then see whether another reading gives another verdict."""
        datasets = self.groups[0]
        cells = self.cells(results, datasets, self.bands[0])
        found = self.verdict(cells)
        need(found != NOT_CHECKED, "All medians are 0, so there is nothing to compare.")
        text, details = self.numbers(results, cells)
        if len(self.either_ks) == 2:
            ks, or_ks = self.either_ks
            other = self.verdict(self.cells(results, datasets, BANDS[or_ks][0]))
            text += f"; {found} if k is {ks}, {other} if k is {or_ks}"
            found = found if found == other else words.PARTLY
        else:
            for name, other in self.other_readings(results, cells):
                text += f"; fragile: {other} if {name}" * (other not in (found, NOT_CHECKED))
        return Outcome(found, text, datasets, details)

    def other_readings(self, results, cells):
        """Yield what is read otherwise, and the verdict then."""
        (datasets, *groups), (band, *bands) = self.groups, self.bands
        if not words.counts_ties(self.words):
            yield "ties at 0 are left out", self.verdict(cells.told)
        readings = [
            ("every cell is tested at 5 % by itself", datasets, band, False),
            *((f"k is from {a} to {b}", datasets, (a, b)) for a, b in bands),
            *(("large and small go by the number of items", other, band) for other in groups),
        ]
        for name, *reading in readings:
            with contextlib.suppress(NotChecked):  # the run may have less than a reading needs
                yield name, self.verdict(self.cells(results, *reading))

    def cells(self, results, datasets, band, corrected=True):
        cells = results.cells(*self.sides, datasets, self.metrics, band, corrected)
        there, (low, high) = self.named
        cells.in_group = np.isin(cells.dataset, there)
        cells.in_band = (low <= cells.k) & (cells.k <= high)
        return cells

    def verdict(self, cells):
        """ℓ∞ and ℓ1 decide where no metric is named; k-relative error must not contradict them."""
        by_metric, weak = cells.by("metric"), cells[:0]
        if self.metric == "each":
            weak = by_metric.pop("k_relative", weak)
        told = {words.judged(self.words, part) for part in by_metric.values()} - {NOT_CHECKED}
        if told == {HOLDS} and 0 < weak.loss.sum() >= weak.win.sum():
            told |= {words.judged(self.words, weak)} & {DOES_NOT_HOLD}
        return words.PARTLY if len(told) == 2 else words.worst(told)

    def decisive(self, results, cells):
        """Such as '12–3 of 20 and 5 ties at 0'."""
        text, ties = words.told(self.words, cells).score, cells.zero.sum()
        if ties:
            verb = ", of which" if words.counts_ties(self.words) else " and"
            text += f"{verb} {ties} tie{'s' * bool(ties > 1)} at 0"
        alike = f"{cells.matching.mean():.0%} match"
        ratios = f"mean ratios {results.named(cells.mean_ratios)}"
        numbers = {
            "relatively": ratios,
            "much": f"{text}, mean ratio {short(cells.told.mean_ratio)}",
            "slightly": f"{ratios}; {text}",
            "strongest": f"{words.lost_to_some(cells):.0%} lost to a rival, {text}",
            "matches": f"{alike}, {cells.worse.mean():.0%} are worse; {text}",
            "not different": f"{cells.significant.sum()} of {len(cells)} differ, {alike}",
            "wide range of k": f"k won: {results.named(cells.wins)}",
            "only to about 30": f"last k won: {results.named(cells.last_wins)}; {text}",
            "particularly": "won on the named "
            + "; at the named ".join(
                f"{name} {there:.0%}, elsewhere {elsewhere:.0%}"
                for name, (there, elsewhere) in words.contrasts(cells.told).items()
            ),
        }
        return numbers.get(self.words, text)

    def numbers(self, results, cells):
        """Those that decide; and cells won and lost on each dataset and against each rival."""
        found, details = [], []
        for metric, part in cells.by("metric").items():
            head = f"{METRICS[metric]} {words.judged(self.words, part)}: "
            found.append(head * (self.metric == "each") + self.decisive(results, part))
            told = words.told(self.words, part)
            each = {results.title(d): told[told.dataset == d] for d in part.by("dataset")}
            if len(self.sides[1]) > 1:
                each |= {results.title(rival): p for rival, p in told.by("rival").items()}
            scores = ", ".join(f"{name} {p.score}" for name, p in each.items())
            text = f"{METRICS[metric]}: {scores}; mean ratio {short(told.mean_ratio)}"
            differ = (part.zero & part.significant).sum()
            details.append(text + f"; {differ} of the ties at 0 differ by ranks" * bool(differ))
        return "; ".join(found), " / ".join(details)


def read(path=TABLE):
    """{id: Statement}, in the order of the table, which is the paper's."""
    rows = read_dicts(path)
    statements = {r["id"]: (Comparison if r["mechanisms"] else Statement)(**r) for r in rows}
    if len(statements) < len(rows):
        raise ValueError(f"two statements of {path} have one id")
    return statements


STATEMENTS = read()


def check_all(results):
    """A row for each statement."""
    rows = []
    for each in STATEMENTS.values():
        try:
            outcome = each.judge(results)
        except NotChecked as reason:
            outcome = Outcome(NOT_CHECKED, str(reason))
        named = each.all_words
        row = each.id, each.section, each.place, each.statement, outcome.verdict, outcome.found
        row += outcome.details, each.how, "; ".join(named)
        row += "yes" if "time" in named else "no", results.not_real(outcome.datasets)
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def write_claims(csv, md, files, **setting):
    """Write the verdicts on a run, which has its tables in these files, by name."""
    as_is = {"keep_default_na": False, "na_values": [""]}  # a dataset may well be called nan
    tables = {name: pd.read_csv(intact(files[name]), **as_is) for name in TABLES}
    table = check_all(Results(**tables, **setting))
    with written(csv) as file:
        table.to_csv(file, index=False, lineterminator="\n")
    with written(md) as file:
        file.write(as_markdown(table, tables["trials"]))
