"""OpenDP's noisy top k has the distribution of our peeling mechanisms.

Runs where the package `opendp` is installed, with its own source of randomness: there is no seed
to fix, and each comparison alarms falsely with probability below 10⁻⁹.
"""

import importlib.util

import numpy as np
import pytest

from dp_topk import mechanisms
from tests.mechanisms import exact
from tests.mechanisms.goodness_of_fit import draws, fit, tally

COUNTS, K, EPSILON = (6, 2, 4, 0, 4), 3, 1.5

installed = pytest.mark.skipif(
    importlib.util.find_spec("opendp") is None, reason="the package opendp is not installed"
)


def numbers(draw, outcomes):
    return tally(draws(draw, 6000, seed=1), outcomes, len(COUNTS))


@installed
@pytest.mark.parametrize("relation", exact.RELATIONS)
def test_pure_top_k_is_pnf_peel(relation):
    epsilon = EPSILON * exact.DRIFT[relation]
    draw = mechanisms.get("opendp_topk").prepare(COUNTS, K, epsilon=epsilon, neighbors=relation)
    expected = exact.distribution("pnf_peel", COUNTS, K, epsilon, neighbors=relation)
    found = numbers(draw, list(expected))
    assert not fit(found, list(expected.values())).rejected
    # It is not one round of noise, which is another mechanism with the same scale.
    oneshot = exact.distribution("oneshot_exp", COUNTS, K, epsilon, neighbors=relation)
    assert fit(found, list(oneshot.values())).rejected


@installed
@pytest.mark.parametrize("relation", exact.RELATIONS)
def test_concentrated_top_k_is_cdp_peel(relation):
    from dp_topk.mechanisms import opendp_topk

    epsilon, delta = EPSILON * exact.DRIFT[relation], 0.3
    round_epsilon = exact.round_epsilon(K, epsilon, delta)
    measurement = opendp_topk.noisy_top_k(
        K,
        exact.DRIFT[relation] / round_epsilon,
        relation,
        opendp_topk.dp.zero_concentrated_divergence(),
    )
    assert measurement.map(1) == pytest.approx(K * round_epsilon**2 / 8)
    expected = exact.distribution("cdp_peel", COUNTS, K, epsilon, delta, relation)
    found = numbers(lambda rng: np.array(measurement(list(COUNTS))), list(expected))
    assert not fit(found, list(expected.values())).rejected


@installed
@pytest.mark.parametrize("relation", exact.RELATIONS)
def test_their_privacy_map_agrees_with_our_guarantee(relation):
    from dp_topk.mechanisms import opendp_topk

    scale = K / EPSILON * exact.DRIFT[relation]
    measure = opendp_topk.dp.max_divergence()
    measurement = opendp_topk.noisy_top_k(K, scale, relation, measure)
    assert measurement.map(1) == pytest.approx(EPSILON)


def test_it_is_not_listed_and_its_absence_gets_a_sentence(monkeypatch):
    assert "opendp_topk" not in mechanisms.names()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs the package opendp; install it with pip"):
        mechanisms.get("opendp_topk")
