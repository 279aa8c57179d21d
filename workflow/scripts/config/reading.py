"""Reading a config: plain values, what the command line gave, and words for all of it."""

import difflib
import re

from workflow.scripts.common import InputError

HUGE = 10**20  # Python itself refuses to print integers of some thousand digits.


def plain(value, path=()):
    """Copy nested mappings and lists to plain dicts and lists; every key must be text."""
    if len(path) > 10:  # The schema ends at 4; a YAML alias inside itself never ends.
        raise InputError(f"{dotted(path[:3])} is nested too deeply; nothing here goes that deep")
    if isinstance(value, list):
        return [plain(item, (*path, position)) for position, item in enumerate(value)]
    if isinstance(value, int) and abs(value) >= HUGE:
        raise InputError(f"{dotted(path)} has {shown(value)}; nothing here is that large")
    if not isinstance(value, dict):
        return value
    for key in value:
        if not isinstance(key, str):
            where = dotted(path) or "the config"
            raise InputError(f"{where} has the key {shown(key)}, not a text; put it in quotes")
    return {key: plain(inner, (*path, key)) for key, inner in value.items()}


def merged(config, changes):
    """`config` with `changes` laid over it: mappings merge, anything else is replaced."""
    if not (isinstance(config, dict) and isinstance(changes, dict)):
        return changes
    return config | {key: merged(config.get(key), value) for key, value in changes.items()}


def typed(value):
    """Read what the texts of the command line stand for."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    if not isinstance(value, str):
        return value
    words = {"": None, "~": None, "null": None, "true": True, "false": False}
    if value.lower() in words:
        return words[value.lower()]
    for number in (int, float):
        try:
            return number(value)
        except ValueError:
            pass
    return value


def pop_nulls(parent, key):
    """Remove the nulls of the mapping `parent[key]` at any depth; return its own null keys."""

    def without_nulls(value):
        if not isinstance(value, dict):
            return value
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}

    mapping = parent.get(key) if isinstance(parent, dict) else None
    if not isinstance(mapping, dict):
        return []
    parent[key] = without_nulls(mapping)
    return [name for name, value in mapping.items() if value is None]


# ------------------------------------------------------------------ words


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
    if isinstance(value, int | float):
        return str(value)
    return f"a {type(value).__name__}"


def listed(names):
    """a, b and c; only the first few of very many."""
    names, shown = [clipped(name) for name in names], []
    while names and len(", ".join([*shown, names[0]])) < 150:
        shown.append(names.pop(0))
    if names:
        return f"{', '.join(shown)} and {len(names)} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def did_you_mean(name, names, cutoff=0.6):
    nearest = difflib.get_close_matches(name[:100], sorted(names), n=1, cutoff=cutoff)
    return f" (did you mean {clipped(nearest[0])}?)" if nearest else ""
