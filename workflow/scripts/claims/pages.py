"""The verdicts as pages for people, in Markdown and in HTML; and the page of the datasets."""

import html

import pandas as pd

from workflow.scripts.claims.words import DOES_NOT_HOLD, NOT_CHECKED, VERDICTS, WORDS
from workflow.scripts.common import intact, written
from workflow.scripts.data.describe import STATUS
from workflow.scripts.results.page import Column, Markup, heading, page, paragraph, table

TITLE, WORDS_TITLE = "The paper's statements, checked", "What the words mean"
READING = (
    "“90–2 of 96 and 24 ties at 0” is: of 120 cells 90 were won, 2 lost, and in 24 both medians "
    "are 0. The words below the table say what a cell is, a ratio, and a verdict that is fragile."
)
CLAIMS = {
    "verdict": Column("verdict", "verdict"),
    "statement": Column("statement", "wide"),
    "found": Column("found", "wide"),
    "criterion": Column("judged by", "narrow small"),
}
MEANING = {
    "word": Column("word"),
    "holds": Column("holds", "wide"),
    "partly": Column("partly", "narrow"),
    "ties": Column("ties at 0"),
    "independent": Column("independent reading", "narrow small"),
}
DATASETS = {"title": "dataset", "status": "counts", "source": "source", "users": "users per item"}
DATASETS |= {"d": "items", "total": "sum of counts", "largest": "largest"}


def anchor(word):
    return f"word-{word.replace(' ', '-')}"


MEANINGS = [{"anchor": anchor(name)} | word for name, word in WORDS.items()]


def section(name):
    """'Appendix C'."""
    kind = "Appendix" if name.isalpha() else "Section"
    return {"1": "Abstract and section 1", "ours": "This project"}.get(name, f"{kind} {name}")


def summary(claims):
    """Totals of the paper's statements and of ours, and all that could not be checked, and why."""
    lines = []
    for who, ours in (("The paper", False), ("This project", True)):
        rows = claims[(claims["section"] == "ours") == ours]
        counts = rows["verdict"].value_counts()
        totals = ", ".join(f"{one} {counts[one]}" for one in VERDICTS if one in counts)
        tested = f"shown by tests, whatever the run: {rows['words'].str.contains('a test').sum()}"
        lines.append(f"{who}: {len(rows)} statements: {totals} ({tested}).")
    missing = claims.loc[claims["verdict"] == NOT_CHECKED, "found"].value_counts()
    return [*lines, READING, *(f"{n} not checked: {reason}" for reason, n in missing.items())]


def shown(claims):
    """Rows as both pages have them: the statement, what was found, and how, in HTML."""
    for row in claims.to_dict("records"):
        found = "<br>".join(map(html.escape, row["found"].split("; ")))
        row = {name: html.escape(str(text)) for name, text in row.items()}
        place = row["place"]
        if row["section"] != "ours" and not place.startswith(("abstract", f"{row['section']}.")):
            place = f"{row['section']}: {place}"
        says = f'{row["statement"]}<br><small><a href="#{row["claim"]}">{place}</a></small>'
        notes = ["Depends on time."] * (row["depends_on_time"] == "yes")
        notes += [f"Counts: {row['not_real']}."] * bool(row["not_real"])
        says += "".join(f'<br><small class="caveat">{note}</small>' for note in notes)
        if row["details"]:
            details = row["details"].replace(" / ", "<br>")
            found += f"<details><summary>details</summary><small>{details}</small></details>"
        how = [f'<a href="#{anchor(word)}">{word}</a>' for word in row["words"].split("; ") if word]
        criterion = row["criterion"]
        how += [f"<code>{criterion}</code>" if "::" in criterion else criterion]
        cells = {"statement": says, "found": found, "criterion": "; ".join(how)}
        yield row | {"anchor": row["claim"]} | {key: Markup(cell) for key, cell in cells.items()}


def as_markdown(claims, trials):
    """A summary, a table for each section, and what the words mean."""
    fails = claims.loc[claims["verdict"] == DOES_NOT_HOLD, "claim"]
    k, largest = trials["k"], trials["trial"].max()
    lines = [
        *summary(claims),
        f"{trials['dataset'].nunique()} datasets, {trials['mechanism'].nunique()} mechanisms, "
        f"{k.nunique()} values of k from {k.min()} to {k.max()}, {largest} trials of each.",
        *[f"Does not hold: {', '.join(f'[{name}](#{name})' for name in fails)}."]
        * (len(fails) > 0),
        "`make gallery` copies this page, of the shipped config, to docs/claims.md.",
    ]
    lines = [f"# {TITLE}", "", *(f"- {line}" for line in lines)]
    for name, rows in claims.groupby("section", sort=False):
        rows = [row | {"verdict": f"**{row['verdict']}**"} for row in shown(rows)]
        lines += ["", f"## {section(name)}", "", *markdown_table(rows, CLAIMS)]
    lines += ["", f"## {WORDS_TITLE}", "", *markdown_table(MEANINGS, MEANING)]
    return "\n".join([*lines, ""])


def markdown_table(rows, columns):
    """Lines of a table, with the anchor of each row."""
    yield f"| {' | '.join(column.heading for column in columns.values())} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        cells = " | ".join(row[name].replace("|", "\\|") for name in columns)
        yield f'| <a id="{row["anchor"]}"></a>{cells} |'


def claims_page(claims):
    """Totals, the verdicts, by section and verdict, and what the judging words mean."""
    sections = {name: section(name) for name in claims["section"]}
    filters = {"section": sections, "verdict": {verdict: verdict for verdict in VERDICTS}}
    return page(
        TITLE,
        *map(paragraph, summary(claims)),
        table(list(shown(claims)), CLAIMS, filters, "claims"),
        heading(WORDS_TITLE),
        table(MEANINGS, MEANING, name="words"),
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
