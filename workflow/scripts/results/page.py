"""Pages of tables, to be read offline and in `report.html`.

A page is one file of plain HTML. Its tables can be narrowed down by the values of some columns;
without scripts, all rows are shown.
"""

import html
from dataclasses import dataclass

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; color: #1a1a1a; }
table { border-collapse: collapse; margin-bottom: 2rem; }
th, td { padding: .45rem .7rem; text-align: left; vertical-align: top;
         border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; white-space: nowrap; position: sticky; top: 0;
     background: #fff; }
th.wide { width: 34%; min-width: 20rem; }
th.narrow { width: 18%; min-width: 11rem; }
td.small { font-size: .85em; color: #444; }
td.name { white-space: nowrap; }
th.number { text-align: right; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.verdict { font-weight: 600; white-space: nowrap; }
td.holds { color: #11643a; }
td.partly { color: #8a5a00; }
td.does-not-hold { color: #a3201d; }
p.text { max-width: 46rem; }
form { margin: 0 0 1rem; }
form label { margin-right: 1.2rem; }
"""

# Shows the rows that have all the values chosen, and says how many these are.
SCRIPT = """
for (const form of document.querySelectorAll("form")) {
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


@dataclass(frozen=True)
class Column:
    """A column of a page: its heading, and how wide or large it is (a class of STYLE)."""

    heading: str
    kind: str = ""


def page(title, *blocks):
    """An HTML page of blocks such as `table` and `heading` make."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n"
        f"<h2>{html.escape(title)}</h2>\n{''.join(blocks)}<script>{SCRIPT}</script>\n</html>\n"
    )


def heading(text):
    return f"<h3>{html.escape(text)}</h3>\n"


def paragraph(text):
    return f'<p class="text">{html.escape(text)}</p>\n'


def table(rows, columns, filters=None, name="table", chosen=None):
    """The columns that are named, under their headings.

    rows: dicts. columns: {key: Column}. filters: {key: {value: what to call it}} for the keys by
    which a reader may choose rows; values that no row has are left out. name: of the table,
    where a page has several with filters. chosen: {key: value} of the choice at the beginning.
    """
    filters = filters or {}
    head = "".join(f'<th class="{c.kind}">{html.escape(c.heading)}</th>' for c in columns.values())
    body = "\n".join(_row(row, columns, filters) for row in rows)
    form = _form(rows, filters, name, chosen or {}) if filters else ""
    return (
        f'{form}<table id="{name}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n"
    )


def _form(rows, filters, name, chosen):
    labels = []
    for key, words in filters.items():
        there = {row[key] for row in rows}
        options = "".join(
            f'<option value="{html.escape(value)}"{" selected" * (value == chosen.get(key))}>'
            f"{html.escape(word)}</option>"
            for value, word in words.items()
            if value in there
        )
        labels.append(
            f'<label>{html.escape(key)} <select name="{key}"><option value="">all</option>'
            f"{options}</select></label>"
        )
    return f'<form hidden data-table="{name}">{"".join(labels)}<output></output></form>\n'


def _row(row, columns, filters):
    values = "".join(f' data-{key}="{html.escape(str(row[key]))}"' for key in filters)
    return f"<tr{values}>{''.join(_cell(row[key], c.kind) for key, c in columns.items())}</tr>"


def _cell(value, kind):
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if kind == "verdict":
        kind += f" {value.replace(' ', '-')}"
    return f'<td class="{kind}">{html.escape(str(value))}</td>'
