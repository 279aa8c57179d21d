"""Privacy, by computing the output distributions of neighbours, not by sampling.

`exact` holds the distributions; `test_exact.py` shows that the samplers draw from them.
For every mechanism and both relations three things are shown:

- on a small domain, no pair of neighbours breaks the promise: no probability changes by more than
  a factor of e^ε (pure), or the excess over that is at most δ (approximate);
- some pair comes close to using all of ε, so the noise is not wastefully large;
- under swap, the noise of add-remove would break the promise.
"""

import functools
import itertools
import math

import numpy as np
import pytest

from dp_topk import mechanisms
from dp_topk.mechanisms import gaussian, rdp_peel
from tests.mechanisms import exact
from tests.mechanisms.exact import DRIFT, RELATIONS

# The published algorithms have the distributions of joint, pnf_peel and cdp_peel.
PURE = [
    "joint",
    "fast_joint",
    "pnf_joint",
    "canonical",
    "canonical_signed",
    "pnf_peel",
    "laplace",
    "oneshot_exp",
    "gamma",
]
APPROXIMATE = ["cdp_peel", "rdp_peel", "gaussian"]
ROUNDING = 1e-9

# The domain: all datasets of 2, 3 or 4 items with counts 0..3. Mechanisms treat items alike, so
# it is enough that one of two neighbours is sorted.
DOMAIN = [
    counts
    for d in (2, 3, 4)
    for counts in itertools.combinations_with_replacement(range(3, -1, -1), d)
]


@functools.cache
def neighbors_of(counts, relation, items_per_user):
    """Every dataset that one user, who has at most this many items, turns these counts into."""
    moves = {"add-remove": (0, 1), "swap": (-1, 0, 1)}[relation]
    changed = (
        tuple(c + move for c, move in zip(counts, change, strict=True))
        for change in itertools.product(moves, repeat=len(counts))
        if max(change.count(1), change.count(-1)) <= items_per_user
    )
    # A user who leaves was there before: no count goes below zero.
    return [other for other in changed if min(other) >= 0 and other != counts]


@functools.cache
def probabilities(name, counts, k, epsilon, delta, relation, **options):
    """Dense array over (s_1, …, s_k), computed once for all orders of the same counts."""
    order = sorted(range(len(counts)), key=lambda item: -counts[item])
    ranks = np.argsort(order)
    dense = _dense(
        name, tuple(sorted(counts, reverse=True)), k, epsilon, delta, relation, **options
    )
    return dense[np.ix_(*[ranks] * k)]


@functools.cache
def _dense(name, counts, k, epsilon, delta, relation, **options):
    dense = np.zeros([len(counts)] * k)
    outputs = exact.distribution(name, counts, k, epsilon, delta, relation, **options)
    for sequence, p in outputs.items():
        dense[sequence] = p
    return dense


def pairs(
    name, relation, epsilon, delta=1e-6, *, noise_for=None, items_per_user=math.inf, **options
):
    """Distributions of all pairs of neighbours in the domain, for every k."""
    parameters = epsilon, delta, noise_for or relation
    for counts in DOMAIN:
        for k in range(1, len(counts) + 1):
            p = probabilities(name, counts, k, *parameters, **options)
            for other in neighbors_of(counts, relation, items_per_user):
                yield p, probabilities(name, other, k, *parameters, **options)


def privacy_loss(p, q):
    """The largest |log P(S) - log Q(S)| over outputs S."""
    possible = (p > 0) | (q > 0)
    with np.errstate(divide="ignore"):
        return np.abs(np.log(p[possible]) - np.log(q[possible])).max()


def excess(p, q, epsilon):
    """Least δ for which both directions of (ε, δ) hold: Σ max(0, P - e^ε Q)."""
    forth, back = p - math.exp(epsilon) * q, q - math.exp(epsilon) * p
    return max(forth.clip(min=0).sum(), back.clip(min=0).sum())


@functools.cache
def worst_loss(name, relation, epsilon, **options):
    return max(privacy_loss(p, q) for p, q in pairs(name, relation, epsilon, **options))


# ---------------------------------------------------------------- the promise holds


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", PURE)
def test_no_probability_changes_by_more_than_epsilon(name, relation, epsilon):
    assert worst_loss(name, relation, epsilon) <= epsilon + ROUNDING


@pytest.mark.parametrize("relation", RELATIONS)
def test_clipping_losses_costs_no_privacy(relation):
    """At this ε, fast_joint clips losses that occur in the domain."""
    epsilon = 30.0 * DRIFT[relation]
    assert exact.pruning_threshold(4, 1, epsilon, relation, beta=2.0**-10) < 3
    assert worst_loss("fast_joint", relation, epsilon) <= epsilon + ROUNDING


BUDGETS = [(1.0, 1e-6), (1.0, 0.1), (0.3, 0.5), (3.0, 0.01), (3.0, 0.5)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_cdp_peel_exceeds_epsilon_by_at_most_delta(relation, epsilon, delta):
    """With so few rounds it takes a large δ for the CDP bound to overtake basic composition."""
    distributions = list(pairs("cdp_peel", relation, epsilon, delta))
    assert max(excess(p, q, epsilon) for p, q in distributions) <= delta


@pytest.mark.parametrize("relation", RELATIONS)
def test_cdp_peel_is_purely_private_where_basic_composition_is_better(relation):
    assert all(exact.round_epsilon(k, 1.0, 1e-6) == 1.0 / k for k in range(1, 5))
    assert worst_loss("cdp_peel", relation, 1.0, delta=1e-6) <= 1.0 + ROUNDING


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_rdp_peel_exceeds_epsilon_by_at_most_delta(relation, epsilon, delta):
    """With the ε′ that the mechanism uses. For large δ it attains more than four fifths of δ."""
    distributions = pairs(
        "rdp_peel", relation, epsilon, delta, round_epsilon=rdp_peel.epsilon_per_round
    )
    worst = max(excess(p, q, epsilon) for p, q in distributions)
    assert worst <= delta
    assert delta < 0.01 or worst > 0.8 * delta


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["cdp_peel", "rdp_peel"])
def test_peeling_with_zero_delta_is_purely_private(name, relation):
    assert mechanisms.get(name).zero_delta
    assert 0.99 * 3.0 <= worst_loss(name, relation, 3.0, delta=0.0) <= 3.0 + ROUNDING


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS[1:4])
@pytest.mark.parametrize("relation", RELATIONS)
def test_gaussian_exceeds_epsilon_by_at_most_delta(relation, epsilon, delta):
    for bound in (1, math.inf):
        distributions = pairs(
            "gaussian", relation, epsilon, delta, items_per_user=bound, contributions=bound
        )
        assert max(excess(p, q, epsilon) for p, q in distributions) <= delta


def worst_excess_of_two(sigma, epsilon, drift):
    """Least δ for the order of two items with normal noise, whose counts drift apart.

    The calibration knows nothing of whole numbers, so gaps between them count as well.
    """
    gaps = np.arange(-400, 400, 1 / 16)
    above, after = (exact.normal_below(g / sigma / math.sqrt(2)) for g in (gaps, gaps + drift))
    return max(
        excess(np.array([p, 1 - p]), np.array([q, 1 - q]), epsilon)
        for p, q in zip(above, after, strict=True)
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-3), (1.0, 0.1), (3.0, 0.01)])
@pytest.mark.parametrize("relation", RELATIONS)
def test_gaussian_uses_all_of_delta(relation, epsilon, delta):
    """The order of two items whose counts drift apart is the worst that noise must hide."""
    sigma = gaussian.noise_per_sensitivity(epsilon, delta) * gaussian.sensitivity(
        2, math.inf, relation
    )
    assert 0.9 * delta < worst_excess_of_two(sigma, epsilon, DRIFT[relation]) <= delta
    assert worst_excess_of_two(sigma / math.sqrt(2), epsilon, DRIFT[relation]) > delta


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_sensitivity_of_an_order_is_that_of_the_longest_change(relation):
    """Of all changes by one user, less their mean, for users with any number of items and few."""
    for d, bound in itertools.product(range(1, 8), (1, 2, 2.5, 3, 5, math.inf)):
        changes = neighbors_of((1,) * d, relation, bound)
        longest = max((np.std(np.array(other)) * math.sqrt(d) for other in changes), default=0)
        assert gaussian.sensitivity(d, bound, relation) == pytest.approx(longest, abs=1e-12)
    assert gaussian.sensitivity(10**6, math.inf, "add-remove") == pytest.approx(500)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bound", [1, 2])
def test_laplace_for_users_of_few_items(bound, relation):
    few = worst_loss("laplace", relation, 3.0, items_per_user=bound, contributions=bound)
    assert 0.99 * 3.0 <= few <= 3.0 + ROUNDING


def test_laplace_for_users_of_one_item_needs_such_users():
    assert worst_loss("laplace", "add-remove", 3.0, contributions=1) > 1.5 * 3.0


def test_guarantees_are_declared():
    """What these tests show is what each mechanism says of itself."""
    for name in exact.DISTRIBUTIONS:
        mechanism = mechanisms.get(name)
        approximate = name.removesuffix("_alg3") in APPROXIMATE
        assert mechanism.guarantee == ("approx" if approximate else "pure")
        assert set(mechanism.relations) == set(RELATIONS)


# ---------------------------------------------------------------- none of ε is wasted


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["pnf_peel", "cdp_peel", "laplace", "oneshot_exp"])
def test_independent_noise_uses_all_of_epsilon(name, relation):
    """Some pair of the small domain attains ε to within a hundredth."""
    assert worst_loss(name, relation, 3.0) >= 0.99 * 3.0


def test_gamma_uses_all_of_epsilon_under_swap_and_half_under_add_remove():
    """Its noise is for the release of all counts; the order of counts tells less.

    Adding a constant to all counts changes no order, and a user who comes or goes moves counts by
    0 or 1, which is within 1/2 of such a constant: a ball of half the radius.
    """
    assert worst_loss("gamma", "swap", 3.0) == pytest.approx(3.0, rel=1e-3)
    assert worst_loss("gamma", "add-remove", 3.0) == pytest.approx(1.5, rel=1e-3)


# Neighbours between which the loss of nearly all sequences grows (the first place goes to one of
# the many low items), while that of (0, 2) shrinks (so the second place tells). Small domains do
# not have such pairs: there, mechanisms over sequences use at most four fifths of ε.
OPPOSITE_MOVES = {
    "add-remove": ((1, 1, 0) + 1000 * (0,), (2, 1, 1) + 1000 * (0,)),
    "swap": ((3, 3, 0) + 1000 * (1,), (4, 2, 1) + 1000 * (0,)),
}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["joint", "fast_joint", "pnf_joint"])
def test_mechanisms_over_sequences_use_all_of_epsilon(name, relation, epsilon):
    before, after = (
        exact.log_probability(name, counts, (0, 2), epsilon, relation)
        for counts in OPPOSITE_MOVES[relation]
    )
    assert 0.99 * epsilon <= after - before <= epsilon + ROUNDING


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_mechanism_over_sets_uses_all_of_epsilon(relation, epsilon):
    """The same pairs: the loss of most sets grows, that of {0, 2} shrinks."""
    before, after = (
        exact.log_set_probability(counts, (0, 2), epsilon, relation)
        for counts in OPPOSITE_MOVES[relation]
    )
    assert 0.99 * epsilon <= after - before <= epsilon + ROUNDING


# ---------------------------------------------------------------- the factor for swap is needed


@pytest.mark.parametrize("name", ["pnf_peel", "cdp_peel", "laplace", "oneshot_exp"])
def test_noise_for_add_remove_costs_twice_epsilon_under_swap(name):
    loss = worst_loss(name, "swap", 3.0, noise_for="add-remove")
    assert loss == pytest.approx(2 * 3.0, rel=0.01)


@pytest.mark.parametrize("name", ["joint", "fast_joint", "pnf_joint"])
def test_sequences_weighted_for_add_remove_cost_twice_epsilon_under_swap(name):
    before, after = (
        exact.log_probability(name, counts, (0, 2), 1.0, "add-remove")
        for counts in OPPOSITE_MOVES["swap"]
    )
    assert after - before == pytest.approx(2.0, rel=0.01)


def test_sets_weighted_for_add_remove_cost_twice_epsilon_under_swap():
    before, after = (
        exact.log_set_probability(counts, (0, 2), 1.0, "add-remove")
        for counts in OPPOSITE_MOVES["swap"]
    )
    assert after - before == pytest.approx(2.0, rel=0.01)


# ---------------------------------------------------------------- peeling over many rounds


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
@pytest.mark.parametrize("k", [1, 2, 9, 50, 195])
def test_round_epsilon_solves_the_lemma_or_is_the_pure_share(k, epsilon, delta):
    rate = exact.round_epsilon(k, epsilon, delta)
    assert rate >= epsilon / k
    if rate > epsilon / k:
        total = k * rate**2 / 8 + 2 * rate * math.sqrt(k * math.log(1 / delta) / 8)
        assert total == pytest.approx(epsilon, rel=1e-9)


def pattern_probabilities(k, moved, others, lead, rate):
    """k rounds on two kinds of items, `moved` and `others`: probability of each pattern of kinds.

    The moved items have `lead` more users than the others. All sequences of one pattern are
    equally likely, before and after the moved items gain a user, so patterns tell all.
    """
    p, moved, others = np.array([1.0]), np.array([moved]), np.array([others])
    for _ in range(k):
        share = moved * math.exp(rate * lead)
        share = share / (share + others)
        p = np.concatenate([p * share, p * (1 - share)])
        moved, others = np.concatenate([moved - 1, moved]), np.concatenate([others, others - 1])
    return p


def worst_excess_of_patterns(k, epsilon, rate, drift):
    """Least δ over pairs in which the lead of the moved items grows by `drift`."""
    return max(
        excess(
            pattern_probabilities(k, moved, others, lead, rate),
            pattern_probabilities(k, moved, others, lead + drift, rate),
            epsilon,
        )
        for moved, others in [(1000, 1000), (100, 1000), (1, 1000), (1000, 100), (1000, 1)]
        for lead in (0, 1, 3, 10)
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_many_rounds_of_cdp_peel(delta, relation):
    """(1, δ) holds over 14 rounds; noise smaller by a factor of 1.6 would break it."""
    k, drift = 14, DRIFT[relation]
    rate = exact.round_epsilon(k, 1.0, delta) / drift
    assert rate * drift > 1.3 / k  # basic composition would allow 1/k
    assert worst_excess_of_patterns(k, 1.0, rate, drift) <= delta
    assert worst_excess_of_patterns(k, 1.0, 1.6 * rate, drift) > delta


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_many_rounds_of_rdp_peel(delta, relation):
    """(1, δ) holds over 14 rounds; noise smaller by a factor of 1.2 would break it."""
    k, drift = 14, DRIFT[relation]
    rate = rdp_peel.epsilon_per_round(k, 1.0, delta) / drift
    assert rate * drift > 1.2 * exact.round_epsilon(k, 1.0, delta)
    assert worst_excess_of_patterns(k, 1.0, rate, drift) <= delta
    assert worst_excess_of_patterns(k, 1.0, 1.2 * rate, drift) > delta


def test_many_rounds_with_noise_for_add_remove_break_the_promise_under_swap():
    rate = exact.round_epsilon(14, 1.0, 1e-6)
    assert worst_excess_of_patterns(14, 1.0, rate, DRIFT["swap"]) > 100 * 1e-6
