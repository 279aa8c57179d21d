"""What several tests of releases need."""

import copy

import pytest

from dp_topk import release
from dp_topk.release import _peeling, _unknown
from dp_topk.release._outputs import Left, OrNothing
from dp_topk.release._threshold import Threshold


@pytest.fixture
def prepared_once(monkeypatch):
    """Draws from the same outputs are prepared once, so that thousands of runs are fast."""
    known = {}

    def prepared(outputs, rate):
        if isinstance(outputs, Left):
            kind = "left", outputs.dummies, outputs.dummy_count, *outputs.taken
            profile = outputs.profile
        else:
            inner, bounds = outputs, ()
            if isinstance(outputs, OrNothing):
                inner, bounds = outputs.outputs, (outputs.least, outputs.delta)
            kind, profile = (type(inner), len(inner.places), *bounds), inner.profile
        key = kind, rate, *profile.counts.tolist(), *profile.bounds.tolist()
        if key not in known:
            known[key] = Threshold(copy.deepcopy(outputs), rate)
        return known[key]

    for module in (release, _peeling, _unknown):
        monkeypatch.setattr(module, "Threshold", prepared)
