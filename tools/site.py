"""Build the site from the pages of this project and what the last run left: `make site`.

The pages of the repository and of tools/pages become pages of the site; figures, explorer, claims
and datasets are those of the run in the working directory, and the leaderboard that of `make
field`, if it was run. MkDocs makes HTML of it, without a network, and fails on a broken link.
"""

import html
import json
import logging
import os
import re
import shutil
import tempfile
from pathlib import Path

from mkdocs.commands.build import build as make_html
from mkdocs.config import load_config

from dp_topk import mechanisms
from tools import ROOT
from workflow.scripts.claims.pages import TITLE
from workflow.scripts.common import made, program, read_digests
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_yaml
from workflow.scripts.figures import catalogue
from workflow.scripts.results.page import TABLES
from workflow.scripts.results.verify import PUBLISHED

OWN = ROOT / "tools/pages"

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


def build(run=Path(), site=ROOT / "site"):
    """Make the site of the run in a folder."""
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
    """Put all that MkDocs needs into a folder: pages, pictures and the files that they link to."""
    manifest = json.loads(copied(run, "results/manifest.json", pages).read_text(encoding="utf-8"))
    plan = Plan(read_yaml(copied(run, "results/config.yaml", pages)), ROOT)
    for name in manifest["sha256"]:
        if name.endswith(SHOWN):
            copied(run, name, pages)
    shutil.copytree(OWN, pages, dirs_exist_ok=True)
    shutil.copytree(ROOT / PICTURES, pages / "gallery")
    with open(pages / "site.css", "a", encoding="utf-8") as style:
        style.write(f".table-page {{{TABLES}}}\n")
    of_run = {
        "results.md": figures_page(plan, run, pages),
        "explorer.md": (OWN / "explorer.md").read_text(encoding="utf-8"),
        "claims.md": table_page(TITLE, run / "results/claims.html"),
        "datasets.md": table_page("The datasets", run / "results/datasets.html")
        + "\n[Data and provenance](data.md) says where the counts come from.\n",
    }
    texts = {name: repository_page(source, pages) for source, name in PAGES.items()} | of_run
    for name in ("index.md", *of_run):
        texts[name] = re.sub("(?m)^(?=# )", lambda _: label(plan), texts[name], count=1)
    samplers = (
        f"\n## {mechanisms.get(name).label}: `{name}`\n\n::: dp_topk.mechanisms.{name}\n"
        "    options: {members: [], show_root_heading: false, show_root_toc_entry: false}\n"
        for name in mechanisms.names()
    )
    texts["samplers.md"] = "# Samplers\n" + "".join(samplers)
    texts["leaderboard.md"] = leaderboard(run, pages)
    for name, text in texts.items():
        (pages / name).write_text(text, encoding="utf-8")


def copied(folder, name, target):
    """The copy of a file, under the same name in another folder."""
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(made(folder / name), target / name))


def label(plan):
    """What the pages of a run say if it is not the published one, the subject of the others."""
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


def repository_page(source, pages):
    """A page with its links changed to where things are on the site; other files are copied."""

    def link(match):
        before, path, anchor = match[1], match[2], match[3] or ""
        target = os.path.normpath(os.path.join(os.path.dirname(source), path))
        place = PAGES.get(target, target)  # if it is nowhere, MkDocs will complain
        if target == PICTURES:
            place = "results.md"
        elif target.startswith(PICTURES):
            place = target.removeprefix("docs/")
        elif target not in PAGES and (ROOT / target).is_file():
            place = f"files/{target}.txt"
            copied(ROOT, target, pages / "files").rename(pages / place)
        return f"{before}{place}{anchor}"

    text = (ROOT / source).read_text(encoding="utf-8")
    parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


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
            copied(run, path, pages)
        # The picture is small enough to be shown whole, and links to itself in full size.
        parts.append(
            f"\n## {heading}\n\n[![{heading}](figures/{name}.png)](figures/{name}.png)\n\n"
            f"{figure.caption}\n\nData: {', '.join(f'[{path}]({path})' for path in tables)}. "
            f"[PDF](figures/{name}.pdf). Command: `snakemake figures/{name}.png --cores 2`.\n"
        )
    return "".join(parts)


def table_page(title, path):
    """A page of tables inside the site, without a table of contents beside it."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"<main>\s*<h1>.*?</h1>(.*)</main>\s*(<script>.*?</script>)", text, re.DOTALL)
    # Markdown ends a block of HTML at an empty line; the theme scrolls tables without a class.
    inside = re.sub(r"\n\s*\n", "\n", body[1] + body[2]).replace("<table", '<table class="rows"')
    return f'---\nhide: [toc]\n---\n\n# {title}\n\n<div class="table-page">\n{inside}\n</div>\n'


def leaderboard(run, pages):
    """The ranking of `make field`, or the published one."""
    table = "field/results/leaderboard.csv"
    if (run / table).is_file():
        copied(run, table, pages)
        page = table_page("Leaderboard", (run / table).with_suffix(".html"))
        return f"{page}\nData: [{table}]({table}). [Choosing](choosing.md) has the answers.\n"
    choosing = repository_page("docs/choosing.md", pages)
    answers = re.search(r"## Where the answers come from\n.*?(?=\n## )", choosing, re.DOTALL)
    own = (OWN / "leaderboard.md").read_text(encoding="utf-8")
    return own + answers[0].replace("](#", "](choosing.md#")


if __name__ == "__main__":
    program(build)
