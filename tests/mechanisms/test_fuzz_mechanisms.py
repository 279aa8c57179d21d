"""Any input: a valid draw that is not too unlikely, or one sentence.

Draws are compared with what is practically impossible: on few items, a sequence whose exact
probability is below 10⁻¹² (all of them together have less than 10⁻¹⁰); on many, an item further
behind than the mechanism's noise reaches but with probability e⁻⁴⁰ per item and place.
"""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dp_topk import mechanisms
from tests.mechanisms import exact

NAMES = mechanisms.names()

fuzz = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)

relations = st.sampled_from(exact.RELATIONS)
epsilons = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)
deltas = st.floats(1e-12, 0.9)
# Counts near each other, near zero, and near 10⁹; many ties.
few = st.one_of(
    st.lists(st.integers(0, 12), min_size=1, max_size=4),
    st.lists(
        st.one_of(st.integers(0, 3), st.integers(10**9 - 2000, 10**9)), min_size=1, max_size=4
    ),
)
many = st.lists(
    st.one_of(st.integers(0, 5), st.integers(0, 1000), st.integers(0, 10**9)),
    min_size=1,
    max_size=60,
)


def drawn(name, counts, k, epsilon, delta, relation, seed, n):
    """n draws; anything that NumPy would warn of is an error, underflow to zero excepted."""
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        draw = mechanisms.get(name).prepare(
            counts, k, epsilon=epsilon, delta=delta, neighbors=relation
        )
        rng = np.random.default_rng(seed)
        return [tuple(draw(rng).tolist()) for _ in range(n)]


def partial(name):
    return mechanisms.get(name).output.startswith("partial")


def assert_valid(name, items, d, k):
    assert len(items) <= k if partial(name) else len(items) == k
    assert len(set(items)) == len(items)
    assert all(0 <= item < d for item in items)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name in exact.DISTRIBUTIONS | exact.PARTIAL]
)
def test_few_items_against_enumeration(name):
    """For inputs of every kind; `test_exact` and `test_unknown_domain` compare frequencies."""

    @settings(fuzz, max_examples=120)
    @given(st.data(), few, epsilons, deltas, relations, st.integers(0, 99))
    def check(data, counts, epsilon, delta, relation, seed):
        k = data.draw(st.integers(1, len(counts)), label="k")
        expected = exact.distribution(name, counts, k, epsilon, delta, relation)
        for items in drawn(name, counts, k, epsilon, delta, relation, seed, n=10):
            assert_valid(name, items, len(counts), k)
            assert expected[items] > 1e-12

    check()


def reach(name, d, k, epsilon, delta, relation):
    """How far behind an item can be and win a place, but with probability e⁻⁴⁰ (and d, k)."""
    if name == "fast_joint" or name not in exact.DISTRIBUTIONS:
        return math.inf  # fast_joint draws a hopeless sequence once in a thousand times
    drift = exact.DRIFT[relation]
    surprise = 40 + math.log(d)
    if name in exact.CHOICE_BY_LOSS or name == "pair":
        # The utility theorem of the exponential mechanism, for perm(d, k) sequences.
        return 2 * drift / epsilon * (40 + math.log(math.perm(d, k)))
    if name.startswith("canonical"):
        return 2 * drift / epsilon * (40 + math.log(math.comb(d, k)))
    if name == "gaussian":
        return 2 * exact.gaussian_sigma(d, epsilon, delta, relation) * math.sqrt(2 * surprise)
    if name == "gamma":
        # Two counts cross when both noises are near the radius; Gamma(d + 1) tails by Chernoff.
        shape = d + 1
        return 2 / epsilon * (shape + math.sqrt(2 * shape * surprise) + surprise)
    if name.startswith("cdp_peel"):
        return drift / exact.round_epsilon(k, epsilon, delta) * surprise
    if name == "rdp_peel":
        return drift / exact.renyi_round_epsilon(k, epsilon, delta) * surprise
    scale = drift * k / epsilon
    return (2 * scale if name == "laplace" else scale) * surprise


@pytest.mark.parametrize("name", NAMES)
def test_many_items_against_the_reach_of_the_noise(name):
    """Also for mechanisms without an exact distribution, which must at least draw valid items."""

    @fuzz
    @given(st.data(), many, epsilons, deltas, st.integers(0, 99))
    def check(data, counts, epsilon, delta, seed):
        k = data.draw(st.integers(1, len(counts)), label="k")
        relation = data.draw(st.sampled_from(mechanisms.get(name).relations), label="relation")
        limit = reach(name, len(counts), k, epsilon, delta, relation)
        for items in drawn(name, counts, k, epsilon, delta, relation, seed, n=5):
            assert_valid(name, items, len(counts), k)
            if partial(name):
                continue
            if name in exact.CHOICE_BY_LOSS:
                assert exact.sequence_loss(counts, items) <= limit
            elif mechanisms.get(name).output == "set":
                assert exact.set_loss(counts, items) <= limit
            else:  # each place goes to an item that is not far behind those still left
                for place, item in enumerate(items):
                    left = set(range(len(counts))) - set(items[:place])
                    assert max(counts[other] for other in left) - counts[item] <= limit

    check()


# ---------------------------------------------------------------- anything at all

numbers = st.one_of(
    st.integers(-3, 10),
    st.integers(-(2**70), 2**70),
    # Positive ones neither beyond 10⁹ nor below 10⁻⁹, so that as an ε they make sense.
    st.floats().filter(lambda x: not (0 < x < 1e-9 or 1e9 < x < math.inf)),
    st.booleans(),
)
anything = st.one_of(numbers, st.none(), st.text(max_size=5), st.lists(numbers, max_size=3))
spoiled = {
    "counts": st.one_of(
        st.lists(numbers, max_size=6),
        st.lists(anything, max_size=4),
        st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=3),
        st.dictionaries(st.text(max_size=2), st.integers(0, 3), max_size=2),
        anything,
    ),
    "k": anything,
    "epsilon": anything,
    "delta": anything,
    "neighbors": anything,
}


def one_of_each_kind():
    """Arguments are checked in one place, which knows no more of a mechanism than this."""
    kinds = {}
    for name in NAMES:
        it = mechanisms.get(name)
        kinds.setdefault((it.guarantee, it.zero_delta, it.output, it.relations), name)
    return list(kinds.values())


@pytest.mark.parametrize("name", one_of_each_kind())
@pytest.mark.parametrize("argument", spoiled)
def test_one_bad_argument_works_or_gets_one_sentence(name, argument):
    @fuzz
    @given(spoiled[argument])
    def check(value):
        arguments = {"counts": [3, 1, 2], "k": 2, "epsilon": 1.0}
        arguments |= {"delta": 1e-6, "neighbors": "add-remove", argument: value}
        items, refusal = drawn_or_refused(name, **arguments)
        if refusal is None:
            assert_valid(name, items, len(arguments["counts"]), arguments["k"])
        else:
            assert "\n" not in refusal
            # With fewer than two counts left, it is k that is too large.
            assert argument in refusal or (argument == "counts" and refusal.startswith("k "))

    check()


def drawn_or_refused(name, counts, k, epsilon, delta, neighbors):
    try:
        (items,) = drawn(name, counts, k, epsilon, delta, neighbors, seed=0, n=1)
    except ValueError as error:
        return None, str(error)
    return items, None
