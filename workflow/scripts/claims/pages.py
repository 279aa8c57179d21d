"""The verdicts as pages for people, in Markdown and in HTML; and the page of the datasets."""

import html

import pandas as pd

from workflow.scripts.claims.words import DOES_NOT_HOLD, NOT_CHECKED, VERDICTS, WORDS
from workflow.scripts.common import intact, written
from workflow.scripts.data.describe import STATUS
from workflow.scripts.results.page import Column, Markup, heading, page, paragraph, table

TITLE = "The paper's statements, checked"
READING = (
    "“90–2 of 96 and 24 ties at 0” is: of 120 cells 90 were won, 2 lost, and in 24 both medians "
    "are 0. The words below the table say what a cell is, a ratio, and a verdict that is fragile."
)
WRITTEN = "`make gallery` copies this page, of the shipped config, to docs/claims.md."
CLAIMS = {
    "verdict": Column("verdict", "verdict"),
    "statement": Column("statement", "wide"),
    "found": Column("found", "wide"),
    "criterion": Column("judged by", "narrow small"),
}
MEANINGS = {
    "word": Column("word"),
    "holds": Column("holds", "wide"),
    "partly": Column("partly", "narrow"),
    "ties": Column("ties at 0"),
    "independent": Column("independent reading", "narrow small"),
}
DATASETS = {"title": "dataset", "status": "counts", "source": "source", "users": "users per item"}
DATASETS |= {"d": "items", "total": "sum of counts", "largest": "largest"}


def section(name):
    """'Appendix C'."""
    kind = "Appendix" if name.isalpha() else "Section"
    return {"1": "Abstract and section 1", "ours": "This project"}.get(name, f"{kind} {name}")


def anchor(word):
    return f"word-{word.replace(' ', '-')}"


def summary(claims):
    """Totals of the paper's statements and of ours, and all that could not be checked, and why."""
    lines = []
    for who, ours in (("The paper", False), ("This project", True)):
        rows = claims[(claims["section"] == "ours") == ours]
        counts = rows["verdict"].value_counts()
        totals = ", ".join(f"{one} {counts[one]}" for one in VERDICTS if one in counts)
        tested = int(rows["words"].str.contains("shown by a test").sum())
        tested = f" (shown by tests, whatever the run: {tested})" if tested else ""
        lines.append(f"{who}: {len(rows)} statements: {totals}{tested}.")
    missing = claims.loc[claims["verdict"] == NOT_CHECKED, "found"].value_counts()
    return [*lines, READING, *(f"{n} not checked: {reason}" for reason, n in missing.items())]


def scope(trials):
    """What the verdicts rest on."""
    k, largest = trials["k"], trials["trial"].max()
    return (
        f"{trials['dataset'].nunique()} datasets, {trials['mechanism'].nunique()} mechanisms, "
        f"{k.nunique()} values of k from {k.min()} to {k.max()}, {largest} trials of each."
    )


def cells_of(row):
    """What both pages show of a statement, in HTML: the statement, what was found, and how."""
    lines = row["found"].split("; ")
    row = {name: html.escape(str(text)) for name, text in row.items()}
    told = row["place"].startswith(("abstract", f"{row['section']}.")) or row["section"] == "ours"
    where = "" if told else f"{row['section']}: "
    link = f'<a href="#{row["claim"]}">{where}{row["place"]}</a>'
    says = f"{row['statement']}<br><small>{link}</small>"
    notes = ["Depends on time."] * (row["depends_on_time"] == "yes")
    notes += [f"Counts: {row['not_real']}."] * bool(row["not_real"])
    says += "".join(f'<br><small class="caveat">{note}</small>' for note in notes)
    found = "<br>".join(map(html.escape, lines))
    if row["details"]:
        details = row["details"].replace(" / ", "<br>")
        found += f"<details><summary>details</summary><small>{details}</small></details>"
    words = [f'<a href="#{anchor(word)}">{word}</a>' for word in row["words"].split("; ") if word]
    how = f"<code>{row['criterion']}</code>" if "::" in row["criterion"] else row["criterion"]
    return {"statement": says, "found": found, "criterion": "; ".join([*words, how])}


def as_markdown(claims, trials=None):
    """A summary, a table for each section, and what the words mean."""
    fails = claims.loc[claims["verdict"] == DOES_NOT_HOLD, "claim"]
    lines = [*summary(claims), *([] if trials is None else [scope(trials)])]
    links = ", ".join(f"[{name}](#{name})" for name in fails)
    lines += [f"Does not hold: {links}."] if links else []
    lines = [f"# {TITLE}", "", *(f"- {line}" for line in [*lines, WRITTEN])]
    for name, rows in claims.groupby("section", sort=False):
        lines += ["", f"## {section(name)}", "", *markdown_head(CLAIMS)]
        for row in rows.to_dict("records"):
            verdict = f'<a id="{row["claim"]}"></a>**{row["verdict"]}**'
            lines += [markdown_row([verdict, *cells_of(row).values()])]
    lines += ["", "## What the words mean", "", *markdown_head(MEANINGS)]
    for row in WORDS.values():
        name, *others = row.values()
        lines += [markdown_row([f'<a id="{anchor(name)}"></a>{name}', *others])]
    return "\n".join([*lines, ""])


def markdown_head(columns):
    return markdown_row([c.heading for c in columns.values()]), "|---" * len(columns) + "|"


def markdown_row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def claims_page(claims):
    """Totals, the verdicts, by section and verdict, and what the judging words mean."""
    rows = [
        row | {"anchor": row["claim"]} | {k: Markup(v) for k, v in cells_of(row).items()}
        for row in claims.to_dict("records")
    ]
    meanings = [{"anchor": anchor(name)} | word for name, word in WORDS.items()]
    sections = {name: section(name) for name in claims["section"]}
    filters = {"section": sections, "verdict": {verdict: verdict for verdict in VERDICTS}}
    return page(
        TITLE,
        *map(paragraph, summary(claims)),
        table(rows, CLAIMS, filters, "claims"),
        heading("What the words mean"),
        table(meanings, MEANINGS, name="words"),
    )


def datasets_page(datasets):
    rows = [row | {"status": STATUS[row["status"]]} for row in datasets.to_dict("records")]
    return page(
        "The datasets", table(rows, {key: Column(heading) for key, heading in DATASETS.items()})
    )


def write_page(path, make, source):
    """Make a page of a results table."""
    given = pd.read_csv(intact(source), keep_default_na=False)
    with written(path) as file:
        file.write(make(given))
