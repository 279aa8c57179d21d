"""Reading a config: plain values, what was laid over them, and words for all of it.

    python -m workflow.scripts.config.reading mine.yaml

says what is wrong with a file that Snakemake would answer with a traceback.
"""

import difflib
import re
import sys
from pathlib import Path

import yaml

from workflow.scripts.common import InputError

HUGE = 10**20  # Python itself refuses to print integers of some thousand digits.


def read_config(default, given, settings=None, files=()):
    """What `check` needs to know: the config in the file `default` with `given` laid over it.

    given:     the config that Snakemake, or a workflow that uses this one, has put together.
    settings:  what the command line said (`workflow.config_settings`), if it is about this config.
    files:     the files from which `given` was read, if that is known.
    """
    own, read = read_yaml(default), {str(path): read_yaml(path) for path in files}
    config = {} if settings and settings.replace_workflow_config else own
    config = merged(config, plain(given))
    named = {}
    for path, part in {str(default): own, **read}.items():
        for name, dataset in (part.get("datasets") or {}).items():
            if isinstance(dataset, dict) and "file" in dataset:
                named.setdefault(name, []).append((path, dataset["file"]))
    if settings:
        config = merged(config, plain(settings.overwrite_config))
    return {"config": config, "command_line": settings and settings.config, "named": named}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A key that stands twice in a mapping is a mistake; YAML would take the last one."""

    def construct_mapping(self, node, deep=False):
        lines = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value in lines:
                raise InputError(
                    f"{self.path}, line {line}: {clipped(key.value)} stands in line "
                    f"{lines[key.value]} already; keep one of them"
                )
            lines[str(key.value)] = line
        return super().construct_mapping(node, deep)


def read_yaml(path):
    """The mapping in a YAML file; what is wrong with the file is said with its line."""
    try:
        data = Path(path).read_bytes()
        loader = _Loader(data.decode("utf-8-sig"))
        loader.path = path
        value = loader.get_single_data()
    except FileNotFoundError:
        there = [each.name for each in Path(path).parent.glob("*.y*ml")]
        hint = did_you_mean(Path(path).name, there)
        raise InputError(f"there is no config file {path}{hint}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: this is not UTF-8; save the file as UTF-8"
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it has a character that YAML does not allow"
        raise InputError(f"{path}{line}: this is not YAML: {problem}") from None
    if not isinstance(value, dict):
        raise InputError(
            f"{path} holds {shown(value)}; it must hold keys and values, `ks: [5, 10]`"
        )
    return value


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


if __name__ == "__main__":
    try:
        for name in sys.argv[1:]:
            read_yaml(name)
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
