"""Peeling: its output law from all bit strings, and the proof of its epsilon per round."""

import itertools
import math
import random
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from dp_topk import mechanisms, release
from dp_topk.mechanisms import rdp_peel
from dp_topk.release import _peeling
from dp_topk.release._outputs import Left
from dp_topk.release._peeling import epsilon_per_round, log_of, log_of_complement, proven
from dp_topk.release._threshold import Threshold
from tests.mechanisms.goodness_of_fit import same_distribution
from tests.mechanisms.test_real_profiles import descending_counts
from tests.release import release_exact
from tests.release.release_exact import check, check_accepted, delta_between, peeling
from tests.release.test_release import RELATIONS, coarse, neighbors


def left_of(counts, *taken, dummies=0, dummy_count=0):
    left = Left(mechanisms.ranked(counts)[0], dummies, dummy_count)
    for rank in taken:
        left.take(rank)
    return left


ROUNDS = [
    ((2, 1, 0), (), 0, 0),
    ((3, 3, 1, 0), (1,), 0, 0),
    ((3, 3, 1, 0), (0, 2), 0, 0),
    ((5, 4, 4, 4), (0,), 2, 3),
    ((2, 1), (), 3, 4),  # the dummies are ahead
    ((2, 2, 1), (), 5, 2),
    ((4, 1), (0, 1), 2, 1),  # no item is left
    ((4, 2, 0), (), 2, 1),  # the dummies' loss is inside a block of thresholds
]


@pytest.mark.parametrize(("counts", "taken", "dummies", "dummy_count"), ROUNDS)
def test_a_round_is_exact(monkeypatch, counts, taken, dummies, dummy_count):
    coarse(monkeypatch, 2)
    rest = {rank: count for rank, count in enumerate(counts) if rank not in taken}
    for rate in (Fraction(1, 3), Fraction(2)):
        left = left_of(counts, *taken, dummies=dummies, dummy_count=dummy_count)
        truth = peeling(rest, 1, rate, dummies, dummy_count)
        check_accepted(Threshold(left, rate).propose, truth, 18, Fraction(1, 10))


@pytest.mark.parametrize(("dummies", "dummy_count"), [(0, 0), (3, 1)])
@pytest.mark.usefixtures("prepared_once")
def test_so_are_all_rounds(dummies, dummy_count):
    for counts, k in [((2, 1, 0), 2), ((1, 1, 0), 3)]:
        truth = peeling(dict(enumerate(counts)), k, Fraction(1), dummies, dummy_count)

        def draw(bits, counts=counts, k=k):
            left = left_of(counts, dummies=dummies, dummy_count=dummy_count)
            return _peeling.peel(left, k, Fraction(1), bits)

        check(draw, truth, 14, Fraction(1, 5))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.usefixtures("prepared_once")
def test_so_is_what_users_call(relation):
    counts = {"a": 0, "b": 3, "c": 2}
    rate = epsilon_per_round(2, Fraction(1), Fraction(1, 10)) * 2 * release_exact.RATE[relation]

    def draw(bits, epsilon=1):
        return release.top_k(counts, 2, epsilon, delta="0.1", neighbors=relation, randbits=bits)

    truth = peeling(counts, 2, rate)
    check(draw, truth, 12, Fraction(1, 3))
    if relation == "add-remove":
        with pytest.raises(AssertionError):  # noise of a quarter of the scale
            check(lambda bits: draw(bits, 4), truth, 12, Fraction(1, 3))


def test_rounds_take_all_items():
    counts = [3, 1, 4, 1, 5]
    drawn = release.top_k(counts, 5, 1000, delta="1e-6")
    assert sorted(drawn) == [0, 1, 2, 3, 4]
    assert drawn[:3] == [4, 2, 0]


@pytest.mark.usefixtures("prepared_once")
def test_a_round_agrees_with_rdp_peel_on_real_counts():
    counts, k, epsilon = descending_counts("games"), 1, 0.01
    profile = mechanisms.ranked(counts)[0]
    randbits = random.Random(8).getrandbits
    ours = [
        sum(release.top_k(profile, k, epsilon, delta=1e-6, randbits=randbits)) for _ in range(500)
    ]
    draw = mechanisms.get("rdp_peel").prepare(counts, k, epsilon, 1e-6)
    rng = np.random.default_rng(3)
    theirs = [int(draw(rng).sum()) for _ in range(500)]
    assert same_distribution(np.array(ours), np.array(theirs))


# ---------------------------------------------------------------- epsilon per round


SETTINGS = [
    (10, "1", "1e-6"),
    (100, "1", "1e-6"),
    (1, "1", "1e-6"),
    (3, "0.1", "1e-9"),
    (195, "10", "1e-6"),
    (2, "1/3", "0.3"),
    (50, "1e-8", "1e-6"),
    (40, "1e8", "1e-6"),
    (10**6, "2", "1e-100"),
]


@pytest.mark.parametrize(("k", "epsilon", "delta"), SETTINGS)
def test_the_proven_epsilon_is_close_to_the_best_in_doubles(k, epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    rate = epsilon_per_round(k, epsilon, delta)
    best = rdp_peel.epsilon_per_round(k, float(epsilon), float(delta))
    assert epsilon / k <= rate <= best
    assert rate > best * (1 - 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-300", "1e-6"), ("1e300", "0.1"), ("1", "1e-350")]
)
def test_beyond_what_doubles_can_guess_rounds_are_pure(epsilon, delta):
    assert epsilon_per_round(7, Fraction(epsilon), Fraction(delta)) == Fraction(epsilon) / 7


def log_delta(a, rate, k, epsilon):
    """The bound in its other form, with psi(y) = log(sinh(y/2) / (y/2)), to 120 digits."""
    with localcontext(Context(prec=120)):
        a, rate, epsilon = (Decimal(x.numerator) / x.denominator for x in (a, rate, epsilon))
        alpha = a + 1

        def psi(y):
            return (((y / 2).exp() - (-y / 2).exp()) / y).ln()

        divergence = (alpha * psi(alpha * rate) - psi(rate)) / a - psi(a * rate)
        return a * (k * divergence - epsilon) + a * a.ln() - alpha * alpha.ln()


@pytest.mark.parametrize(("k", "epsilon", "delta"), SETTINGS)
def test_the_proof_agrees_with_the_other_form_of_the_bound(k, epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    wanted = Decimal(delta.numerator).ln() - Decimal(delta.denominator).ln()
    agreed = 0
    for rate, a in _peeling.guesses(k, epsilon, delta):
        for factor in (1, Fraction(1001, 1000), Fraction(11, 10)):
            if rate * a > 10**4:  # sinh of it takes the other form too many digits
                continue
            claimed = proven(k, epsilon, delta, rate * factor, a)
            assert claimed == (log_delta(a, rate * factor, k, epsilon) <= wanted)
            agreed += 1
    assert agreed or float(epsilon) > 1e4


def test_the_moment_is_that_of_the_worst_two_points():
    """F is never below, and nearly reached by, r in {e^t, e^(t - epsilon')} with the mean 1."""
    for rate, a in [(0.1, 3.0), (0.5, 0.5), (2.0, 10.0), (0.03, 40.0)]:
        alpha = a + 1
        big, small = 1 - math.exp(-alpha * rate), math.exp(-rate) - math.exp(-alpha * rate)
        bound = a**a * big**alpha / (alpha**alpha * small**a * (1 - math.exp(-rate)))
        worst = 0.0
        for step in range(1001):
            t = rate * step / 1000
            high, low = math.exp(t), math.exp(t - rate)
            chance = (1 - low) / (high - low)
            worst = max(worst, chance * high**alpha + (1 - chance) * low**alpha)
        assert bound * (1 - 1e-4) < worst < bound * (1 + 1e-12)


@pytest.mark.parametrize(("k", "epsilon", "delta"), [(10, "1", "1e-6"), (60, "2", "1e-4")])
def test_the_worst_rounds_stay_below_delta(k, epsilon, delta):
    """k rounds that all have the two ratios e^t and e^(t - epsilon'), for many t."""
    rate = float(epsilon_per_round(k, Fraction(epsilon), Fraction(delta)))
    worst = 0.0
    for step in range(1, 40):
        t = rate * step / 40
        chance = (1 - math.exp(t - rate)) / (1 - math.exp(-rate))  # of e^t, under P
        worst = max(
            worst,
            sum(
                math.comb(k, n)
                * chance**n
                * (1 - chance) ** (k - n)
                * max(0.0, 1 - math.exp(float(epsilon) - k * (t - rate) - n * rate))
                for n in range(k + 1)
            ),
        )
    assert float(delta) / 100 < worst < float(delta)


def test_logarithms_are_enclosed():
    rng = random.Random(1)
    for _ in range(500):
        x = Fraction(rng.randrange(1, 10**6), rng.randrange(1, 10**6))
        with localcontext(Context(prec=150)):
            decimal = Decimal(x.numerator) / x.denominator
            truths = [
                (log_of(x), decimal.ln()),
                (log_of_complement(x), (1 - (-decimal).exp()).ln()),
            ]
        for (low, high), truth in truths:
            assert low < Fraction(truth) < high
            assert high - low < Fraction(1, 10**50)


# ---------------------------------------------------------------- privacy


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", "1/10"), ("1", "1e-3")])
def test_privacy_in_fractions(relation, epsilon, delta):
    """The least delta of all neighbours of three items: below the given delta, and not 0."""
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    worst = 0
    for k in (1, 2, 3):
        rate = epsilon_per_round(k, epsilon, delta) * 2 * release_exact.RATE[relation]
        for counts in itertools.combinations_with_replacement(range(3), 3):
            here = peeling(dict(enumerate(counts)), k, rate)
            for after in neighbors(counts, relation):
                there = peeling(dict(enumerate(after)), k, rate)
                for one, other in [(here, there), (there, here)]:
                    worst = max(worst, delta_between(one, other, epsilon)[1])
    assert worst <= delta
