"""Every sampler draws from the distribution that defines it, on small inputs of every kind.

Frequencies of whole output sequences are compared with `exact`, which enumerates them. Every
comparison has a false-alarm rate below 10⁻⁹ (see `goodness_of_fit`), and
`test_the_comparison_sees_small_defects` shows what the comparisons catch.
"""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from dp_topk import mechanisms
from tests.mechanisms import exact, plain
from tests.mechanisms.goodness_of_fit import (
    ALARM,
    Fit,
    convincing,
    draws,
    evidence,
    fit,
    follows,
    same_distribution,
    tally,
)

DRAWS = 1500  # enough for every defect of `test_the_comparison_sees_small_defects`; 1000 are not

# counts, k, epsilon, delta
INPUTS = [
    ((10, 5, 1, 1), 2, 1.0, 1e-6),  # the paper's example
    ((0, 4, 2, 4), 2, 0.7, 1e-6),  # ties at the top, not sorted
    ((6, 5, 4, 3, 2), 3, 3.0, 1e-6),
    ((0, 1, 2, 3, 4), 2, 1.5, 1e-6),  # ascending
    ((3, 3, 1), 3, 2.0, 1e-6),  # k = d
    ((2, 5, 5, 0), 4, 2.0, 0.3),  # k = d; delta so large that cdp_peel uses its CDP bound
    ((4, 2, 1, 0), 3, 1.5, 0.1),
    ((8, 4), 1, 0.5, 1e-6),  # k = 1
    ((3, 3, 3, 0), 1, 1.0, 1e-6),
    ((7, 7, 7), 2, 1.0, 1e-6),  # all equal
    ((0, 0, 0, 0), 3, 1.0, 1e-6),  # nothing but zeros
    ((5,), 1, 1.0, 1e-6),  # d = 1
    ((0,), 1, 1e-3, 1e-6),
    ((10**9, 3, 2, 0), 2, 1.0, 1e-6),  # one huge gap
    ((10**9, 10**9 - 1, 10**9 - 3, 0), 2, 1.0, 1e-6),  # large counts, small gaps
    ((10**9, 10**9 - 4000, 10**9 - 2000), 2, 1e-3, 1e-6),
    ((3000, 1000, 0, 2000), 2, 1e-3, 1e-6),  # small epsilon
    ((3, 1, 0), 2, 1e-3, 1e-6),  # almost uniform
    ((2, 1, 1, 0), 2, 1e3, 1e-6),  # large epsilon: only ties are random
    ((10**9, 0, 0), 3, 1e3, 1e-6),
]

CASES = [(name, relation) for name in exact.DISTRIBUTIONS for relation in exact.RELATIONS]


def complaints(name, relation, sample):
    """What is wrong with samples of a mechanism, in words; nothing if all is well.

    `sample(row, counts, k, epsilon, delta, outcomes)` says how often it drew each outcome. Each
    row is compared as it stands; then all rows together are tried against the rivals that ε is
    a tenth larger or smaller. Under swap ε is doubled, so that the probabilities stay informative.
    """
    found, too_large, too_small = [], 0.0, 0.0
    for row, (counts, k, epsilon, delta) in enumerate(INPUTS):
        epsilon *= exact.DRIFT[relation]
        expected, larger, smaller = (
            exact.distribution(name, counts, k, factor * epsilon, delta, relation)
            for factor in (1.0, 1.1, 0.9)
        )
        numbers = sample(row, counts, k, epsilon, delta, list(expected))
        probabilities = list(expected.values())
        if fit(numbers, probabilities).rejected:
            found.append(f"wrong distribution on {INPUTS[row]}")
        too_large += evidence(numbers, probabilities, list(larger.values()))
        too_small += evidence(numbers, probabilities, list(smaller.values()))
    found += ["epsilon is too large"] * convincing(too_large)
    found += ["epsilon is too small"] * convincing(too_small)
    return found


@pytest.mark.parametrize(("name", "relation"), CASES)
def test_sampler_draws_from_its_exact_distribution(name, relation):
    mechanism = mechanisms.get(name)
    if relation not in mechanism.relations:
        pytest.skip(f"{name} does not support {relation}")

    def sample(row, counts, k, epsilon, delta, outcomes):
        n = DRAWS if len(counts) > 1 else 10
        # Underflow to zero is meant; everything else that NumPy can complain about is a defect.
        with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
            warnings.simplefilter("error")
            draw = mechanism.prepare(counts, k, epsilon=epsilon, delta=delta, neighbors=relation)
            return tally(draws(draw, n, seed=row), outcomes, len(counts))

    assert complaints(name, relation, sample) == []


def wrong_epsilon(name, counts, k, epsilon, delta, relation):
    """Noise a tenth too small."""
    return exact.distribution(name, counts, k, 1.1 * epsilon, delta, relation)


def wrong_relation(name, counts, k, epsilon, delta, relation):
    """The noise of the other relation: a factor of two."""
    other = {"add-remove": "swap", "swap": "add-remove"}[relation]
    return exact.distribution(name, counts, k, epsilon, delta, other)


def wrong_order(name, counts, k, epsilon, delta, relation):
    """The first two places exchanged in one of twenty outputs."""
    right = exact.distribution(name, counts, k, epsilon, delta, relation)
    return {s: 0.95 * right[s] + 0.05 * right[s[:2][::-1] + s[2:]] for s in right}


def wrong_ties(name, counts, k, epsilon, delta, relation):
    """In one of ten outputs, the best sequence with ties in the order of the input."""
    right = exact.distribution(name, counts, k, epsilon, delta, relation)
    best = tuple(np.argsort(-np.array(counts), kind="stable")[:k].tolist())
    return {s: 0.9 * right[s] + 0.1 * (s == best) for s in right}


DEFECTS = [
    (*case, defect)
    for case in CASES
    for defect in (wrong_epsilon, wrong_relation, wrong_order, wrong_ties)
    # The noise of gamma serves both relations; a set has no order.
    if not (case[0] == "gamma" and defect is wrong_relation)
    if not (case[0].startswith("canonical") and defect is wrong_order)
]


@pytest.mark.parametrize(("name", "relation", "defect"), DEFECTS)
def test_the_comparison_sees_small_defects(name, relation, defect):
    """As many draws from a slightly wrong distribution are refused."""

    def sample(row, counts, k, epsilon, delta, outcomes):
        wrong = np.array(list(defect(name, counts, k, epsilon, delta, relation).values()))
        return np.random.default_rng(row).multinomial(DRAWS, wrong / wrong.sum())

    assert complaints(name, relation, sample)


# ---------------------------------------------------------------- the paper's examples


@pytest.mark.parametrize(
    ("name", "counts", "stated"),
    [
        ("joint", (10, 5, 1, 1), 0.63),
        ("joint_alg1", (10, 5, 1, 1), 0.63),
        ("pnf_joint", (10, 5, 1, 1), 0.75),
        ("joint", (30, 15) + 998 * (1,), 0.34),
        ("joint_alg1", (30, 15) + 998 * (1,), 0.34),
        ("pnf_joint", (30, 15) + 998 * (1,), 0.44),
    ],
)
def test_worked_examples(name, counts, stated):
    """k = 2, ε = 1: the probability of the true top two, computed and sampled."""
    probability = math.exp(exact.log_probability(name, counts, (0, 1), 1.0))
    assert round(probability, 2) == stated
    drawn = draws(mechanisms.get(name).prepare(counts, 2, epsilon=1.0), 10_000, seed=2022)
    hits = np.count_nonzero((drawn == (0, 1)).all(axis=1))
    assert not fit([hits, len(drawn) - hits], [probability, 1 - probability]).rejected


# ---------------------------------------------------------------- what small samples cannot show


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize(
    ("options", "share", "n"), [({}, 2**-10, 40_000), ({"beta": 0.25}, 0.2, 2000)]
)
def test_fast_joint_gives_hopeless_sequences_their_share(relation, options, share, n):
    """Clipping gives nearly β = 2⁻¹⁰ to sequences that joint would never draw."""
    counts, k, epsilon = (10**9,) + 49 * (0,), 1, 0.01
    losses, probabilities, _ = exact.loss_probabilities(
        "fast_joint", counts, k, epsilon, relation, **options
    )
    assert losses.tolist() == [0, 10**9]
    assert 0.9 * share < probabilities[1] < share
    draw = mechanisms.get("fast_joint").prepare(
        counts, k, epsilon=epsilon, neighbors=relation, **options
    )
    hopeless = np.count_nonzero(draws(draw, n, seed=3))
    assert hopeless > 0
    assert not fit([n - hopeless, hopeless], probabilities).rejected


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize(("name", "epsilon"), [("laplace", 0.7), ("gaussian", 5.0)])
def test_independent_noise_for_users_of_few_items(name, epsilon, relation):
    counts, k = (6, 5, 3, 0), 3
    for contributions in (1, 2, 3, 9):
        options = {"neighbors": relation, "contributions": contributions}
        expected = exact.distribution(name, counts, k, epsilon, **options)
        draw = mechanisms.get(name).prepare(counts, k, epsilon=epsilon, **options)
        numbers = tally(draws(draw, 2 * DRAWS, seed=contributions), list(expected), len(counts))
        assert not fit(numbers, list(expected.values())).rejected


@pytest.mark.parametrize(("name", "epsilon"), [("pnf_peel", 0.43), ("pnf_joint", 0.86)])
def test_what_was_rejected_once_does_not_come_back(name, epsilon):
    """The lower of two items wins with p/2, p = 0.65; if it could return, with 0.02 more."""
    higher, lower = exact.distribution(name, (1, 0), 1, epsilon).values()
    assert lower == pytest.approx(0.65 / 2, rel=1e-3)
    draw = mechanisms.get(name).prepare((1, 0), 1, epsilon=epsilon)
    wins = np.count_nonzero(draws(draw, 60_000, seed=12))
    assert not fit([60_000 - wins, wins], [higher, lower]).rejected
    returning = 0.343
    assert fit([60_000 * (1 - returning), 60_000 * returning], [higher, lower]).rejected


# ---------------------------------------------------------------- many rounds


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize("name", ["pnf_peel", "cdp_peel", "rdp_peel"])
def test_first_pick_of_many_rounds(name, relation):
    """At k = 20 nothing can be enumerated, but the first pick is a single round.

    At δ = 10⁻⁶ this is where the CDP bound overtakes basic composition.
    """
    k, counts = 20, (40, 30, 20, 10, 5) + 25 * (0,)
    rate, choice = {
        "pnf_peel": (1 / k, exact.permute_and_flip),
        "cdp_peel": (exact.round_epsilon(k, 1.0, 1e-6), exact.exponential),
        "rdp_peel": (exact.renyi_round_epsilon(k, 1.0, 1e-6), exact.exponential),
    }[name]
    assert rate > {"pnf_peel": 0.9, "cdp_peel": 1.5, "rdp_peel": 1.8}[name] / k
    expected = choice(rate / exact.DRIFT[relation] * (np.array(counts) - max(counts)))
    draw = mechanisms.get(name).prepare(counts, k, epsilon=1.0, delta=1e-6, neighbors=relation)
    first = np.bincount(draws(draw, 4000, seed=7)[:, 0], minlength=len(counts))
    assert not fit(first, expected).rejected


# ---------------------------------------------------------------- the yardstick itself


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize("name", exact.DISTRIBUTIONS)
def test_exact_distributions_sum_to_one(name, relation):
    for counts, k, epsilon, delta in INPUTS:
        total = sum(exact.distribution(name, counts, k, epsilon, delta, relation).values())
        assert total == pytest.approx(1, abs=1e-12)


def test_permute_and_flip_against_rational_arithmetic():
    accepted = [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 1000), Fraction(1, 2)]

    def integral(polynomial):  # over [0, 1], coefficients ascending
        return sum(c / (power + 1) for power, c in enumerate(polynomial))

    expected = []
    for winner, p in enumerate(accepted):
        polynomial = [Fraction(1)]
        for other in accepted[:winner] + accepted[winner + 1 :]:  # times (1 - p' t)
            shifted = [Fraction(0), *(-other * c for c in polynomial)]
            polynomial = [a + b for a, b in zip([*polynomial, 0], shifted, strict=True)]
        expected.append(float(p * integral(polynomial)))

    exponents = np.log(np.array(accepted, dtype=float))
    assert exact.permute_and_flip(exponents) == pytest.approx(expected, rel=1e-12)
    # Equal outputs may be given as one class.
    classes = exact.permute_and_flip(exponents[:4], np.log([1, 2, 1, 1]))
    assert classes[1] == pytest.approx(expected[1] + expected[4], rel=1e-12)


@pytest.mark.parametrize("name", exact.CHOICE_BY_LOSS)
def test_grouping_by_loss_agrees_with_enumeration(name):
    for counts, k, epsilon, delta in INPUTS:
        for relation in exact.RELATIONS:
            expected = exact.distribution(name, counts, k, epsilon, delta, relation)
            for sequence, probability in expected.items():
                if probability > 1e-250:
                    log_p = exact.log_probability(name, counts, sequence, epsilon, relation)
                    assert log_p == pytest.approx(math.log(probability), abs=1e-9)


@pytest.mark.parametrize("row", INPUTS, ids=str)
def test_grouping_sets_by_loss_agrees_with_enumeration(row):
    """The number of sets with each loss, which `canonical` is sampled by."""
    counts, k, epsilon, _ = row
    sets = list(itertools.combinations(range(len(counts)), k))
    losses, numbers = np.unique([exact.set_loss(counts, s) for s in sets], return_counts=True)
    values, log_copies = exact.set_loss_classes(counts, k)
    assert values.tolist() == losses.tolist()
    assert np.exp(log_copies) == pytest.approx(numbers)
    for relation in exact.RELATIONS:
        expected = exact.distribution("canonical", counts, k, epsilon, neighbors=relation)
        for chosen in sets:
            log_p = exact.log_set_probability(counts, chosen, epsilon, relation)
            assert math.exp(log_p) / math.factorial(k) == pytest.approx(expected[chosen])


@pytest.mark.parametrize("gap", [0, 1, 3, 8])
def test_independent_noise_against_closed_forms(gap):
    """The probability that the lower of two items wins, for ε = 1 and k = 1."""
    lower = (1,)
    laplace = exact.distribution("laplace", (gap, 0), 1)[lower]
    assert laplace == pytest.approx(math.exp(-gap) * (2 + gap) / 4, rel=1e-11)
    gamma = exact.distribution("gamma", (gap, 0), 1)[lower]
    assert gamma == pytest.approx(math.exp(-gap / 2) / 2, rel=1e-11)
    oneshot = exact.distribution("oneshot_exp", (gap, 0), 1)[lower]
    assert oneshot == pytest.approx(math.exp(-gap) / 2, rel=1e-11)
    gaussian = exact.distribution("gaussian", (gap, 0), 1)[lower]
    sigma = exact.gaussian_sigma(2, 1.0, 1e-6, "add-remove")
    assert gaussian == pytest.approx(math.erfc(gap / sigma / 2) / 2, rel=1e-11)


@pytest.mark.parametrize("relation", exact.RELATIONS)
@pytest.mark.parametrize("name", ["rdp_peel", "laplace", "gaussian", "oneshot_exp", "gamma"])
def test_the_plain_way_draws_from_the_exact_distribution(name, relation):
    """Noise on every count gives the same distribution as the integrals."""
    counts, k, epsilon, delta = np.array([6, 4, 4, 0]), 3, 1.5, 0.1

    def draw(rng):
        return getattr(plain, name)(counts, k, epsilon, delta, relation, rng=rng)

    expected = exact.distribution(name, counts.tolist(), k, epsilon, delta, relation)
    numbers = tally(draws(draw, 8000, seed=11), list(expected), len(counts))
    assert not fit(numbers, list(expected.values())).rejected


# ---------------------------------------------------------------- the tests of samples themselves


@pytest.mark.parametrize("n", [1, 5, 50, 500])
@pytest.mark.parametrize("p", [1e-6, 0.01, 0.2, 0.5])
def test_p_values_bound_the_exact_tail(n, p):
    """For two cells the distribution of G is a finite sum: the bound must hold at each value."""
    chances = [math.comb(n, hits) * p**hits * (1 - p) ** (n - hits) for hits in range(n + 1)]
    values = []
    for hits in range(n + 1):
        pairs = [(hits, n * p), (n - hits, n * (1 - p))]
        values.append(2 * sum(seen * math.log(seen / mean) for seen, mean in pairs if seen))
    for g in values:
        tail = math.fsum(
            chance for chance, other in zip(chances, values, strict=True) if other >= g
        )
        assert tail <= Fit(g, 1).p_value * (1 + 1e-9)


def test_comparisons_of_samples_accept_and_reject():
    rng = np.random.default_rng(5)
    values, probabilities = np.arange(4), np.array([0.4, 0.3, 0.2, 0.1])
    xs, ys = rng.choice(values, size=(2, 2000), p=probabilities)
    assert same_distribution(xs, ys)
    assert follows(xs, values, probabilities)
    assert not same_distribution(xs, np.minimum(ys + (rng.random(2000) < 0.3), 3))
    assert not follows(xs, values, probabilities[::-1])
    assert fit([1, 99], [0.0, 1.0]).rejected  # an impossible outcome
    assert Fit(80.0, 10).p_value > ALARM > Fit(100.0, 10).p_value
