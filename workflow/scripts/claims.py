"""Check the paper's statements, and this project's own, against the results of a run.

A statement that does not hold is a finding, and is written down like any other. A check that
crashes is a defect, and stops the run. What a run has no data for is "not checked".
"""

from pathlib import Path

import pandas as pd

from workflow.scripts.common import logged, written
from workflow.scripts.judging import NOT_CHECKED, VERDICTS, NotChecked, Outcome, Results
from workflow.scripts.manifest import read_digests, sha256
from workflow.scripts.statements import CLAIMS, SECTIONS

COLUMNS = ["claim", "section", "statement", "verdict", "figure", "threshold", "stand_in"]


def check_all(results):
    """One row for each claim, in the order of the sections."""
    order = list(SECTIONS)
    rows = []
    for each in sorted(CLAIMS.values(), key=lambda each: order.index(each.section)):
        try:
            outcome = each.check(results)
        except NotChecked as reason:
            outcome = Outcome(NOT_CHECKED, str(reason))
        stand_in = any(map(results.is_stand_in, outcome.datasets))
        rows.append(
            {
                "claim": each.name,
                "section": each.section,
                "statement": each.statement,
                "verdict": outcome.verdict,
                "figure": outcome.figure,
                "threshold": each.threshold,
                "stand_in": "yes" if stand_in else "no",
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def as_markdown(table, trials=None):
    """The same for people: a summary, then a table for each section."""
    ours = table["section"] == "ours"
    lines = [
        "# The paper's statements, checked",
        "",
        f"- The paper: {summary(table[~ours])}",
        f"- This project: {summary(table[ours])}",
        "",
        *([] if trials is None else [scope(trials), ""]),
        "*Sure*: a two-sided rank test of the trials agrees, at 5 % shared by all k of the "
        "comparison. *Factor*: geometric mean over k of the ratio of medians, padded by 1.",
        "",
    ]
    if (table["stand_in"] == "yes").any():
        lines += ["†: rests, wholly or in part, on counts that are a stand-in.", ""]
    for section, rows in table.groupby("section", sort=False):
        lines += [f"## {SECTIONS[section]}", ""]
        lines += ["| verdict | statement | found | asked for |", "|---|---|---|---|"]
        for row in rows.itertuples():
            mark = " †" if row.stand_in == "yes" else ""
            cells = [f"**{row.verdict}**{mark}", row.statement, row.figure, row.threshold]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def summary(table):
    counts = table["verdict"].value_counts()
    words = ("hold", "hold partly", "do not hold", "not checked")
    parts = [f"{counts.get(v, 0)} {word}" for v, word in zip(VERDICTS, words, strict=True)]
    return f"{len(table)} statements; {', '.join(parts)}."


def scope(trials):
    """What the verdicts rest on."""
    k, per_cell = trials["k"], trials.groupby(["dataset", "mechanism", "epsilon", "k"]).size()
    return (
        f"{trials['dataset'].nunique()} datasets, {trials['mechanism'].nunique()} mechanisms, "
        f"{k.nunique()} values of k from {k.min()} to {k.max()}, {per_cell.max()} trials of each."
    )


# ---------------------------------------------------------------- files


def read_results(
    datasets, trials=None, timing=None, gaps=None, agreement=None, digests=None, **setting
):
    """Read the tables of a run; those without a path count as missing."""
    tables = [
        None if path is None else pd.read_csv(path) for path in (trials, timing, gaps, agreement)
    ]
    digest = kept = None
    if trials is not None and digests is not None:
        digest = sha256(trials)
        kept = read_digests(digests).get(f"results/{Path(trials).name}")
    return Results(pd.read_csv(datasets), *tables, digest, kept, **setting)


def main(csv, md, **inputs):
    results = read_results(**inputs)
    table = check_all(results)
    with written(csv) as file:
        table.to_csv(file, index=False, lineterminator="\n")
    with written(md) as file:
        file.write(as_markdown(table, results.trials))


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        tables = ("datasets", "trials", "timing", "gaps", "agreement")
        main(
            snakemake.output.csv,
            snakemake.output.md,
            **{name: snakemake.input[name] for name in tables},
            digests=next(iter(snakemake.input.digests), None),  # only for the published config
            neighbors=snakemake.params.neighbors,
            delta=snakemake.params.delta,
        )
