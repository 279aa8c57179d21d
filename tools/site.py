"""Build the site from the pages of this project and what the last run left: `make site`.

The pages of the repository become pages of the site; figures, explorer, claims and datasets are
those of the run in the working directory, and the leaderboard that of `make field`, if it was run.
MkDocs makes HTML of it, without a network, and fails on a broken link.
"""

import csv
import html
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from workflow.scripts.common import InputError
from workflow.scripts.config.plan import Plan
from workflow.scripts.figures import catalogue
from workflow.scripts.results import page as table_page

ROOT = Path(__file__).parents[1]

# Pages of the repository, and their names on the site.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "data/README.md": "data.md",
    **{f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.md"))},
}
PICTURES = "docs/gallery"
SHOWN = (".csv", ".html", ".png", ".pdf")  # what is copied of a run
SHIM = "https://unpkg.com/iframe-worker/shim"  # what the theme would load, and ours does
SEARCH = '<div class="md-search" data-md-component="search" role="dialog"'  # has no name
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )(?![a-z]+:|#)([^)\s#]*)(#[^)\s]*)?", re.MULTILINE)

API = """\
# Python API

`pip install .` installs the library; it needs NumPy only. Counting rows needs DuckDB as well
(`pip install ".[count]"`).

## Mechanisms

::: dp_topk
    options: {members: [get, names, Mechanism, Profile, Unavailable]}

## Releases

::: dp_topk.release

## Counting

::: dp_topk.counting
    options: {members: [count_users, read_counts, query, Counts, CountingError]}
"""


def build(run=Path(), site=ROOT / "site"):
    """Make the site of the run in a folder."""
    from mkdocs.commands.build import build as make_html
    from mkdocs.config import load_config

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    for needed in ("results/manifest.json", "results/config.yaml"):
        if not (run / needed).is_file():
            raise InputError(f"{run / needed} does not exist: run `make figures` first")
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder)
        write_pages(pages, Path(run))
        config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=folder, site_dir=str(site))
        make_html(config)
    for path in Path(site).glob("*.html"):
        text = path.read_text(encoding="utf-8")
        text = text.replace(SHIM, "worker.js").replace(SEARCH, f'{SEARCH} aria-label="Search"')
        path.write_text(text, encoding="utf-8")


def write_pages(pages, run):
    """All that MkDocs needs, in a folder: pages, pictures and the files that they link to."""
    for source, name in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        (pages / name).write_text(moved(text, source, pages), encoding="utf-8")
    shutil.copytree(ROOT / PICTURES, pages / "gallery")
    for name in ("site.css", "worker.js"):
        shutil.copy(ROOT / "tools" / name, pages)
    with (pages / "site.css").open("a", encoding="utf-8") as file:
        file.write(nested(table_page.STYLE))
    for name in json.loads((run / "results/manifest.json").read_text(encoding="utf-8"))["sha256"]:
        if name.endswith(SHOWN) and (run / name).is_file():
            copied(run / name, pages / name)
    config = yaml.safe_load((run / "results/config.yaml").read_text(encoding="utf-8"))
    made = {
        "results.md": results_page(Plan(config, ROOT), pages),
        "explorer.md": EXPLORER,
        "claims.md": embedded("The paper's statements, checked", run / "results/claims.html"),
        "datasets.md": embedded("The datasets", run / "results/datasets.html")
        + dataset_figures(run),
        "leaderboard.md": leaderboard(run),
        "api.md": API,
    }
    for name, text in made.items():
        (pages / name).write_text(text, encoding="utf-8")


def copied(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


# ------------------------------------------------------------------ pages of the repository


def moved(text, source, pages):
    """A page with its links changed to where things are on the site."""

    def link(match):
        before, path, anchor = match[1], match[2], match[3] or ""
        target = os.path.normpath(os.path.join(os.path.dirname(source), path))
        return f"{before}{place(target, pages)}{anchor}"

    fence = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
    parts = fence.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def place(target, pages):
    """Where a file of the repository is on the site; what is not a page is copied."""
    if target in PAGES:
        return PAGES[target]
    if target == PICTURES:
        return "results.md"
    if target.startswith(f"{PICTURES}/"):
        return target.removeprefix("docs/")
    if (ROOT / target).is_file():
        copied(ROOT / target, pages / "files" / f"{target}.txt")
        return f"files/{target}.txt"
    return target  # MkDocs will complain


# ------------------------------------------------------------------ pages of the run


def results_page(plan, pages):
    """Every figure with its caption, the tables behind it and the command that makes it."""
    parts = [
        "# Figures\n\nEvery figure of the run, made by `make figures`. The "
        "[explorer](explorer.md) shows the same errors interactively; "
        "[results/errors.csv](results/errors.csv) has their medians and quartiles.\n"
    ]
    for name, figure in catalogue.figures(plan).items():
        picture = pages / "figures" / f"{name}.png"
        if not picture.is_file():
            continue
        tables = ", ".join(
            f"[{path}]({path})" for path in figure.tables.values() if (pages / path).is_file()
        )
        heading = name.replace("-", " ").capitalize()
        # The picture is small enough to be shown whole, and links to itself in full size.
        parts.append(
            f"\n## {heading}\n\n[![{heading}](figures/{name}.png)](figures/{name}.png)\n\n"
            f"{figure.caption}\n\nData: {tables or 'the profiles in data/embedded'}. "
            f"[PDF](figures/{name}.pdf). Command: `snakemake figures/{name}.png --cores 2`.\n"
        )
    return "".join(parts)


EXPLORER = """\
# Explorer

[Open it on a page of its own](results/explorer.html), whose address carries what you choose.

<iframe class="explorer" src="results/explorer.html" title="Errors of each mechanism, to explore"
loading="lazy"></iframe>
"""


def embedded(title, path):
    """A page of tables inside the site."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"<main>\s*<h1>.*?</h1>(.*)</main>\s*(<script>.*?</script>)", text, re.DOTALL)
    # Markdown ends a block of HTML at an empty line.
    inside = re.sub(r"\n\s*\n", "\n", body[1] + body[2])
    return f'# {title}\n\n<div class="table-page">\n{inside}\n</div>\n'


def nested(style):
    """The style of these pages, for what is inside them only; colours are those of the site."""
    inside = re.sub(
        r"(?:@media \(prefers-color-scheme: dark\) \{\s*)?:root \{.*?\}(?:\s*\})?",
        "",
        style,
        flags=re.DOTALL,
    )
    inside = re.sub(r"\bbody \{.*?\}", "", inside, flags=re.DOTALL)
    return f"\n.table-page {{{inside}}}\n"


def dataset_figures(run):
    """A section for each dataset that has a figure of its own."""
    with open(run / "results/datasets.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    parts = ["\n[Data and provenance](data.md) says where the counts come from.\n"]
    for row in rows:
        picture = f"figures/datasets/{row['dataset']}.png"
        if (run / picture).is_file():
            title = html.escape(row["title"])
            parts.append(f"\n## {title}\n\n[![{title}: its errors]({picture})]({picture})\n")
    return "".join(parts)


def leaderboard(run):
    """The ranking of `make field`, or how to get one."""
    path = run / "field/results/leaderboard.html"
    if path.is_file():
        return embedded("Leaderboard", path)
    return (
        "# Leaderboard\n\nThis site was built without it: `make field`, then `make site`, shows "
        "every mechanism in every group. [Choosing](choosing.md) has the answers.\n"
    )


def main(arguments=sys.argv[1:]):
    """Build the site of the run in the working directory."""
    try:
        build(Path(), *map(Path, arguments[:1]))
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
