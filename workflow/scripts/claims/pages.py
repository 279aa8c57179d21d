"""The verdicts as pages for people, in Markdown and in HTML; and the page of the datasets."""

import html

import pandas as pd

from workflow.scripts.claims.words import NOT_CHECKED, VERDICTS, WORDS
from workflow.scripts.common import intact, written
from workflow.scripts.data.status import STATUS
from workflow.scripts.results.page import Column, Markup, heading, page, paragraph, table

TITLE = "The paper's statements, checked"
WRITTEN = (
    "`make figures` writes this page to results/claims.md; `make gallery` copies that of the "
    "shipped config to docs/claims.md."
)
SECTIONS = {
    "1": "Abstract and section 1: introduction",
    "2": "Section 2: error measures",
    "3": "Section 3: the joint mechanism",
    "3.1": "Section 3.1: sampling it",
    "4.1": "Section 4.1: comparison methods",
    "4.2": "Section 4.2: datasets",
    "4.3.1": "Section 4.3.1: ℓ∞ error",
    "4.3.2": "Section 4.3.2: ℓ1 error",
    "4.3.3": "Section 4.3.3: time",
    "5": "Section 5: conclusion",
    "C": "Appendix C: further plots",
    "D": "Appendix D: permute-and-flip",
    "ours": "This project",
}
CLAIMS = {
    "verdict": Column("verdict", "verdict"),
    "statement": Column("statement", "wide"),
    "found": Column("found", "wide small"),
    "criterion": Column("criterion", "narrow small"),
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


def anchor(word):
    return f"word-{word.replace(' ', '-')}"


def summary(claims):
    """Totals of the paper's statements and of ours, and all that could not be checked, and why."""
    lines = []
    for who, ours in (("The paper", False), ("This project", True)):
        rows = claims[(claims["section"] == "ours") == ours]
        counts = rows["verdict"].value_counts()
        totals = ", ".join(
            f"{verdict} {counts[verdict]}" for verdict in VERDICTS if verdict in counts
        )
        tested = int(rows["words"].str.contains("shown by a test").sum())
        tested = f" (shown by tests, whatever the run: {tested})" if tested else ""
        lines.append(f"{who}: {len(rows)} statements: {totals}{tested}.")
    missing = claims.loc[claims["verdict"] == NOT_CHECKED, "found"].value_counts()
    return lines + [f"{n} not checked: {reason}" for reason, n in missing.items()]


def scope(trials):
    """What the verdicts rest on."""
    k, largest = trials["k"], trials["trial"].max()
    return (
        f"{trials['dataset'].nunique()} datasets, {trials['mechanism'].nunique()} mechanisms, "
        f"{k.nunique()} values of k from {k.min()} to {k.max()}, {largest} trials of each."
    )


def as_markdown(claims, trials=None):
    """A summary, a table for each section, and what the words mean."""
    lines = [*summary(claims), *([] if trials is None else [scope(trials)])]
    if (claims["depends_on_time"] == "yes").any():
        lines.append(f"⏱: {WORDS['time'].holds}.")
    which = dict.fromkeys("; ".join(filter(None, claims["not_real"])).split("; "))
    if "" not in which:
        text = "†: rests, wholly or in part, on counts that are not the original's"
        lines.append(f"{text} ({'; '.join(which)}).")
    lines.append(WRITTEN)
    lines = [f"# {TITLE}", "", *(f"- {line}" for line in lines)]
    for section, rows in claims.groupby("section", sort=False):
        lines += ["", f"## {SECTIONS[section]}", ""]
        lines += [markdown_row(("verdict", "statement", "place", "found", "criterion"))]
        lines += ["|---" * 5 + "|"]
        for row in rows.itertuples():
            marks = " †" * bool(row.not_real) + " ⏱" * (row.depends_on_time == "yes")
            says = f'<a id="{row.claim}"></a>{row.statement}'
            words = [f"[{word}](#{anchor(word)})" for word in row.words.split("; ") if word]
            criterion = f"{row.criterion} ({', '.join(words)})" if words else row.criterion
            lines += [
                markdown_row((f"**{row.verdict}**{marks}", says, row.place, row.found, criterion))
            ]
    lines += ["", "## What the words mean", ""]
    lines += [markdown_row(("word", "holds", "partly")), "|---|---|---|"]
    for name, word in WORDS.items():
        lines.append(markdown_row((f'<a id="{anchor(name)}"></a>{name}', word.holds, word.partly)))
    return "\n".join([*lines, ""])


def markdown_row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def claims_page(claims):
    """Totals, the verdicts, by section and verdict, and what the judging words mean."""
    rows = []
    for row in claims.to_dict("records"):
        where = "" if row["section"] == "ours" else f"{row['section']}, "
        link = f'<a href="#{row["claim"]}">{html.escape(where + row["place"])}</a>'
        says = f"{html.escape(row['statement'])} <small>{link}</small>"
        notes = ["Depends on time."] * (row["depends_on_time"] == "yes")
        notes += [f"Counts: {row['not_real']}."] * bool(row["not_real"])
        caveat = "".join(f'<br><small class="caveat">{html.escape(note)}</small>' for note in notes)
        words = ", ".join(
            f'<a href="#{anchor(word)}">{html.escape(word)}</a>'
            for word in row["words"].split("; ")
            if word
        )
        criterion = html.escape(row["criterion"]) + f"<br>Words: {words}" * bool(words)
        rows.append(
            row
            | {"anchor": row["claim"], "statement": Markup(says + caveat)}
            | {"criterion": Markup(criterion)}
        )
    meanings = [
        {"anchor": anchor(name), "word": name, "holds": word.holds, "partly": word.partly}
        for name, word in WORDS.items()
    ]
    filters = {"section": SECTIONS, "verdict": {verdict: verdict for verdict in VERDICTS}}
    return page(
        TITLE,
        *map(paragraph, summary(claims)),
        table(rows, CLAIMS, filters, "claims"),
        heading("What the words mean"),
        table(meanings, MEANINGS, name="words"),
    )


def datasets_page(datasets):
    rows = [row | {"status": STATUS[row["status"]]} for row in datasets.to_dict("records")]
    return page("The datasets", table(rows, DATASETS))


def write_page(path, make, source):
    """Make a page of a results table."""
    given = pd.read_csv(intact(source), keep_default_na=False)
    with written(path) as file:
        file.write(make(given))
