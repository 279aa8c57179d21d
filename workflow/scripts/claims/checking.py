"""Check the paper's statements, and this project's own, against the results of a run.

A statement that does not hold is a finding, and is written down like any other. A check that
crashes is a defect, and stops the run. What a run has no data for is "not checked".

What is proved rather than measured (privacy, the equality of a sampler with the distribution
that it samples) is checked in the test suite by enumeration, and is no claim here.
"""

from pathlib import Path

import pandas as pd

from workflow.scripts.claims import (  # noqa: F401  each registers its claims
    appendix_c,
    appendix_d,
    ours,
    section_1,
    section_2,
    section_3,
    section_4_1,
    section_4_2,
    section_4_3_1,
    section_4_3_2,
    section_4_3_3,
    section_5,
)
from workflow.scripts.claims.evidence import Results
from workflow.scripts.claims.judging import NOT_CHECKED, VERDICTS, WORDS, NotChecked, Outcome
from workflow.scripts.claims.registry import CLAIMS, SECTIONS
from workflow.scripts.common import intact, sha256, written
from workflow.scripts.results.manifest import read_digests

COLUMNS = [
    "claim",
    "section",
    "place",
    "statement",
    "verdict",
    "found",
    "asked_for",
    "depends_on_time",
    "not_real",
]


def check_all(results):
    """One row for each claim, in the order of the sections."""
    order = list(SECTIONS)
    rows = []
    for each in sorted(CLAIMS.values(), key=lambda each: order.index(each.section)):
        try:
            outcome = each.check(results)
        except NotChecked as reason:
            outcome = Outcome(NOT_CHECKED, str(reason))
        rows.append(
            {
                "claim": each.name,
                "section": each.section,
                "place": each.place,
                "statement": each.statement,
                "verdict": outcome.verdict,
                "found": outcome.found,
                "asked_for": each.asked_for,
                "depends_on_time": "yes" if each.depends_on_time else "no",
                "not_real": results.not_real(outcome.datasets),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


# ---------------------------------------------------------------- for people


def as_markdown(table, trials=None):
    """A summary, the meaning of the words, then a table for each section."""
    own = table["section"] == "ours"
    lines = [
        "# The paper's statements, checked",
        "",
        f"- The paper: {summary(table[~own])}",
        f"- This project: {summary(table[own])}",
        "",
        *([] if trials is None else [scope(trials), ""]),
    ]
    if (table["depends_on_time"] == "yes").any():
        lines += ["⏱: depends on the machine and on what else it is doing.", ""]
    if (table["not_real"] != "").any():
        which = "; ".join(dict.fromkeys("; ".join(filter(None, table["not_real"])).split("; ")))
        lines += [f"†: rests, wholly or in part, on counts that are not the original's ({which})."]
        lines += [""]
    for section, rows in table.groupby("section", sort=False):
        lines += [f"## {SECTIONS[section]}", ""]
        lines += markdown_rows(("verdict", "statement", "place", "found", "asked for"), [])
        for row in rows.itertuples():
            marks = (" †" if row.not_real else "") + (" ⏱" if row.depends_on_time == "yes" else "")
            verdict = f"**{row.verdict}**{marks}"
            cells = (verdict, row.statement, row.place, row.found, row.asked_for)
            lines.append(markdown_row(cells))
        lines.append("")
    lines += ["## What the words mean", ""]
    lines += markdown_rows(
        ("word", "holds", "partly"), [(w.word, w.holds, w.partly) for w in WORDS]
    )
    return "\n".join([*lines, ""])


def markdown_rows(header, rows):
    return [markdown_row(header), "|---" * len(header) + "|", *map(markdown_row, rows)]


def markdown_row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def summary(table):
    """'46 statements: *holds* 37, ...', naming the verdicts that occur."""
    counts = table["verdict"].value_counts()
    parts = [f"*{verdict}* {counts[verdict]}" for verdict in VERDICTS if verdict in counts]
    return f"{len(table)} statements: {', '.join(parts)}."


def scope(trials):
    """What the verdicts rest on."""
    k, largest = trials["k"], trials["trial"].max()
    return (
        f"{trials['dataset'].nunique()} datasets, {trials['mechanism'].nunique()} mechanisms, "
        f"{k.nunique()} values of k from {k.min()} to {k.max()}, {largest} trials of each."
    )


# ---------------------------------------------------------------- files


TABLES = ("datasets", "errors", "trials", "timing", "gaps", "histograms", "agreement")


def read_results(digests=None, neighbors="add-remove", delta=1e-6, **paths):
    """Read the tables of a run; those without a path count as missing."""
    tables = {name: _read(paths[name]) for name in TABLES if paths.get(name) is not None}
    digest = kept = None
    if paths.get("trials") is not None and digests is not None:
        digest = sha256(paths["trials"])
        kept = read_digests(digests).get(f"results/{Path(paths['trials']).name}")
    return Results(**tables, digest=digest, kept_digest=kept, neighbors=neighbors, delta=delta)


def _read(path):
    # A dataset may well be called nan.
    return pd.read_csv(intact(path), keep_default_na=False, na_values=[""])


def main(csv, md, **inputs):
    results = read_results(**inputs)
    table = check_all(results)
    with written(csv) as file:
        table.to_csv(file, index=False, lineterminator="\n")
    with written(md) as file:
        file.write(as_markdown(table, results.trials))
