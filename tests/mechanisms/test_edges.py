"""Numbers at the edge: epsilons that are hardly above zero or nearly too large for a double.

Every mechanism tends to two limits. As epsilon goes to 0, all sequences become equally likely, or
no item comes out of a mechanism that has no list of them; as it grows, only those with the k
largest counts in descending order are left, and ties are broken uniformly. Each comparison has a
false-alarm rate below 10⁻⁹ (`tests.mechanisms.goodness_of_fit`).
"""

import warnings

import numpy as np
import pytest

from dp_topk import mechanisms
from dp_topk.mechanisms._noise import largest_noisy
from tests.mechanisms.exact import sequences
from tests.mechanisms.goodness_of_fit import draws, fit, tally

TINY = [5e-324, 1e-300, 1e-200, 1e-100, 1e-30]
HUGE = [1e30, 1e100, 1e200, 1e300, 1.7e308]

# Their noise stays finite as epsilon goes to 0: delta alone lets them tell far counts apart.
FINITE = ("rdp_peel", "gaussian")

every_mechanism = pytest.mark.parametrize("name", mechanisms.names())
WITH_DOMAIN = [name for name in mechanisms.names() if mechanisms.get(name).needs_domain]


def sample(name, counts, k, epsilon, n, relation="add-remove", delta=1e-6):
    """n draws; whatever NumPy would warn of is an error, underflow to zero excepted."""
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        draw = mechanisms.get(name).prepare(counts, k, epsilon, delta, relation)
        return draws(draw, n, seed=1)


def equally_likely(samples, outcomes, d):
    return not fit(tally(samples, outcomes, d), np.full(len(outcomes), 1 / len(outcomes))).rejected


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        *((name, (3, 3, 1, 0)) for name in WITH_DOMAIN),
        *((name, (2**53, 5, 0)) for name in WITH_DOMAIN if name not in FINITE),
    ],
)
def test_no_epsilon_no_preference(name, counts):
    for epsilon in TINY:
        samples = sample(name, counts, 2, epsilon, 800)
        assert equally_likely(samples, sequences(len(counts), 2), len(counts)), epsilon


@pytest.mark.parametrize("name", sorted(set(mechanisms.names()) - set(WITH_DOMAIN)))
def test_no_epsilon_no_items_without_a_list(name):
    """Three users may have all of these counts, and nothing comes of none: at most 3 δ."""
    for epsilon in TINY:
        assert (sample(name, (3, 3, 1, 0), 2, epsilon, 300, delta=1e-12) < 0).all(), epsilon


@every_mechanism
@pytest.mark.parametrize("top", [7, 2**53])
def test_all_the_epsilon_finds_the_largest_and_breaks_ties_fairly(name, top):
    counts = (3, top, 2, 3, top)
    if mechanisms.get(name).output.endswith("set"):
        best = [s for s in sequences(5, 3) if {1, 4} < {*s} and 2 not in s]
    else:
        best = [s for s in sequences(5, 3) if {*s[:2]} == {1, 4} and s[2] in (0, 3)]
    for epsilon in HUGE:
        samples = sample(name, counts, 3, epsilon, 500)
        assert {tuple(row) for row in samples.tolist()} <= set(best), epsilon
        assert equally_likely(samples, best, 5), epsilon


@every_mechanism
def test_any_epsilon_gives_k_distinct_items_and_no_warning(name):
    counts = np.random.default_rng(2).pareto(1.0, 60).astype(int) * 10**6
    partly = {-1} if mechanisms.get(name).output.startswith("partial") else set()
    for relation in mechanisms.get(name).relations:
        for exponent in range(-300, 301, 30):
            for items in sample(name, counts, 20, 10.0**exponent, 2, relation).tolist():
                assert len(set(items)) == 20 or partly
                assert set(items) <= set(range(60)) | partly


@pytest.mark.parametrize(("noise", "expected"), [((0, -0.3, 0.6), 1), ((0, -0.3, 0.8), 2)])
def test_noise_keeps_its_digits_far_below_the_largest_count(noise, expected):
    """The noises of two counts that are 1 apart decide, though both are 2⁵² below the largest."""
    profile = mechanisms.Profile([2**52, 2, 1], [1, 1, 1])
    ranks = largest_noisy(profile, 2, lambda x: np.array(noise), np.random.default_rng(3))
    assert ranks.tolist() == [0, expected]
