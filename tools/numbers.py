"""Write measured numbers into the pages: `make numbers`, or `python -m tools.numbers [WORD ...]`.

A page holds a table between two markers, and the first names the command that prints it:

    <!-- numbers: python -m benchmarks.release (9f2b6c01) -->
    | what | milliseconds |
    ...
    <!-- end of numbers -->

Each command is run once and its output put between the markers, with the first digits of its
sha256. A table that was edited by hand no longer has that digest, and a test fails. With words,
only the commands that contain one of them are run. `python -m tools.numbers --check` runs nothing
and names the tables that differ.
"""

import hashlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

from workflow.scripts.common import written

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "data/README.md", "docs")
BLOCK = re.compile(
    r"<!-- numbers: (?P<command>.+?)(?: \((?P<digest>[0-9a-f]*)\))? -->\n"
    r"(?P<table>.*?)<!-- end of numbers -->",
    re.DOTALL,
)


def pages(root=ROOT):
    """The pages that may hold numbers."""
    return [
        page
        for name in PAGES
        for page in (
            sorted((root / name).glob("*.md")) if (root / name).is_dir() else [root / name]
        )
    ]


def edited(text):
    """The commands whose tables are not what the commands printed."""
    return [
        block["command"]
        for block in BLOCK.finditer(text)
        if _digest(block["table"]) != block["digest"]
    ]


def renewed(text, output):
    """The page with new tables; output(command) is what a command prints, or None to leave it."""

    def block(match):
        table = output(match["command"])
        if table is None:
            return match[0]
        table = f"\n{table.strip()}\n\n"
        head = f"<!-- numbers: {match['command']} ({_digest(table)}) -->"
        return f"{head}\n{table}<!-- end of numbers -->"

    return BLOCK.sub(block, text)


def _digest(table):
    return hashlib.sha256(table.encode()).hexdigest()[:8]


class Commands:
    """Runs each command once, in the project's folder, with this Python."""

    def __init__(self, words):
        self._words, self._printed = words, {}

    def __call__(self, command):
        if self._words and not any(word in command for word in self._words):
            return None
        if command not in self._printed:
            print(command, file=sys.stderr, flush=True)
            arguments = [sys.executable if a == "python" else a for a in shlex.split(command)]
            done = subprocess.run(
                arguments, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True
            )
            self._printed[command] = done.stdout
        return self._printed[command]


def main(*words):
    """Renew the tables of all pages, or check them."""
    if words == ("--check",):
        found = [f"{page}: {command}" for page in pages() for command in edited(_read(page))]
        sys.exit("\n".join(f"edited by hand: {line}" for line in found) or 0)
    output = Commands(words)
    for page in pages():
        text = _read(page)
        if (new := renewed(text, output)) != text:
            with written(page) as file:
                file.write(new)


def _read(page):
    return page.read_text(encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
