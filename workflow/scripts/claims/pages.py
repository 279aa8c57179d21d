"""The pages of the report: the verdicts on all claims, and the datasets."""

import pandas as pd

from workflow.scripts.claims.judging import VERDICTS, WORDS
from workflow.scripts.claims.registry import SECTIONS
from workflow.scripts.common import intact, written
from workflow.scripts.data.status import STATUS
from workflow.scripts.results.page import Column, heading, page, table

CLAIMS = {
    "verdict": Column("verdict", "verdict"),
    "statement": Column("statement", "wide"),
    "found": Column("found", "narrow small"),
    "asked_for": Column("asked for", "narrow small"),
    "place": Column("place", "small"),
    "notes": Column("notes", "small"),
}
MEANINGS = {
    "word": Column("word"),
    "holds": Column("holds", "wide"),
    "partly": Column("partly", "narrow"),
}
DATASETS = {
    "title": Column("dataset"),
    "status": Column("counts"),
    "source": Column("source"),
    "users": Column("users per item"),
    "d": Column("items"),
    "total": Column("sum of counts"),
    "largest": Column("largest"),
}


def claims_page(claims):
    """The verdicts, by section and verdict, and what the judging words mean."""
    rows = []
    for row in claims.to_dict("records"):
        time = "depends on time" if row["depends_on_time"] == "yes" else ""
        where = SECTIONS[row["section"]] if row["section"] == "ours" else row["section"]
        notes = "; ".join(filter(None, [time, row["not_real"]]))
        rows.append(row | {"place": f"{where}: {row['place']}", "notes": notes})
    filters = {"section": SECTIONS, "verdict": {verdict: verdict for verdict in VERDICTS}}
    return page(
        "The paper's statements, checked",
        table(rows, CLAIMS, filters, "claims"),
        heading("What the words mean"),
        table([vars(word) for word in WORDS], MEANINGS, name="words"),
    )


def datasets_page(datasets):
    rows = [row | {"status": STATUS[row["status"]]} for row in datasets.to_dict("records")]
    return page("The datasets", table(rows, DATASETS))


def write_page(path, make, source):
    """Make a page of a results table."""
    given = pd.read_csv(intact(source), keep_default_na=False)
    with written(path) as file:
        file.write(make(given))
