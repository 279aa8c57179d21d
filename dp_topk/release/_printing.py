"""What is published, as text: lines, CSV or JSON that read back the same and obey nobody."""

import json
import os
import re
import sys
from typing import Any

from ._files import UNSAFE, NewFile, escaped


def formatted(
    rows: list[Any], form: str, *, ranks: bool, counts: bool, terminal: bool = False
) -> bytes:
    """The output as it is written, and as its digest is taken.

    rows: (item,) or (item, count, low, high) for each place.
    """
    if form == "lines":
        return "".join(f"{quoted(i) if UNSAFE.search(i) else i}\n" for (i, *_) in rows).encode()
    names = ["rank"] * ranks + ["item"] + ["count", "low", "high"] * counts
    table = [[place] * ranks + list(row) for place, row in enumerate(rows, 1)]
    if form == "json":
        objects = [quoted(dict(zip(names, row, strict=True))) for row in table]
        text = "[" + ",".join(f"\n  {line}" for line in objects) + "\n" * bool(objects) + "]\n"
    else:
        lines = [",".join(cell(value, terminal) for value in row) for row in [names, *table]]
        text = "".join(f"{line}\n" for line in lines)
    return text.encode()


def quoted(value: object) -> str:
    """As JSON, in which nothing can pass for something else."""
    text = json.dumps(value, ensure_ascii=False)
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def cell(value: object, terminal: bool) -> str:
    """A field of CSV that every reader understands alike; on a terminal it is shown, not obeyed."""
    text = escaped(str(value)) if terminal else str(value)
    if re.search(r'[",]|^\s|\s$', text) or UNSAFE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def put_out(output: bytes, receipt: NewFile | None = None) -> None:
    """Print the output; the receipt stays from the moment that anybody may have seen a part."""
    descriptor, written = sys.stdout.fileno(), 0
    try:
        sys.stdout.flush()
        while written < len(output):
            written += os.write(descriptor, output[written:])
            if receipt:
                receipt.keep()
    except OSError as error:
        seen = "not all of it; epsilon is spent" if written else "nothing of it was"
        raise ValueError(f"the output cannot be written ({error.strerror}), {seen}") from None
