"""Programs outside the pipeline: pages, pictures and packages made of what a run left."""

from pathlib import Path

ROOT = Path(__file__).parents[1]


def table(heads, rows, texts=(0,)):
    """Lines of a table in Markdown; columns are numbers, except those listed in `texts`."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---' if i in texts else '--:' for i in range(len(heads)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def show(heads, rows, texts=(0,)):
    """Print a table, each line as soon as it is known."""
    for line in table(heads, rows, texts):
        print(line, flush=True)
