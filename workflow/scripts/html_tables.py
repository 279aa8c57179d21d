"""Tables of the results as pages that can be read in `report.html`."""

import html

import pandas as pd

from workflow.scripts.common import logged, written

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; color: #1a1a1a; }
table { border-collapse: collapse; }
th, td { padding: .45rem .7rem; text-align: left; vertical-align: top;
         border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.holds { color: #11643a; font-weight: 600; white-space: nowrap; }
td.partly { color: #8a5a00; font-weight: 600; }
td.does-not-hold { color: #a3201d; font-weight: 600; }
"""

CLAIMS = {"section": "section", "verdict": "verdict", "statement": "statement",
          "figure": "found", "threshold": "asked for", "stand_in": "stand-in"}  # fmt: skip
DATASETS = {"title": "dataset", "status": "counts", "source": "source", "d": "items",
            "total": "sum of counts", "largest": "largest"}  # fmt: skip


def page(title, table, columns):
    """An HTML page with the columns of a table that are named, under those names."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns.values())
    rows = table[list(columns)].itertuples(index=False, name=None)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n"
        f"<h2>{html.escape(title)}</h2>\n"
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</html>\n"
    )


def _cell(value):
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    words = {"holds", "partly", "does not hold"}
    kind = f' class="{value.replace(" ", "-")}"' if value in words else ""
    return f"<td{kind}>{html.escape(str(value))}</td>"


def write_page(path, title, source, columns):
    """Make a page of a results table."""
    table = pd.read_csv(source, keep_default_na=False)
    with written(path) as file:
        file.write(page(title, table, columns))


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        made, given = snakemake.output, snakemake.input
        write_page(made.claims, "The paper's statements, checked", given.claims, CLAIMS)
        write_page(made.datasets, "The datasets", given.datasets, DATASETS)
