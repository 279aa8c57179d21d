"""The public list of items, and what must not be taken for one."""

import contextlib
import csv
import functools
import glob
import os
import stat
from collections.abc import Iterator, Sequence

from dp_topk._tables import DELIMITERS, CountingError, File, unpacked


def read_domain(path: str, inputs: Sequence[str], columns: set[str]) -> list[str]:
    """The items of a public list, one a line; blank lines do not count.

    A list that is the input, or looks like rows of it, is refused: people would be published as
    items. Errors name lines and never what they hold.

    inputs: files, folders and patterns of the input, or - for standard input.
    columns: the names of those columns of the input that are read.
    """
    files = list(files_of(inputs))
    for name in files:
        with contextlib.suppress(OSError):
            if os.path.samefile(path, name):
                raise ValueError(
                    f"--domain names the input itself, {path}, whose rows would become items; it "
                    "must be a public list, one item a line"
                )
    if stat.S_ISCHR(os.stat(path).st_mode):  # /dev/zero, say, whose first line never ends
        raise ValueError(f"{path} is a device; --domain must be a file, one item a line")
    lines: dict[str, int] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            for number, line in enumerate(file, 1):
                item = line.rstrip("\r\n")
                if item != item.strip():
                    raise ValueError(f"{path}, line {number}, has blanks around it; delete them")
                if lines.setdefault(item, number) != number and item:
                    raise ValueError(
                        f"{path}, line {number}, repeats line {lines[item]}; list every item once"
                    )
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8; convert it, or unpack it, first") from None
    items = [item for item in lines if item]
    if not items:
        raise ValueError(f"{path} lists no items; it must have one item a line")
    refuse_rows(path, items, files, columns)
    return items


def refuse_rows(path: str, items: list[str], files: list[str], columns: set[str]) -> None:
    """Refuse a list that looks like rows of the input.

    Only the header of the input is looked at: whether a list is refused must not depend on the
    data.
    """
    for delimiter in DELIMITERS:
        cells = fields(items[0], delimiter)
        if columns <= {*cells} or (len(cells) == 1 and cells[0] in columns):
            raise ValueError(
                f"{path} begins with names of the input's columns, so its lines are rows; it must "
                "list items only"
            )
    for header in map(first_line, filter(os.path.isfile, files)):  # a pipe can be read only once
        for delimiter in DELIMITERS:
            cells = fields(header, delimiter)
            if columns <= {*cells}:
                rows = [row for item in items if len(row := fields(item, delimiter)) == len(cells)]
                # As a row has, and prose has not: no blanks beside the delimiters.
                alike = sum(all(cell == cell.strip() for cell in row) for row in rows)
                if 2 * alike >= len(items):
                    raise ValueError(
                        f"{path} looks like rows of the input: {alike} of its {len(items)} lines "
                        f"have {len(cells)} fields, as the input has columns; it must list items "
                        "only, and if these are items, give the input another delimiter"
                    )


def first_line(name: str) -> str:
    """The first line of a file, which may be compressed; empty where it cannot be read."""
    with (
        contextlib.suppress(CountingError, OSError, UnicodeDecodeError),
        unpacked(File(name, functools.partial(open, name, "rb"))) as content,
    ):
        return content.readline(1 << 20).decode("utf-8-sig").rstrip("\r\n")
    return ""


def files_of(inputs: Sequence[str]) -> Iterator[str]:
    """All files of the input, including those in a folder or of a pattern."""
    for name in inputs:
        yield "/dev/stdin" if name == "-" else name
        if os.path.isdir(name):
            yield from (entry.path for entry in os.scandir(name))
        elif not os.path.exists(name):
            yield from glob.iglob(name)


def fields(line: str, delimiter: str) -> list[str]:
    with contextlib.suppress(csv.Error):  # a field of more than 131,072 characters
        return next(csv.reader([line], delimiter=delimiter), [""])
    return [line]
