"""Judges the rows of statements.csv against the results of a run, and writes the verdicts down.

The table is to be held beside the paper. A row has the statement in our words, its id, which
stays, its place, and what judges it: a word, with the mechanisms, datasets, metrics and k that are
compared (`comparison`); a function of `checks`; other statements; or a test of the definitions.

A statement that does not hold is a finding, and is written down like any other. A check that
crashes is a defect, and stops the run. What a run has no data for is "not checked".
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workflow.scripts.claims import checks
from workflow.scripts.claims.comparison import Comparison
from workflow.scripts.claims.evidence import NotChecked, Outcome, Results
from workflow.scripts.claims.pages import as_markdown
from workflow.scripts.claims.words import DOES_NOT_HOLD, HOLDS, NOT_CHECKED
from workflow.scripts.claims.words import verdict as verdict_of
from workflow.scripts.common import intact, written

TABLE = Path(__file__).parents[2] / "statements.csv"


@dataclass(frozen=True)
class Statement:
    """A row of statements.csv; what is compared is in `comparison`, if it is one."""

    id: str
    section: str
    place: str
    statement: str
    words: tuple
    judged_by: str
    criterion: str
    comparison: Comparison | None

    @property
    def by_test(self):
        return "::" in self.judged_by

    def judge(self, results):
        if self.comparison:
            return self.comparison.check(results)
        if self.by_test:
            refuted, test = re.fullmatch("(refuted by )?(.*)", self.judged_by).groups()
            found = f"{self.criterion} `{test}` shows it.".strip()
            return Outcome(DOES_NOT_HOLD if refuted else HOLDS, found)
        name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", self.judged_by).groups()
        arguments = arguments.split(", ") if arguments else []
        if name == "parts":
            return all_parts([STATEMENTS[part].judge(results) for part in arguments])
        return getattr(checks, name)(results, *arguments)


def all_parts(outcomes):
    verdicts = [one.verdict for one in outcomes]
    found = verdict_of(set(verdicts) == {HOLDS}, verdicts.count(DOES_NOT_HOLD) <= 1)
    datasets = dict.fromkeys(name for one in outcomes for name in one.datasets)
    return Outcome(found, ", ".join(verdicts), tuple(datasets))


def read(path=TABLE):
    """{id: Statement}, in the order of the table, which is the paper's."""
    statements = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            compared = [row.pop(name) for name in ("mechanisms", "datasets", "metrics", "ks")]
            words = [word for word in row.pop("words").split(", ") if word]
            comparison = Comparison(*compared, *words) if compared[0] else None
            words = comparison.words() if comparison else words
            words += ["shown by a test"] * ("::" in row["judged_by"])
            if row["id"] in statements:
                raise ValueError(f"two statements are called {row['id']}")
            statements[row["id"]] = Statement(**row, words=tuple(words), comparison=comparison)
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
        criterion = "computed from the definitions" if each.by_test else each.criterion
        rows.append(
            {
                "claim": each.id,
                "section": each.section,
                "place": each.place,
                "statement": each.statement,
                "verdict": outcome.verdict,
                "found": outcome.found,
                "criterion": each.comparison.criterion(results) if each.comparison else criterion,
                "words": "; ".join(each.words),
                "depends_on_time": "yes" if "time" in each.words else "no",
                "not_real": results.not_real(outcome.datasets),
            }
        )
    return pd.DataFrame(rows)


# ---------------------------------------------------------------- files

TABLES = ("datasets", "errors", "trials", "timing", "gaps", "agreement")


def read_results(**given):
    """Read the tables of a run; those without a path count as missing."""
    tables = {name: path for name, path in given.items() if name in TABLES and path is not None}
    # A dataset may well be called nan.
    for name, path in tables.items():
        given[name] = pd.read_csv(intact(path), keep_default_na=False, na_values=[""])
    return Results(**given)


def write_claims(csv, md, **inputs):
    results = read_results(**inputs)
    table = check_all(results)
    with written(csv) as file:
        table.to_csv(file, index=False, lineterminator="\n")
    with written(md) as file:
        file.write(as_markdown(table, results.trials))
