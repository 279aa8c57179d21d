"""Write measured numbers into the pages: `make numbers`, or `python -m tools.numbers [WORD ...]`.

A page holds a table between two markers, and the first names the command that prints it:

    <!-- numbers: python -m benchmarks.release (9f2b6c01) -->
    | what | milliseconds |
    ...
    <!-- end of numbers -->

Each command is run once and its output put between the markers, with the first digits of its
sha256. If a table is edited by hand, the digest no longer fits, and a test fails. With words,
only commands that contain one of them are run.
"""

import functools
import hashlib
import re
import shlex
import subprocess
import sys

from tools import ROOT
from workflow.scripts.common import program, written

BLOCK = re.compile(
    r"<!-- numbers: (?P<command>.+?)(?: \([0-9a-f]*\))? -->\n(?P<table>.*?)<!-- end of numbers -->",
    re.DOTALL,
)


def pages():
    """The pages that may hold numbers."""
    return [ROOT / "README.md", ROOT / "data/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def renewed(text, output):
    """The page with new tables; output(command) is what a command prints, or None to leave it."""

    def block(match):
        printed = output(match["command"])
        if printed is None:
            return match[0]
        table = f"\n{printed.strip()}\n\n"
        digest = hashlib.sha256(table.encode()).hexdigest()[:8]
        return f"<!-- numbers: {match['command']} ({digest}) -->\n{table}<!-- end of numbers -->"

    return BLOCK.sub(block, text)


def main(*words):
    """Renew the tables of all pages whose commands contain one of the words, if there are any."""

    @functools.cache
    def output(command):
        if words and not any(word in command for word in words):
            return None
        print(command, file=sys.stderr, flush=True)
        call = [sys.executable if word == "python" else word for word in shlex.split(command)]
        return subprocess.run(call, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout

    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := renewed(text, output)) != text:
            with written(page) as file:
                file.write(new)


if __name__ == "__main__":
    program(main)
