"""What the schema says of a config, in one sentence.

workflow/schemas/config.schema.yaml says what each key may hold. `title` in it says what a value
must be, and ends the sentence about a wrong one.
"""

import math
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator, validators

from workflow.scripts.common import InputError
from workflow.scripts.config import say
from workflow.scripts.config.reading import read_yaml

SCHEMA = Path(__file__).parents[2] / "schemas" / "config.schema.yaml"


@cache
def _validator():
    def whole(_, value):
        return isinstance(value, int) and not isinstance(value, bool)

    def finite(_, value):
        return whole(_, value) or (isinstance(value, float) and math.isfinite(value))

    types = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": whole, "number": finite})
    return validators.extend(Draft202012Validator, type_checker=types)(read_yaml(SCHEMA))


def check_structure(config):
    """Refuse a config that is not as the schema says."""
    # A misspelt key is a missing one, too; the misspelling explains both. What is wrong with one
    # key says more than what is wrong with the choice of keys.
    telling = {"additionalProperties": 0, "oneOf": 2}
    errors = _validator().iter_errors(config)
    if error := min(errors, key=lambda error: telling.get(error.validator, 1), default=None):
        raise InputError(_sentence(error, config))


def with_defaults(value, schema=None):
    """A dataset, or a part of one, with what the schema says of keys that it leaves out."""
    keys = (schema or _validator().schema["$defs"]["dataset"])["properties"]
    given = {
        key: with_defaults(inner, keys[key]) if "properties" in keys[key] else inner
        for key, inner in value.items()
    }
    return {key: about["default"] for key, about in keys.items() if "default" in about} | given


def _sentence(error, config):
    """What a validation error means to the person who wrote the config."""
    path, value, schema = list(error.absolute_path), error.instance, error.schema
    where = say.dotted(path) or "the config"

    if error.validator == "additionalProperties":
        known = list(schema["properties"])
        unknown = next(key for key in value if key not in known)
        return (
            f"{say.dotted([*path, unknown])} is not a key{say.did_you_mean(unknown, known)}; "
            f"the keys {f'of {where}' if path else 'here'} are {say.listed(known)}"
        )
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in value)
        hint = ""
        if missing == "title":  # Settings for a misspelt dataset look like a new dataset.
            hint = say.did_you_mean(path[-1], config["datasets"].keys() - path)
        wanted = schema["properties"][missing]
        if reference := wanted.get("$ref"):
            wanted = _validator().schema["$defs"][reference.rpartition("/")[2]]
        return f"{say.dotted([*path, missing])} is missing{hint}; it must be {wanted['title']}"
    if "propertyNames" in error.absolute_schema_path:
        return f"{where} has the name {say.quoted(value)}; a name must be {schema['title']}"
    if error.validator == "dependentRequired":
        for key, (needed,) in error.validator_value.items():
            if key in value and needed not in value:
                both = say.dotted([*path, key]), say.dotted([*path, needed])
                return f"{both[0]} needs {both[1]}; give both or neither"
    if error.validator == "oneOf":
        keys = [key for choice in error.validator_value for key in choice["required"]]
        given = " and ".join(key for key in keys if key in value)
        return f"{where} has {given or 'none of them'}; it must be {schema['title']}"
    if error.validator == "uniqueItems":
        twice = next(item for position, item in enumerate(value) if item in value[:position])
        return f"{where} has {say.shown(twice)} twice; it must be {schema['title']}"

    in_list = path and isinstance(path[-1], int)
    found = f"{where} {'has' if in_list else 'is'} {say.shown(value)}; "
    if error.validator == "type" and (spelling := _spelling(value, schema)):
        return f"{found}write {spelling}"
    hint = ""
    if isinstance(value, str):
        hint = say.did_you_mean(value, schema.get("enum", ()))
    elif schema.get("type") == "string" and not isinstance(value, dict | list | None):
        hint = ", in quotes"
    return f"{found}{'each' if in_list else 'it'} must be {schema['title']}{hint}"


def _spelling(value, schema):
    """How to write what was most likely meant by a value of the wrong type; or None."""
    fits, kind = _validator().evolve(schema=schema).is_valid, schema.get("type")
    if kind == "array" and fits([value]):
        return f"[{say.clipped(value) if isinstance(value, str) else _yaml_number(value)}]"
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
