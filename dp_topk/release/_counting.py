"""From a CSV file to the count of each item, in memory for the counts and not for the rows.

A user counts once for an item, however often the two occur together: that is what makes a user's
contribution to each count at most 1. Pairs seen before have to be recognised for it, and there may
be more of them than memory holds. So they are dealt out by their hash to temporary files, equal
pairs to the same one, and then each file is read and its distinct pairs counted. Pairs are compared
whole; a hash decides only where a pair is kept. The files have no names: what is left of them
when the process ends, or is killed, is nothing.
"""

import contextlib
import csv
import json
from collections import Counter
from itertools import zip_longest
from tempfile import TemporaryFile

from dp_topk.mechanisms._profile import LARGEST_COUNT

PARTS = 128  # temporary files; few enough for every system's limit on open files
HELD = 400_000  # pairs in memory before they are put into the files


class BadInput(ValueError):
    """What is wrong with a file, where, and what to do: one sentence."""


class Domain:
    """Items and their places in the list of counts.

    items: the public list of items; None if every item of the file belongs to the domain.
    """

    def __init__(self, items=None):
        self.open = items is None
        self.places = {item: place for place, item in enumerate(items or ())}

    def __len__(self):
        return len(self.places)

    def __iter__(self):
        return iter(self.places)

    def place(self, item):
        """The place of an item, or None if it does not belong to the domain."""
        if self.open:
            return self.places.setdefault(item, len(self.places))
        return self.places.get(item)


def read_domain(path, column):
    """The items listed in a file, one a line; blank lines do not count.

    column: what the data call the column of items; the list must not begin with that.
    """
    items = {}
    for line in filter(None, lines(path)):
        if line != line.strip():
            raise BadInput(f"{path} lists {line!r}, with blanks around it; take them away.")
        if not items and line == column:
            raise BadInput(
                f"{path} begins with {line!r}, the name of the column; it must list items only."
            )
        if line in items:
            raise BadInput(f"{path} lists {line!r} more than once; list every item once.")
        items[line] = None
    if not items:
        raise BadInput(f"{path} lists no items; it must have one item a line.")
    return Domain(items)


def lines(path):
    with opened(path) as file:
        for line in file:
            yield line.rstrip("\r\n")


def count_users(path, user, item, domain):
    """For each item of the domain, how many users have a row with it."""
    users = Counter(distinct(pairs(path, user, item, domain)))
    return [users[place] for place in range(len(domain))]


def pairs(path, user, item, domain):
    """The place of the item and the user in one text, for each row with an item of the domain."""
    for line, (who, what) in columns(path, user, item):
        if not who:
            raise BadInput(
                f"{path}, line {line}, has no user in column {user!r}; every row needs one, since "
                "somebody who is counted twice for an item has less privacy than promised."
            )
        if (place := place_of(what, domain, path, line, item)) is not None:
            yield f"{place} {who}"


def distinct(pairs):
    """The place of each distinct pair of a place and a user."""
    with contextlib.ExitStack() as stack:
        parts, files, held = [set() for _ in range(PARTS)], [], 0
        for pair in pairs:
            parts[hash(pair) % PARTS].add(pair)
            held += 1
            if held == HELD:
                files = files or [stack.enter_context(TemporaryFile("w+")) for _ in parts]
                for part, file in zip(parts, files, strict=True):
                    file.write(json.dumps(list(part)) + "\n")
                    part.clear()
                held = 0
        for part, file in zip_longest(parts, files, fillvalue=()):
            if file:
                file.seek(0)
            for line in file:
                part.update(json.loads(line))
            for pair in part:
                yield int(pair.partition(" ")[0])
            part.clear()


def read_counts(path, item, count, domain):
    """For each item of the domain, the count that its row has; 0 without a row."""
    counts = {}
    for line, (what, text) in columns(path, item, count):
        if (place := place_of(what, domain, path, line, item)) is None:
            continue
        if place in counts:
            raise BadInput(
                f"{path}, line {line}, has an item that an earlier line has; a count must stand on "
                "one line, since adding up two could count a user twice."
            )
        digits = text.lstrip("0")[:17] or "0"
        if not (text.isascii() and text.isdigit() and int(digits) <= LARGEST_COUNT):
            raise BadInput(
                f"{path}, line {line}, has something else than a count in column {count!r}; "
                "it must be an integer from 0 to 2**53, in plain digits."
            )
        counts[place] = int(digits)
    return [counts.get(place, 0) for place in range(len(domain))]


def place_of(what, domain, path, line, item):
    if domain.open and not what:
        raise BadInput(f"{path}, line {line}, has no item in column {item!r}; every row needs one.")
    return domain.place(what)


def columns(path, *names):
    """The line number and the values of these columns, for each row of a CSV file."""
    with opened(path) as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, [])
            where = [column(path, header, name) for name in names]
            for row in reader:
                if len(row) == len(header):
                    yield reader.line_num, [row[i] for i in where]
                elif row:
                    raise BadInput(
                        f"{path}, line {reader.line_num}, does not have as many values as the "
                        "first line has names; values with commas or line breaks need quotes."
                    )
        except csv.Error as error:
            raise BadInput(
                f"{path}, line {reader.line_num}, cannot be read as CSV: {error}."
            ) from None


def column(path, header, name):
    """Where the column with this name is."""
    if header.count(name) != 1:
        # Without the names that are there: in a file without a header they would be data.
        number = "no column" if name not in header else "more than one column"
        raise BadInput(
            f"{path} has {number} {name!r}; its first line must name every column once, and commas "
            "must separate them."
        )
    return header.index(name)


@contextlib.contextmanager
def opened(path):
    """The file as text, and a sentence where it is not."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not text in UTF-8; convert it, or unpack it, first.") from None
