"""Pages of tables, to be read offline and in `report.html`.

A page is one file of plain HTML. Its tables can be narrowed down by the values of some columns;
without scripts, all rows are shown.
"""

import re
from html import escape
from typing import NamedTuple

COLOURS = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1a1a1a; --soft: #4a4a4a; --line: #ddd;
  --rule: #888; --holds: #11643a; --partly: #7a4f00; --fails: #a3201d; --link: #0b57d0; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --ink: #ececec; --soft: #bdbdbd; --line: #3a3d41; --rule: #777;
    --holds: #7ddba3; --partly: #f0c36d; --fails: #ff9c94; --link: #8ab4f8; }
}
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; color: var(--ink);
  background: var(--paper); }
@media (max-width: 60rem) { body { margin: 1rem; } }
"""
# Stands in rules of other pages, too.
TABLES = """
a { color: var(--link); }
table { border-collapse: collapse; margin-bottom: 2rem; }
th, td { padding: .45em .7em; text-align: left; vertical-align: top; overflow-wrap: break-word;
  border-bottom: 1px solid var(--line); }
td code { overflow-wrap: anywhere; }
th { border-bottom: 2px solid var(--rule); white-space: nowrap; position: sticky; top: 0;
  background: var(--paper); }
th.wide { width: 34%; min-width: 20em; }
th.narrow { width: 18%; min-width: 11em; }
td.small { font-size: .85em; color: var(--soft); }
th.number { text-align: right; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.verdict { font-weight: 600; white-space: nowrap; }
td.holds { color: var(--holds); }
td.partly { color: var(--partly); }
td.does-not-hold { color: var(--fails); }
tr:target { outline: 3px solid var(--link); }
p.text { max-width: 46rem; }
form { margin: 0 0 1rem; }
form label { margin-right: 1.2rem; }
select { font: inherit; max-width: 100%; padding: .2rem .4rem; color: inherit;
  background: var(--paper); border: 1px solid var(--rule); border-radius: 4px; }
.caveat { color: var(--partly); }
tr[id] { scroll-margin-top: 3rem; }
/* On a narrow screen a row becomes a block, and each value has its heading before it. */
@media (max-width: 60rem) {
  table, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { padding: .6rem 0; border-bottom: 2px solid var(--rule); }
  td, td.number { border: 0; padding: .1em 0; text-align: left; white-space: normal; }
  td::before { content: attr(data-heading) ": "; font-weight: 600; color: var(--soft); }
  tr[hidden] { display: none; }
}
@media print { form { display: none; } th { position: static; } tr { break-inside: avoid; } }
"""

# Shows the rows that have all the values chosen, and says how many these are.
SCRIPT = """
for (const form of document.querySelectorAll("form[data-table]")) {
  const choices = [...form.querySelectorAll("select")];
  // Not form.dataset: a choice may be called that, and would be found instead.
  const name = form.getAttribute("data-table");
  const rows = [...document.querySelectorAll("#" + name + " tbody tr")];
  const show = () => {
    let shown = 0;
    for (const row of rows) {
      row.hidden = choices.some(c => c.value && row.dataset[c.name] !== c.value);
      shown += !row.hidden;
    }
    form.querySelector("output").textContent = shown + " of " + rows.length;
  };
  form.hidden = false;
  form.addEventListener("change", show);
  show();
}
"""


class Markup(str):
    """The text of a cell that is HTML already."""


class Column(NamedTuple):
    """A column of a page: its heading, and how wide or large it is (a class of TABLES)."""

    heading: str
    kind: str = ""


def page(title, *blocks):
    """An HTML page of blocks such as `table` and `heading` make."""
    title = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{COLOURS}{TABLES}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n{''.join(blocks)}</main>\n<script>{SCRIPT}</script>\n"
        "</body>\n</html>\n"
    )


def heading(text):
    return f"<h2>{escape(text)}</h2>\n"


def paragraph(text):
    return f'<p class="text">{escape(text)}</p>\n'


def table(rows, columns, filters=None, name="table", chosen=None):
    """The named columns, under their headings.

    rows: dicts; "anchor" names a row for links. columns: {key: Column}. filters: {key: {value: what
    to call it}} for the keys by which a reader may choose rows; values that no row has are left
    out. name: of the table, where a page has several with filters. chosen: {key: value} of the
    choice at the beginning.
    """
    filters = filters or {}
    numeric = {key for key in columns if rows and isinstance(rows[0][key], int)}
    head = "".join(
        f'<th scope="col" class="{"number" if key in numeric else column.kind}">'
        f"{escape(column.heading)}</th>"
        for key, column in columns.items()
    )
    body = "\n".join(_row(row, columns, filters) for row in rows)
    form = _form(rows, filters, name, chosen or {}) if filters else ""
    return (
        f'{form}<table id="{name}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n"
    )


def _form(rows, filters, name, chosen):
    labels = ""
    for key, words in filters.items():
        labels += f'<label>{escape(key)} <select name="{key}"><option value="">all</option>'
        used = {row[key] for row in rows}
        for value, word in words.items():
            if value in used:
                selected = " selected" if value == chosen.get(key) else ""
                labels += f'<option value="{escape(value)}"{selected}>{escape(word)}</option>'
        labels += "</select></label>"
    return f'<form hidden data-table="{name}">{labels}<output></output></form>\n'


def _row(row, columns, filters):
    values = "".join(f' data-{key}="{escape(str(row[key]))}"' for key in filters)
    anchor = f' id="{escape(row["anchor"])}"' if "anchor" in row else ""
    return f"<tr{anchor}{values}>{''.join(_cell(row[key], c) for key, c in columns.items())}</tr>"


def _cell(value, column):
    kind, text = column.kind, str(value)
    if isinstance(value, int):
        kind, text = "number", f"{value:,}"
    if kind == "verdict":
        kind += f" {value.replace(' ', '-')}"
    if not isinstance(value, Markup):
        text = re.sub(r"`(.+?)`", r"<code>\1</code>", escape(text))
    return f'<td class="{kind}" data-heading="{escape(column.heading)}">{text}</td>'
