"""Mechanisms that need no list of items: what they draw, and what that tells, by enumeration.

`exact` has the distributions, written from the definitions. Privacy is computed for all pairs of
neighbours of a small universe, in which an item of count 0 does not occur, and with ties for the
limited domain in random order, as drawn, and in a fixed one.
"""

import functools
import itertools
import math
import warnings

import numpy as np
import pytest

from dp_topk import mechanisms
from dp_topk.mechanisms import _limited, limited_peel, rdp_peel
from tests.mechanisms import exact
from tests.mechanisms.exact import DRIFT, RELATIONS
from tests.mechanisms.goodness_of_fit import convincing, draws, evidence, fit, tally

LIMITED = ["limited_joint", "limited_canonical", "limited_peel"]
THRESHOLDS = ["threshold_laplace", "threshold_gaussian"]
DRAWS = 2400  # enough for every mutant of `test_the_comparison_sees_mutants`; 1500 are not

# ---------------------------------------------------------------- samplers

# counts, k, epsilon, delta, options
OF_LIMITED = [
    ((9, 5, 6, 2), 2, 1.0, 0.2, {}),  # the default: fewer than 5 k items, filled up
    ((9, 5, 6, 2), 2, 1.0, 0.2, {"limit": 2}),  # d' = k
    ((7, 4, 4, 4, 2), 2, 1.5, 0.1, {"limit": 3}),  # a tie for the last place of T
    ((3, 3, 3, 3), 2, 1.0, 0.5, {"limit": 2}),  # nothing but ties
    ((8, 0, 0, 4, 1), 3, 2.0, 0.3, {"limit": 4}),  # items that do not occur
    ((6, 0, 0), 2, 1.0, 0.4, {"limit": 2}),  # fewer than k items occur
    ((0, 0), 1, 1.0, 0.4, {}),
    ((5,), 1, 0.7, 0.1, {}),
    ((60, 40, 30, 2, 1), 3, 0.2, 0.01, {"limit": "1k"}),
    ((10**9, 10**9 - 3, 10**9 - 9, 10**9 - 20), 2, 0.8, 0.1, {"limit": 3}),
    ((4, 3, 2), 1, 0.1, 0.9, {}),  # delta above epsilon
    ((12, 11, 10, 2), 2, 1.5, 0.1, {"limit": 3}),  # far ahead of the rest
]
OF_THRESHOLDS = [
    ((9, 5, 6, 2), 2, 1.0, 0.2, {}),
    ((4, 3, 1, 1), 3, 1.0, 0.1, {"contributions": 2}),
    ((2, 2, 2), 2, 1.0, 0.05, {"contributions": 3}),
    ((6, 0, 0), 2, 1.0, 0.4, {}),
    ((0, 0), 1, 1.0, 0.4, {}),
    ((3, 1), 2, 2.0, 0.9, {}),  # the threshold is below 1
    ((10**6, 10**6 - 2, 3), 2, 1.0, 0.1, {}),
]
CASES = [(name, relation) for name in exact.PARTIAL for relation in RELATIONS]


def complaints(name, relation, sample):
    """What is wrong with samples, row by row and against an epsilon a fifth off; else nothing."""
    found, too_large, too_small = [], 0.0, 0.0
    for row, inputs in enumerate(OF_LIMITED if name in LIMITED else OF_THRESHOLDS):
        counts, k, epsilon, delta, options = inputs
        epsilon *= DRIFT[relation]
        expected, larger, smaller = (
            exact.distribution(name, counts, k, factor * epsilon, delta, relation, **options)
            for factor in (1.0, 1.2, 0.8)
        )
        chances = np.array(list(expected.values()))
        assert chances.sum() == pytest.approx(1, abs=1e-9)
        numbers = sample(row, counts, k, epsilon, delta, options, list(expected))
        if fit(numbers, chances).rejected:
            found.append(f"wrong distribution on {inputs}")
        too_large += evidence(numbers, chances, list(larger.values()))
        too_small += evidence(numbers, chances, list(smaller.values()))
    found += ["epsilon is too large"] * convincing(too_large)
    found += ["epsilon is too small"] * convincing(too_small)
    return found


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_sampler_draws_from_its_exact_distribution(name, relation):
    def sample(row, counts, k, epsilon, delta, options, outcomes):
        with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
            warnings.simplefilter("error")
            draw = mechanisms.get(name).prepare(counts, k, epsilon, delta, relation, **options)
            return tally(draws(draw, DRAWS, seed=row), outcomes, len(counts))

    assert complaints(name, relation, sample) == []


MUTANTS = {
    "limited_joint": [
        {"first": lambda lead, drift: max(0, lead)},
        {"first": lambda lead, drift: max(0, lead - drift - 1)},
        {"first": lambda lead, drift: 0},
        {"weigh": 0.7},
    ],
    "limited_peel": [
        {"ahead": 0},
        {"copies": lambda limit, naming: 1 / naming},
        {"copies": lambda limit, naming: (limit + 1) / naming},
        {"rounds": lambda k, epsilon, delta: epsilon},
    ],
    "threshold_laplace": [{"threshold": 1.0}, {"scale": 0.8}],
    "threshold_gaussian": [{"threshold": 1.0}, {"sigma": 0.8}],
}
MUTANTS["limited_canonical"] = MUTANTS["limited_joint"]


@pytest.mark.parametrize(
    ("name", "relation", "mutant"),
    [(*case, i) for case in CASES for i in range(len(MUTANTS[case[0]]))],
)
def test_the_comparison_sees_mutants(name, relation, mutant):
    def sample(row, counts, k, epsilon, delta, options, outcomes):
        options = options | MUTANTS[name][mutant]
        wrong = exact.PARTIAL[name](counts, k, epsilon, delta, relation, **options)
        wrong = np.array([wrong[outcome] for outcome in outcomes])
        return np.random.default_rng(row).multinomial(DRAWS, wrong / wrong.sum())

    assert complaints(name, relation, sample)


@pytest.mark.parametrize("name", LIMITED)
def test_ties_for_the_last_place_are_broken_at_random(name):
    """Whatever the order of the input: 6 items of count 9, of which T has room for two."""
    counts = np.array([40] + 6 * [9])
    draw = mechanisms.get(name).prepare(counts, 3, 3.0, 0.9, limit=3)
    samples = draws(draw, 4000, seed=1)
    seen = np.bincount(samples[samples > 0], minlength=7)[1:]
    assert seen.sum() > 100
    assert not fit(seen, np.full(6, 1 / 6)).rejected


@pytest.mark.parametrize("name", LIMITED)
def test_nameless_items_never_come_out(name):
    counts = (3, 0, 2, 0, 0)
    samples = draws(mechanisms.get(name).prepare(counts, 4, 1.0, 0.9), 2000, seed=1)
    assert set(np.unique(samples)) <= {-1, 0, 2}


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize(
    ("limit", "k", "meant"),
    [("5k", 3, 15), ("1k", 3, 3), (" 2.5k", 3, 8), (7, 3, 7), (np.int64(3), 3, 3)],
)
def test_the_limit_is_a_number_or_so_many_times_k(name, limit, k, meant):
    assert _limited.checked_limit(limit, k) == meant
    a, b = (
        draws(mechanisms.get(name).prepare((9, 5, 4, 4, 1), k, 1.0, 0.3, limit=each), 50, seed=1)
        for each in (limit, meant)
    )
    assert np.array_equal(a, b)


@pytest.mark.parametrize("name", LIMITED)
@pytest.mark.parametrize(
    "limit", ["k5", "5", "0.5k", "-5k", "5 k", "nan", 2, -1, 7.0, True, None, "1e9k", 2**60]
)
def test_other_limits_are_refused(name, limit):
    with pytest.raises(ValueError, match=r"limit is .*; it must be a number of items") as caught:
        mechanisms.get(name).prepare((9, 5, 4, 4, 1), 3, 1.0, limit=limit)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", THRESHOLDS)
@pytest.mark.parametrize("contributions", [0, 0.5, -1, math.inf, math.nan, None, "2", True])
def test_users_must_be_bounded(name, contributions):
    with pytest.raises(ValueError, match=r"contributions is .*; "):
        mechanisms.get(name).prepare((9, 5), 1, 1.0, contributions=contributions)


# ---------------------------------------------------------------- privacy

UNIVERSE = 3
LARGEST = 4


@functools.cache
def outputs_of(d, k):
    return exact.shorter_sequences(d, k)


@functools.cache
def chances(name, counts, k, epsilon, delta, relation, **options):
    """Probabilities over `outputs_of`, computed once for all orders of the same counts."""
    order = sorted(range(len(counts)), key=lambda item: -counts[item])
    ranks = np.argsort(order)
    by_rank = sorted_chances(
        name, tuple(sorted(counts, reverse=True)), k, epsilon, delta, relation, **options
    )
    outputs = outputs_of(len(counts), k)
    return np.array([by_rank[tuple(ranks[list(output)])] for output in outputs])


@functools.cache
def sorted_chances(name, counts, k, epsilon, delta, relation, **options):
    return exact.PARTIAL[name](counts, k, epsilon, delta, relation, **options)


def neighbors_of(counts, relation, items_per_user=math.inf):
    moves = {"add-remove": (0, 1), "swap": (-1, 0, 1)}[relation]
    for change in itertools.product(moves, repeat=len(counts)):
        other = tuple(c + move for c, move in zip(counts, change, strict=True))
        few = max(change.count(1), change.count(-1)) <= items_per_user
        if few and min(other) >= 0 and other != counts:
            yield other


def excess(p, q, epsilon):
    """Least δ for which both directions of (ε, δ) hold."""
    forth, back = p - math.exp(epsilon) * q, q - math.exp(epsilon) * p
    return max(forth.clip(min=0).sum(), back.clip(min=0).sum())


def worst_excess(
    name, relation, epsilon, delta, k, *, noise_for=None, items_per_user=math.inf, **options
):
    """Over all pairs of neighbours of the universe; one of two may be sorted."""
    parameters = k, epsilon, delta, noise_for or relation
    domain = itertools.combinations_with_replacement(range(LARGEST, -1, -1), UNIVERSE)
    return max(
        excess(
            chances(name, counts, *parameters, **options),
            chances(name, other, *parameters, **options),
            epsilon,
        )
        for counts in domain
        for other in neighbors_of(counts, relation, items_per_user)
    )


SETTINGS = [  # k, d', epsilon, delta
    (1, 1, 1.0, 0.1),
    (1, 2, 0.5, 0.2),
    (2, 2, 1.0, 0.1),
    (2, 2, 3.0, 0.01),
    (2, 3, 1.0, 0.3),
    (3, 3, 2.0, 0.05),
    (2, 10, 1.0, 0.1),
]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LIMITED)
def test_limited_domains_exceed_epsilon_by_at_most_delta(name, relation):
    options = {"rounds": rdp_peel.epsilon_per_round} if name == "limited_peel" else {}
    for k, limit, epsilon, delta in SETTINGS:
        worst = worst_excess(name, relation, epsilon, delta, k, limit=limit, **options)
        assert worst <= delta, (k, limit, epsilon, delta)


def fixed_ties(counts, limit):
    """T with ties in the order of item numbers."""
    occurring = [item for item, count in enumerate(counts) if count > 0]
    return [(tuple(sorted(occurring, key=lambda item: -counts[item])[:limit]), 1.0)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LIMITED)
def test_limited_domains_are_private_for_a_fixed_order_of_ties(name, relation, monkeypatch):
    """All of what an output may tell: here the order of ties does not blur it."""
    monkeypatch.setattr(exact, "domains", fixed_ties)
    for k, limit, epsilon, delta in [(1, 1, 1.0, 0.1), (2, 2, 1.0, 0.1)]:

        @functools.cache
        def chances_of(counts, k=k, epsilon=epsilon, delta=delta, limit=limit):
            found = exact.PARTIAL[name](counts, k, epsilon, delta, relation, limit=limit)
            return np.array(list(found.values()))

        worst = max(
            excess(chances_of(counts), chances_of(other), epsilon)
            for counts in itertools.product(range(LARGEST), repeat=UNIVERSE)
            for other in neighbors_of(counts, relation)
        )
        assert worst <= delta
        # It is nearly used: an item that one of two neighbours cannot name comes out.
        assert worst > delta * (0.3 if name == "limited_peel" else 0.85)


BROKEN = {
    "limited_joint": [{"first": lambda lead, drift: max(0, lead)}, {"weigh": 0.3}],
    "limited_peel": [
        {"ahead": 0},
        {"copies": lambda limit, naming: 0.3 * limit / naming},
        {"rounds": lambda k, epsilon, delta: 2 * epsilon},
    ],
}
BROKEN["limited_canonical"] = BROKEN["limited_joint"]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", LIMITED)
def test_mutants_of_limited_domains_break_the_promise(name, relation):
    for i, mutant in enumerate(BROKEN[name]):
        found = (
            worst_excess(name, relation, epsilon, delta, k, limit=limit, **mutant) / delta
            for k, limit, epsilon, delta in [(1, 1, 1.0, 0.05), (2, 2, 2.0, 0.05)]
        )
        assert max(found) > 1, i


@pytest.mark.parametrize("name", LIMITED)
def test_noise_for_add_remove_breaks_the_promise_under_swap(name):
    assert worst_excess(name, "swap", 3.0, 0.01, 2, limit=3, noise_for="add-remove") > 0.04


@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", THRESHOLDS)
def test_thresholds_exceed_epsilon_by_at_most_delta(name, relation, bound):
    """For users with at most this many items, and all of δ is used if normal noise needs none."""
    for k, epsilon, delta in [(1, 1.0, 0.1), (2, 3.0, 0.01), (3, 1.0, 0.2)]:
        users = {"items_per_user": bound, "contributions": bound}
        worst = worst_excess(name, relation, epsilon, delta, k, **users)
        assert worst <= delta * (1 + 1e-6), (k, epsilon, delta)
        assert worst > delta * (0.999 if name == "threshold_laplace" else 0.49)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", THRESHOLDS)
def test_mutants_of_thresholds_break_the_promise(name, relation):
    """A bound that users do not keep, less noise, and a threshold a tenth lower."""
    assert worst_excess(name, relation, 1.0, 0.1, 2, items_per_user=3, contributions=1) > 0.1
    noise = {"threshold_laplace": "scale", "threshold_gaussian": "sigma"}[name]
    sizes = exact_noise(name, relation, 1.0, 0.1)
    less = worst_excess(
        name, relation, 1.0, 0.1, 1, items_per_user=1, **{noise: 0.5 * sizes[0]}, threshold=sizes[1]
    )
    lower = worst_excess(name, relation, 1.0, 0.1, 1, items_per_user=1, threshold=0.6 * sizes[1])
    assert less > 0.1
    assert lower > 0.1


def exact_noise(name, relation, epsilon, delta):
    """Scale and threshold for one item a user, by the formulas of the modules' docstrings."""
    if name == "threshold_laplace":
        scale = DRIFT[relation] / epsilon
        return scale, 1 + scale * math.log(1 / (2 * delta))
    sigma = math.sqrt(DRIFT[relation]) * exact._unit_sigma(epsilon, delta / 2)
    return sigma, 1 + sigma * exact.statistics.NormalDist().inv_cdf(1 - delta / 2)


@pytest.mark.parametrize("k", [1, 10, 195])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.3])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_limited_peel_spends_no_more_than_it_has(k, epsilon, delta):
    naming, round_epsilon = limited_peel.budget(k, epsilon, delta)
    left = epsilon - k * math.log1p(naming)
    assert left >= epsilon / 2
    assert naming + delta / 2 <= delta
    assert round_epsilon == rdp_peel.epsilon_per_round(k, left, delta / 2)


# ---------------------------------------------------------------- as good as with the list


def test_limited_joint_is_joint_where_the_lead_is_long():
    """On counts far ahead of the rest, sequences have the chances that Joint gives them."""
    counts = (900, 880, 870, 850, 2, 1)
    epsilon = 0.05
    with_list = exact.distribution("joint", counts[:4], 3, epsilon)
    without = exact.distribution("limited_joint", counts, 3, epsilon, 1e-6, limit=4)
    assert without[()] < 1e-3
    for sequence, chance in with_list.items():
        assert without[sequence] == pytest.approx(chance, rel=1e-3)


def test_the_signed_loss_never_harms_the_best_set():
    for counts in [(9, 7, 4, 4, 1), (5, 5, 5, 0), (8, 2), (3, 3)]:
        for k in range(1, len(counts) + 1):
            cut, signed = (
                exact.distribution(name, counts, k, 0.7)
                for name in ("canonical", "canonical_signed")
            )
            best = tuple(range(k))
            gap = counts[k - 1] - counts[k] if k < len(counts) else 0
            odds = [p[best] / (1 / math.factorial(k) - p[best] + 1e-300) for p in (cut, signed)]
            if k < len(counts):
                assert odds[1] == pytest.approx(math.exp(0.35 * gap) * odds[0], rel=1e-9)
            else:
                assert cut == signed
