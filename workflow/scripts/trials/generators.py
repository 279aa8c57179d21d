"""Generators that depend on names only, and mechanisms ready to draw."""

import hashlib

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.common import InputError


def generator(seed, *names):
    """A random generator that depends on the root seed and on these names only."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def prepared(counts, k, epsilon, setting, name, dataset):
    """`draw` of a mechanism; what it refuses is the user's to change.

    setting: the `mechanism`, and what else its `prepare` is given (`Plan.setting`).
    name: what the config calls the mechanism with these settings.
    """
    given = dict(setting)
    try:
        return mechanisms.get(given.pop("mechanism")).prepare(counts, k, float(epsilon), **given)
    except ValueError as error:
        raise InputError(f"{name} on {dataset} with k = {k}: {error}") from None
