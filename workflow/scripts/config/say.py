"""Parts of a config in words: what sentences about mistakes are made of."""

import difflib
import itertools
import re

from workflow.scripts import common

HUGE = 10**20  # Python itself refuses to print integers of some thousand digits.


def dotted(path):
    """datasets.books.counts; the position in a list is left out."""
    return ".".join(clipped(key) for key in path if isinstance(key, str))


def clipped(key):
    return key if re.fullmatch(r"[\w .,-]{1,50}", key) else quoted(key)


def quoted(text, length=50):
    quoted = repr(text[: length + 1])
    return quoted if len(quoted) <= length + 2 else f"{quoted[: length - 3]}...{quoted[0]}"


def shown(value):
    """A value of any kind in a few words."""
    if value is None:
        return "null (empty)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, dict | list):
        return f"{'a' if value else 'an empty'} {'list' if isinstance(value, list) else 'mapping'}"
    if isinstance(value, int) and abs(value) >= HUGE:
        return "a huge number"
    return str(value) if isinstance(value, int | float) else f"a {type(value).__name__}"


def listed(names):
    """a, b and c; only the first few of very many."""
    names = [clipped(name) for name in names]
    ends = itertools.accumulate(len(name) + len(", ") for name in names)
    few = sum(end < 150 for end in ends)
    more = [f"{len(names) - few} more"] if names[few:] else []
    return common.listed([*names[:few], *more] or ["none"])


def did_you_mean(name, names, cutoff=0.6):
    nearest = difflib.get_close_matches(name[:100], sorted(names), n=1, cutoff=cutoff)
    return f" (did you mean {clipped(nearest[0])}?)" if nearest else ""
