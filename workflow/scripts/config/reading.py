"""Reading a config: plain values, with what the command line gave laid over them."""

from workflow.scripts.common import InputError
from workflow.scripts.config.words import HUGE, dotted, shown


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
