"""Build the site from the pages of this project and what the last run left: `make site`.

The pages of the repository become pages of the site; figures, explorer, claims and datasets are
those of the run in the working directory, and the leaderboard that of `make field`, if it was run.
MkDocs makes HTML of it, without a network, and fails on a broken link.
"""

import html
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_yaml
from workflow.scripts.figures import catalogue
from workflow.scripts.results.manifest import read_digests
from workflow.scripts.results.page import TABLES
from workflow.scripts.results.verify import PUBLISHED

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
WIDE = "---\nhide: [toc]\n---\n\n"  # a page without a table of contents beside it

API = """\
# Python API

`pip install .` installs the library; it needs NumPy only. Counting rows needs DuckDB as well
(`pip install ".[count]"`).

## Mechanisms

[Samplers](samplers.md) has what each mechanism says of itself.

::: dp_topk
    options: {members: [get, names, Mechanism, Profile, Unavailable]}

## Releases

::: dp_topk.release

## Counting

::: dp_topk.counting
    options: {members: [count_users, read_counts, query, Counts, CountingError]}
"""
EXPLORER = """\
# Explorer

<iframe class="explorer" src="results/explorer.html" title="Errors of each mechanism, to explore"
></iframe>
<script>
const frame = document.querySelector("iframe.explorer");
const tell = () =>
  frame.contentWindow.postMessage(getComputedStyle(document.body).colorScheme, "*");
frame.addEventListener("load", tell);
new MutationObserver(tell).observe(document.body, {attributeFilter: ["data-md-color-scheme"]});
</script>
"""
NO_FIELD = """\
# Leaderboard

`make field`, then `make site`, shows the rank of every mechanism here, for every dataset and
metric, on your machine and, with `CONFIG=mine.yaml`, on your data. These are the published answers;
[choosing](choosing.md) has the rest.

"""


def build(run=Path(), site=ROOT / "site"):
    """Make the site of the run in a folder."""
    from mkdocs.commands.build import build as make_html
    from mkdocs.config import load_config

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        write_pages(Path(folder), run)
        make_html(load_config(str(ROOT / "mkdocs.yml"), docs_dir=folder, site_dir=str(site)))
    (site / "404.html").unlink()  # it would work at the root of a server only
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        text = text.replace(SHIM, "worker.js").replace(SEARCH, f'{SEARCH} aria-label="Search"')
        path.write_text(text, encoding="utf-8")


def write_pages(pages, run):
    """All that MkDocs needs, in a folder: pages, pictures and the files that they link to."""
    for name in ("results/manifest.json", "results/config.yaml"):
        copied(run / name, pages / name)
    plan = Plan(read_yaml(run / "results/config.yaml"), ROOT)
    shutil.copytree(ROOT / PICTURES, pages / "gallery")
    shutil.copy(ROOT / "tools/worker.js", pages)
    style = (ROOT / "tools/site.css").read_text(encoding="utf-8")
    (pages / "site.css").write_text(f"{style}.table-page {{{TABLES}}}\n", encoding="utf-8")
    for name in json.loads((run / "results/manifest.json").read_text(encoding="utf-8"))["sha256"]:
        if name.endswith(SHOWN):
            copied(run / name, pages / name)
    of_run = {
        "results.md": figures_page(plan, run, pages),
        "explorer.md": WIDE + EXPLORER,
        "claims.md": table_page("The paper's statements, checked", run / "results/claims.html"),
        "datasets.md": table_page("The datasets", run / "results/datasets.html")
        + "\n[Data and provenance](data.md) says where the counts come from.\n",
    }
    texts = {name: repository_page(source, pages) for source, name in PAGES.items()} | of_run
    for name in ("index.md", *of_run):
        texts[name] = re.sub("(?m)^(?=# )", lambda _: label(plan), texts[name], count=1)
    texts |= {"leaderboard.md": leaderboard(run, pages), "api.md": API, "samplers.md": samplers()}
    for name, text in texts.items():
        (pages / name).write_text(text, encoding="utf-8")


def copied(source, target):
    if not source.is_file():
        raise InputError(f"{source} does not exist: run `make figures` first")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def label(plan):
    """What the pages of a run say if it is not the published one, of which the others speak."""
    if plan.digest() == read_digests(ROOT / PUBLISHED)["config"]:
        return ""
    titles = html.escape(", ".join(catalogue.titles(plan, plan.dataset_names).values()))
    return (
        "> **Not the paper's results.** Figures, explorer, claims and datasets of this site show "
        f"{', '.join(plan.labels(*plan['mechanisms']).values())} on {titles}; ε = "
        f"{', '.join(plan.epsilon_texts)}; {plan['trials']} trials. The other pages have the "
        "published numbers. To repeat this run, add `--configfile results/config.yaml` to the "
        "commands.\n\n"
    )


# ------------------------------------------------------------------ pages of the repository


def repository_page(source, pages):
    """A page with its links changed to where things are on the site."""

    def link(match):
        before, path, anchor = match[1], match[2], match[3] or ""
        target = os.path.normpath(os.path.join(os.path.dirname(source), path))
        return f"{before}{place(target, pages)}{anchor}"

    text = (ROOT / source).read_text(encoding="utf-8")
    parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
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


def samplers():
    """What the module of each mechanism says of it."""
    sections = (
        f"\n## {mechanisms.get(name).label}: `{name}`\n\n::: dp_topk.mechanisms.{name}\n"
        "    options: {members: [], show_root_heading: false, show_root_toc_entry: false}\n"
        for name in mechanisms.names()
    )
    return "# Samplers\n" + "".join(sections)


# ------------------------------------------------------------------ pages of the run


def figures_page(plan, run, pages):
    """Every figure with its caption, the tables behind it and the command that makes it."""
    parts = [
        "# Figures\n\nEvery figure of the run, made by `make figures`. The "
        "[explorer](explorer.md) shows the same errors interactively; "
        "[results/errors.csv](results/errors.csv) has their medians and quartiles.\n"
    ]
    titles = catalogue.titles(plan, plan.dataset_names)
    for name, figure in catalogue.figures(plan).items():
        words = re.sub(r"^(figure-\d+).*", r"\1", name).replace("-", " ").capitalize()
        heading = html.escape(titles.get(name.removeprefix("datasets/"), words))
        tables = [path for path in figure.tables.values() if path.startswith("results/")]
        for path in tables:
            copied(run / path, pages / path)
        # The picture is small enough to be shown whole, and links to itself in full size.
        parts.append(
            f"\n## {heading}\n\n[![{heading}](figures/{name}.png)](figures/{name}.png)\n\n"
            f"{figure.caption}\n\nData: {', '.join(f'[{path}]({path})' for path in tables)}. "
            f"[PDF](figures/{name}.pdf). Command: `snakemake figures/{name}.png --cores 2`.\n"
        )
    return "".join(parts)


def table_page(title, path):
    """A page of tables inside the site."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"<main>\s*<h1>.*?</h1>(.*)</main>\s*(<script>.*?</script>)", text, re.DOTALL)
    # Markdown ends a block of HTML at an empty line; the theme scrolls tables without a class.
    inside = re.sub(r"\n\s*\n", "\n", body[1] + body[2]).replace("<table", '<table class="rows"')
    return f'{WIDE}# {title}\n\n<div class="table-page">\n{inside}\n</div>\n'


def leaderboard(run, pages):
    """The ranking of `make field`, or the published one."""
    table = "field/results/leaderboard.csv"
    if (run / table).is_file():
        copied(run / table, pages / table)
        page = table_page("Leaderboard", (run / table).with_suffix(".html"))
        return f"{page}\nData: [{table}]({table}). [Choosing](choosing.md) has the answers.\n"
    answers = re.search(
        r"## Where the answers come from\n.*?(?=\n## )",
        repository_page("docs/choosing.md", pages),
        re.DOTALL,
    )
    return NO_FIELD + answers[0].replace("](#", "](choosing.md#")


if __name__ == "__main__":
    try:
        build()
    except InputError as error:
        sys.exit(f"error: {error}")
