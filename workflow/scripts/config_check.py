"""Check a config before anything runs: a complete plan, or one sentence about what to change.

The schema (workflow/schemas/config.schema.yaml) says what each key may hold; this module turns
its verdict into a sentence and checks what a schema cannot say.
"""

import difflib
import math
import os
import re
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, validators

from workflow.scripts.common import InputError

SCHEMA = Path(__file__).parents[1] / "schemas" / "config.schema.yaml"
DERIVATIONS = ("column", "rows_per", "profile")
NEEDED_BY_SOURCE = {"embedded": (), "download": ("download", "counts"), "file": ("file", "counts")}
MOST_JOBS = 1_000_000
DEFAULT_MAX_BYTES = 1_000_000_000
HUGE = 10**20  # Python itself refuses to print integers of some thousand digits.


def check(config, mechanism_names, embedded_dir, command_line=None):
    """Return `config` as a plain dict with every default filled in, or raise InputError.

    mechanism_names: the mechanisms that there are.
    embedded_dir:    the folder of the embedded profiles.
    command_line:    what `--config` gave, as in `workflow.config_settings.config`. Snakemake has
                     merged it into `config` already, but leaves everything inside its lists and
                     mappings as text; numbers, null, true and false are read from it here.

    The plan differs from the config in this: nulls are gone, each dataset has `source`, `status`
    and its other defaults, epsilons are floats, timing lists each k instead of saying `all`, and
    figures name only datasets that are there. Checking a plan gives the same plan.
    """
    config = _plain(config)
    if command_line:
        config = _merged(config, _typed(_plain(command_line)))
    if not isinstance(config, dict):
        raise InputError(f"the config is {_shown(config)}; it must be a mapping of keys to values")

    left_out = _pop_nulls(config, "datasets")
    untimed = _pop_nulls(config.get("timing"), "mechanisms")
    _check_structure(config)
    _check_mechanisms(config, untimed, mechanism_names)
    _check_uses_of_datasets(config, left_out)
    _check_scaling(config["scaling"])

    plan = _filled(config)
    _check_epsilon_figure(plan)
    for name, dataset in plan["datasets"].items():
        _check_dataset(name, dataset, embedded_dir)
    _check_left_out(left_out, plan["datasets"], embedded_dir)
    _check_k_at_most_d(plan, embedded_dir)
    _check_jobs(plan)
    return plan


def epsilon_text(epsilon):
    """The shortest text that reads back as the same number, fit for file names: 1, 0.5, 1e-06."""
    return repr(float(epsilon)).removesuffix(".0").replace("e+", "e")


# ------------------------------------------------------------------ reading


def _plain(value, path=()):
    """Copy nested mappings and lists to plain dicts and lists; every key must be text."""
    if len(path) > 10:  # The schema ends at 4; a YAML alias inside itself never ends.
        raise InputError(f"{_dotted(path[:3])} is nested too deeply; nothing here goes that deep")
    if isinstance(value, list):
        return [_plain(item, (*path, position)) for position, item in enumerate(value)]
    if isinstance(value, int) and abs(value) >= HUGE:
        raise InputError(f"{_dotted(path)} has {_shown(value)}; nothing here is that large")
    if not isinstance(value, dict):
        return value
    for key in value:
        if not isinstance(key, str):
            where = _dotted(path) or "the config"
            raise InputError(f"{where} has the key {_shown(key)}, not a text; put it in quotes")
    return {key: _plain(inner, (*path, key)) for key, inner in value.items()}


def _merged(config, changes):
    """`config` with `changes` laid over it: mappings merge, anything else is replaced."""
    if not (isinstance(config, dict) and isinstance(changes, dict)):
        return changes
    return config | {key: _merged(config.get(key), value) for key, value in changes.items()}


def _typed(value):
    """Read what the texts of the command line stand for."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
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


def _pop_nulls(parent, key):
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


def _filled(config):
    """The config with defaults and abbreviations written out."""
    datasets = {}
    for name, dataset in config["datasets"].items():
        filled = {"title": dataset["title"], "source": config["data"], "status": "real"} | dataset
        if "download" in filled:
            filled["download"] = {"max_bytes": DEFAULT_MAX_BYTES} | {
                key: value.lower() if key.endswith("sha256") else value
                for key, value in filled["download"].items()
            }
        if "counts" in filled:
            filled["counts"] = {"skip": 0} | filled["counts"]
        datasets[name] = filled
    timed = {
        mechanism: list(config["k"]) if at == "all" else at
        for mechanism, at in config["timing"]["mechanisms"].items()
    }

    def there(names):
        return [name for name in names if name in datasets]

    return config | {
        "epsilons": [float(epsilon) for epsilon in config["epsilons"]],
        "delta": float(config["delta"]),
        "timing": config["timing"] | {"mechanisms": timed},
        "agreement": config["agreement"] | {"datasets": there(config["agreement"]["datasets"])},
        "figures": config["figures"]
        | {"index_datasets": there(config["figures"]["index_datasets"])},
        "datasets": datasets,
    }


# ------------------------------------------------------------------ structure


@cache
def _validator():
    def whole(_, value):
        return isinstance(value, int) and not isinstance(value, bool)

    def finite(_, value):
        return whole(_, value) or (isinstance(value, float) and math.isfinite(value))

    types = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": whole, "number": finite})
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    return validators.extend(Draft202012Validator, type_checker=types)(schema)


def _check_structure(config):
    errors = list(_validator().iter_errors(config))
    if errors:
        # A misspelt key is a missing one, too; the misspelling explains both.
        misspelt = [error for error in errors if error.validator == "additionalProperties"]
        raise InputError(_sentence((misspelt or errors)[0], config))


def _sentence(error, config):
    """What a validation error means to the person who wrote the config."""
    path, value, schema = list(error.absolute_path), error.instance, error.schema
    where = _dotted(path) or "the config"

    if error.validator == "additionalProperties":
        known = list(schema["properties"])
        unknown = next(key for key in value if key not in known)
        return (
            f"{_dotted([*path, unknown])} is not a key{_did_you_mean(unknown, known)}; "
            f"the keys {f'of {where}' if path else 'here'} are {_listed(known)}"
        )
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in value)
        hint = ""
        if missing == "title":  # Settings for a misspelt dataset look like a new dataset.
            hint = _did_you_mean(path[-1], config["datasets"].keys() - path)
        wanted = _resolved(schema["properties"][missing])["title"]
        return f"{_dotted([*path, missing])} is missing{hint}; it must be {wanted}"
    if "propertyNames" in error.absolute_schema_path:
        return f"{where} has the name {_quoted(value)}; a name must be {schema['title']}"
    if error.validator == "uniqueItems":
        twice = next(item for position, item in enumerate(value) if item in value[:position])
        return f"{where} has {_shown(twice)} twice; it must be {schema['title']}"

    in_list = path and isinstance(path[-1], int)
    found = f"{where} {'has' if in_list else 'is'} {_shown(value)}; "
    if error.validator == "type" and (spelling := _spelling(value, schema)):
        return f"{found}write {spelling}"
    hint = ""
    if isinstance(value, str):
        hint = _did_you_mean(value, schema.get("enum", ()))
    elif schema.get("type") == "string" and not isinstance(value, dict | list | None):
        hint = ", in quotes"
    return f"{found}{'each' if in_list else 'it'} must be {schema['title']}{hint}"


def _resolved(schema):
    """The definition that a schema refers to, or the schema itself."""
    if "$ref" not in schema:
        return schema
    return _validator().schema["$defs"][schema["$ref"].rpartition("/")[2]]


def _spelling(value, schema):
    """How to write what was most likely meant by a value of the wrong type; or None."""

    def fits(candidate):
        return _validator().evolve(schema=schema).is_valid(candidate)

    kind = schema.get("type")
    if kind == "array" and fits([value]):
        return f"[{_clipped(value) if isinstance(value, str) else _yaml_number(value)}]"
    if kind not in ("integer", "number") or not isinstance(value, str | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    if kind == "integer" and number.is_integer():
        number = int(number)
    quotes = " (no quotes)" if isinstance(value, str) else ""
    return f"{_yaml_number(number)}{quotes}" if fits(number) else None


def _yaml_number(number):
    """YAML takes 1e-06 for a text; it wants a decimal point and a sign: 1.0e-6."""
    mantissa, e, exponent = repr(number).partition("e")
    return f"{float(mantissa)}e{int(exponent):+d}" if e else mantissa


# ------------------------------------------------------------------ meaning


def _check_mechanisms(config, untimed, known):
    for path, names in {
        "mechanisms": config["mechanisms"],
        "timing.mechanisms": [*config["timing"]["mechanisms"], *untimed],
        "scaling.mechanisms": config["scaling"]["mechanisms"],
        "figures.appendix_mechanisms": config["figures"]["appendix_mechanisms"],
    }.items():
        for name in names:
            if name not in known:
                raise InputError(
                    f"{path} has {_quoted(name)}, which is not a mechanism"
                    f"{_did_you_mean(name, known)}; there are {_listed(known)}"
                )


def _check_uses_of_datasets(config, left_out):
    """Timing and figures name datasets that exist, and at least one that is not left out."""
    uses = {
        "timing.dataset": [config["timing"]["dataset"]],
        "agreement.datasets": config["agreement"]["datasets"],
        "figures.index_datasets": config["figures"]["index_datasets"],
        "figures.all_mechanisms_dataset": [config["figures"]["all_mechanisms_dataset"]],
    }
    there = list(config["datasets"])
    for path, names in uses.items():
        for name in names:
            if name not in there and name not in left_out:
                raise InputError(
                    f"{path} names {_quoted(name)}, which is not a dataset"
                    f"{_did_you_mean(name, there)}; there are {_listed(there)}"
                )
    idle = [path for path, names in uses.items() if not set(names) & set(there)]
    if idle:
        gone = dict.fromkeys(name for path in idle for name in uses[path])
        raise InputError(
            f"{_listed(idle)} would use {_listed(gone)}, left out under datasets (null); "
            f"set {'it' if len(idle) == 1 else 'each'} to one of {_listed(there)}"
        )


def _check_scaling(scaling):
    if scaling["k_for_items"] > min(scaling["items"]):
        raise InputError(
            f"scaling.k_for_items is {scaling['k_for_items']}, more than the "
            f"{min(scaling['items'])} in scaling.items; k items are selected from that many"
        )
    if max(scaling["k"]) > scaling["items_for_k"]:
        raise InputError(
            f"scaling.k has {max(scaling['k'])}, more than scaling.items_for_k, which is "
            f"{scaling['items_for_k']}; k items are selected from that many"
        )


def _check_epsilon_figure(plan):
    k = plan["figures"]["epsilon_figure_k"]
    if len(plan["epsilons"]) > 1 and k not in plan["k"]:
        raise InputError(
            f"figures.epsilon_figure_k is {k}, but with more than one epsilon it must be one "
            f"of k: {_listed(map(str, plan['k']))}"
        )


def _check_dataset(name, dataset, embedded_dir):
    path, source = f"datasets.{name}", dataset["source"]
    if "file" in dataset and source != "file":
        raise InputError(
            f"{path}.file is given, but {path}.source is {source}; "
            f"write `source: file` to use it, or `file: null` to leave it"
        )
    for key in NEEDED_BY_SOURCE[source]:
        if key not in dataset:
            raise InputError(
                f"{path}.{key} is missing; a dataset with the source {source} needs it"
            )
    if source == "embedded" and not os.path.isfile(_profile(embedded_dir, name)):
        profiles = sorted(profile.stem for profile in Path(embedded_dir).glob("*.csv"))
        raise InputError(
            f"{path}.source is embedded, but data/embedded/ has no {name}.csv, only "
            f"{_listed(profiles) or 'nothing'}; for your own data write `source: file`"
        )
    if source == "file" and not os.path.isfile(dataset["file"]):
        raise InputError(
            f"{path}.file is {_quoted(dataset['file'], 150)}, and there is no such file; "
            f"give its path from the working directory, or an absolute one"
        )
    download = dataset.get("download", {})
    if "member_sha256" in download and "member" not in download:
        raise InputError(f"{path}.download.member_sha256 is given without {path}.download.member")
    if "counts" in dataset:
        _check_counts(f"{path}.counts", dataset["counts"])


def _check_counts(path, counts):
    given = [key for key in DERIVATIONS if key in counts]
    if len(given) != 1:
        raise InputError(
            f"{path} has {' and '.join(given) or 'no derivation'}; it must have exactly one of "
            f"{_listed(DERIVATIONS)} (null takes one away)"
        )
    if "names" not in counts:
        return
    needed = [(key, counts[key]) for key in ("column", "rows_per", "absorb") if key in counts]
    needed += [("where", column) for column in counts.get("where", ())]
    needed += [("profile", column) for column in ("count", "items") if "profile" in counts]
    for key, column in needed:
        if column not in counts["names"]:
            raise InputError(
                f"{path}.{key} needs the column {_quoted(column)}, which is not in {path}.names"
                f"{_did_you_mean(column, counts['names'])}"
            )


def _check_left_out(left_out, datasets, embedded_dir):
    """Leaving out `bokos` is most likely meant to leave out `books`."""
    for name in left_out:
        known = os.path.isfile(_profile(embedded_dir, name))
        if not known and (hint := _did_you_mean(name, datasets, cutoff=0.75)):
            raise InputError(
                f"datasets.{_clipped(name)} is left out (null), but there is no such dataset{hint}"
            )


def _check_k_at_most_d(plan, embedded_dir):
    """Of the sources, only embedded profiles tell d now; for the others the trials check it."""
    embedded = [name for name, entry in plan["datasets"].items() if entry["source"] == "embedded"]
    asked = [("k", max(plan["k"]), embedded)]
    for mechanism, at in plan["timing"]["mechanisms"].items():
        timed = {plan["timing"]["dataset"]} & set(embedded)
        asked.append((f"timing.mechanisms.{mechanism}", max(at), timed))
    compared = set(plan["agreement"]["datasets"]) & set(embedded)
    asked.append(("agreement.k", max(plan["agreement"]["k"]), sorted(compared)))
    for path, k, names in asked:
        items = {name: _items(embedded_dir, name, enough=k) for name in names}
        smallest = min(items, key=items.get, default=None)
        if items and items[smallest] < k:
            raise InputError(
                f"{path}: {k} is more than the {items[smallest]} items of dataset {smallest}; "
                f"take away that k or that dataset (null leaves it out)"
            )


def _check_jobs(plan):
    """More jobs than Snakemake can plan are a mistake."""
    chunks = math.ceil(plan["trials"] / plan["trials_per_job"])
    lists = ("datasets", "mechanisms", "epsilons", "k")
    jobs = chunks * math.prod(len(plan[key]) for key in lists)
    if jobs > MOST_JOBS:
        raise InputError(
            f"trials_per_job is {plan['trials_per_job']}, which makes {jobs:,} jobs of the trials; "
            f"take a larger one, for at most {MOST_JOBS:,} jobs"
        )


def _items(embedded_dir, name, enough):
    """How many items an embedded profile has, or `enough` as soon as it has that many."""
    items = 0
    try:
        with open(_profile(embedded_dir, name), encoding="utf-8") as profile:
            next(profile, None)
            for line in profile:
                items += int(line.rpartition(",")[2])
                if items >= enough:
                    return enough
    except (OSError, ValueError):
        raise InputError(
            f"data/embedded/{name}.csv cannot be read as a profile with the columns count,items; "
            f"restore it from the repository"
        ) from None
    return items


def _profile(embedded_dir, name):
    return os.path.join(embedded_dir, f"{name}.csv")


# ------------------------------------------------------------------ words


def _dotted(path):
    """datasets.books.counts; the position in a list is left out."""
    return ".".join(_clipped(key) for key in path if isinstance(key, str))


def _clipped(key):
    return key if re.fullmatch(r"[\w .,-]{1,50}", key) else _quoted(key)


def _quoted(text, length=50):
    quoted = repr(text[: length + 1])
    return quoted if len(quoted) <= length + 2 else f"{quoted[: length - 3]}...{quoted[0]}"


def _shown(value):
    """A value of any kind in a few words."""
    if value is None:
        return "null (empty)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {_quoted(value)}"
    if isinstance(value, dict | list):
        return f"{'a' if value else 'an empty'} {'list' if isinstance(value, list) else 'mapping'}"
    if isinstance(value, int) and abs(value) >= HUGE:
        return "a huge number"
    if isinstance(value, int | float):
        return str(value)
    return f"a {type(value).__name__}"


def _listed(names):
    """a, b and c; only the first few of very many."""
    names, shown = [_clipped(name) for name in names], []
    while names and len(", ".join([*shown, names[0]])) < 150:
        shown.append(names.pop(0))
    if names:
        return f"{', '.join(shown)} and {len(names)} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _did_you_mean(name, names, cutoff=0.6):
    nearest = difflib.get_close_matches(name[:100], sorted(names), n=1, cutoff=cutoff)
    return f" (did you mean {_clipped(nearest[0])}?)" if nearest else ""
