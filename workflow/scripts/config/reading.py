"""Reading a config: files, what is laid over them, and the texts of the command line.

    python -m workflow.scripts.config.reading mine.yaml

says what is wrong with a file that Snakemake would answer with a traceback.
"""

import contextlib
from pathlib import Path

import yaml

from workflow.scripts.common import InputError, program
from workflow.scripts.config import say


def read_config(default, given, settings=None, files=()):
    """What `check` needs to know: the config in the file `default` with `given` laid over it.

    given:     the config that Snakemake, or a workflow that uses this one, has put together.
    settings:  what the command line said (`workflow.config_settings`), if it is about this config.
    files:     the files from which `given` was read, if that is known.
    """
    parts = {str(path): read_yaml(path) for path in (default, *files)}
    config = {} if settings and settings.replace_workflow_config else parts[str(default)]
    config, named = merged(config, given), {}
    for path, part in parts.items():
        datasets = part.get("datasets")
        for name, dataset in datasets.items() if isinstance(datasets, dict) else ():
            if isinstance(dataset, dict) and "file" in dataset:
                named.setdefault(name, []).append((path, dataset["file"]))
    if settings:
        # Snakemake leaves everything inside lists and mappings of the command line as text.
        config = merged(config, settings.overwrite_config)
        config = merged(config, plain(dict(settings.config or {}), typed))
    return {"config": config, "named": named}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses a key that stands twice in a mapping; YAML would take the last one."""

    def construct_mapping(self, node, deep=False):
        lines = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value in lines:
                raise InputError(
                    f"{self.path}, line {line}: {say.clipped(key.value)} is already in "
                    f"line {lines[key.value]}; keep one of them"
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
        beside = [each.name for each in Path(path).parent.glob("*.y*ml")]
        hint = say.did_you_mean(Path(path).name, beside)
        raise InputError(f"there is no config file {path}{hint}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it has a character that YAML does not allow"
        raise InputError(f"{path}{line}: not YAML: {problem}") from None
    if not isinstance(value, dict):
        raise InputError(
            f"{path} holds {say.shown(value)}; it must hold keys and values, `ks: [5, 10]`"
        )
    return value


def plain(value, read=None, path=()):
    """Copy nested mappings and lists to plain dicts and lists; every key must be text.

    read: what to make of a text.
    """
    if len(path) > 10:  # The schema ends at 4; a YAML alias inside itself never ends.
        raise InputError(
            f"{say.dotted(path[:3])} is nested too deeply; nothing here goes that deep"
        )
    if isinstance(value, list):
        return [plain(item, read, (*path, position)) for position, item in enumerate(value)]
    if isinstance(value, str) and read:
        return read(value)
    if isinstance(value, int) and abs(value) >= say.HUGE:
        raise InputError(f"{say.dotted(path)} has {say.shown(value)}; nothing here is that large")
    if not isinstance(value, dict):
        return value
    for key in value:
        if not isinstance(key, str):
            where = say.dotted(path) or "the config"
            raise InputError(f"{where} has the key {say.shown(key)}, not text; put it in quotes")
    return {key: plain(inner, read, (*path, key)) for key, inner in value.items()}


def typed(text):
    """What a text of the command line means."""
    words = {"": None, "~": None, "null": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        with contextlib.suppress(ValueError):
            return number(text)
    return text


def merged(config, changes):
    """`config` with `changes` laid over it: mappings merge, anything else is replaced."""
    if not (isinstance(config, dict) and isinstance(changes, dict)):
        return changes
    return config | {key: merged(config.get(key), value) for key, value in changes.items()}


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


def main(*paths):
    """Read config files."""
    for path in paths:
        read_yaml(path)


if __name__ == "__main__":
    program(main)
