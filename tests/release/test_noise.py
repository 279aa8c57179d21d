"""Noisy counts: the coins, the noise and the intervals are exactly what is promised.

Coins are run on all bit strings up to a length (`release_exact.check`). The noise is run on all
results of its coins up to a number, each of which has a probability that fractions enclose. No
chance is involved. Comparisons of samples have fixed seeds (`goodness_of_fit`).
"""

import functools
import itertools
import math
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dp_topk import release
from dp_topk.release import _noise
from dp_topk.release._noise import Coins, digit_chance, discrete_laplace, margin
from tests.mechanisms.goodness_of_fit import fit
from tests.release.release_exact import check, exp_minus

RATES = [Fraction(rate) for rate in ("1/7", "1/2", "1", "3/2", "6")]


def share_of_digit(x):
    """Fractions that enclose e^-x / (1 + e^-x)."""
    low, high = exp_minus(x)
    return low / (1 + low), high / (1 + high)


def chance(rate, z):
    """Fractions that enclose the probability of the noise z: e^(-x |z|) (1 - e^-x) / (1 + e^-x)."""
    low, high = exp_minus(rate)
    least, most = exp_minus(rate * abs(z))
    return least * (1 - high) / (1 + high), most * (1 - low) / (1 + low)


# ---------------------------------------------------------------- coins


@pytest.mark.parametrize("digits", [1, 30])
@pytest.mark.parametrize("x", [*RATES, Fraction(1, 10**9)])
def test_a_coin_is_exact(monkeypatch, x, digits):
    """Of the bit strings of each length one is undecided: that which p begins with."""
    monkeypatch.setattr(_noise, "DIGITS", digits)
    for encloses, truth in [
        (_noise.exp_minus, exp_minus(x)),
        (digit_chance, share_of_digit(x)),
    ]:
        low, high = truth
        coins = Coins(functools.partial(encloses, x))
        shows = {True: (low, high), False: (1 - high, 1 - low)}
        check(lambda bits, coins=coins: bool(coins.toss(1, bits)[0]), shows, 14, Fraction(1, 2**14))


@pytest.mark.parametrize("x", ["1/3", "2", "1e9", "1e400"])
def test_far_digits_of_a_chance(x):
    """Also where p has more zeros than memory holds."""
    low, high = exp_minus(Fraction(x)) if Fraction(x) < 10 else (0, Fraction(1, 10**90))
    coins = Coins(functools.partial(_noise.exp_minus, Fraction(x)))
    digits = sum(Fraction(coins.bit(place), 2**place) for place in range(1, 281))
    assert low - Fraction(1, 2**280) <= digits <= high


def test_coins_are_tossed_each_by_itself():
    """Two at once: the first bit of each, then the second of those that are undecided."""
    low, high = exp_minus(Fraction(1))
    one = {True: (low, high), False: (1 - high, 1 - low)}
    both = {
        (first, second): tuple(a * b for a, b in zip(one[first], one[second], strict=True))
        for first, second in itertools.product(one, repeat=2)
    }
    coins = Coins(functools.partial(_noise.exp_minus, Fraction(1)))
    check(lambda bits: tuple(coins.toss(2, bits).tolist()), both, 16, Fraction(2, 2**8))


# ---------------------------------------------------------------- noise


class Again(Exception):
    """A sign was drawn a second time."""


class Shown:
    """What all coins of one draw show, in turn; `low` and `high` enclose its probability."""

    def __init__(self, shown):
        self.left, self.signs = list(shown), 0
        self.low = self.high = Fraction(1)

    def next(self, low, high):
        shown = self.left.pop(0)  # IndexError: it takes more coins than these
        self.low *= low if shown else 1 - high
        self.high *= high if shown else 1 - low
        return shown

    def sign(self, n):
        """In place of `randbits`."""
        assert n == 1
        self.signs += 1
        if self.signs > 1:
            raise Again
        return int(self.next(Fraction(1, 2), Fraction(1, 2)))

    def coins(self, encloses):
        """In place of `Coins`, whose probabilities are known from the tests above."""
        truth = {_noise.exp_minus: exp_minus, digit_chance: share_of_digit}[encloses.func]
        low, high = truth(*encloses.args)
        return SimpleNamespace(toss=lambda n, randbits: np.array([self.next(low, high)]))


def first_draws(monkeypatch, rate, most):
    """Enclosures of the probability of each noise that takes at most this many coins.

    Before -0 is drawn again, which is under "again".
    """
    found, todo = {}, [()]
    while todo:
        shown = Shown(todo_now := todo.pop())
        monkeypatch.setattr(_noise, "Coins", shown.coins)
        try:
            (output,) = _noise.discrete_laplace(1, rate, shown.sign)
        except Again:
            output = "again"
        except IndexError:
            if len(todo_now) < most:
                todo += [(*todo_now, False), (*todo_now, True)]
            continue
        assert not shown.left
        assert output not in found  # there is one way to draw each
        found[output] = shown.low, shown.high
    return found


@pytest.mark.parametrize("rate", RATES)
def test_noise_is_exact(monkeypatch, rate):
    """z has half of e^(-x |z|) (1 - e^-x), and so has -0: given that it is not -0, the law."""
    found = first_draws(monkeypatch, rate, 12)
    assert sum(low for low, _ in found.values()) > Fraction(4, 5)
    assert {0, 1, -1, 2, -2, "again"} <= found.keys()
    once = exp_minus(rate)
    for output, (low, high) in found.items():
        least, most = exp_minus(0 if output == "again" else rate * abs(output))
        assert low <= most * (1 - once[0]) / 2, output
        assert high >= least * (1 - once[1]) / 2, output
        assert high - low < Fraction(1, 10**80)


@pytest.mark.parametrize("rate", [*RATES, Fraction(1, 50)])
def test_many_at_once_are_independent_and_follow_the_law(rate):
    """Each, and each with the next but one: samples, because all bit strings are too many."""
    noise = np.array(discrete_laplace(20_000, rate, random.Random(7).getrandbits))
    edge = math.ceil(3 / rate)
    inside = [float(chance(rate, z)[0]) for z in range(-edge, edge + 1)]
    beyond = (1 - sum(inside)) / 2
    probabilities = np.array([beyond, *inside, beyond])
    places = np.clip(noise, -edge - 1, edge + 1) + edge + 1
    observed = np.bincount(places, minlength=len(probabilities))
    assert not fit(observed, probabilities).rejected
    coarse = np.array([probabilities[: edge + 1].sum(), inside[edge]])
    coarse = np.append(coarse, 1 - coarse.sum())
    signs = np.sign(noise) + 1
    together = np.bincount(3 * signs[:-2] + signs[2:], minlength=9)
    assert not fit(together, np.outer(coarse, coarse).ravel()).rejected


def test_tiny_and_huge_rates():
    bits = random.Random(8).getrandbits
    assert discrete_laplace(50, Fraction("1e300"), bits).tolist() == [0] * 50
    noise = discrete_laplace(200, Fraction("1e-40"), bits)
    assert max(map(abs, noise)) > 10**39  # each is smaller with a probability of a tenth
    assert len({z % 1000 for z in noise}) > 100  # and the last digits are random, too


@pytest.mark.parametrize("fault", ["rate", "sign", "bits"])
def test_faults_are_caught(monkeypatch, fault):
    """The tests above see noise that is not as it must be."""
    if fault == "bits":
        monkeypatch.setattr(_noise, "shifted", lambda p, place: math.floor(p * 2**place) ^ 1)
        with pytest.raises(AssertionError):
            test_a_coin_is_exact(monkeypatch, Fraction(1), 30)
        return
    wrong = {
        "rate": lambda n, rate, bits: discrete_laplace(n, rate * Fraction(1001, 1000), bits),
        "sign": lambda n, rate, bits: [abs(z) for z in discrete_laplace(n, rate, bits)],
    }
    monkeypatch.setattr(_noise, "discrete_laplace", wrong[fault])
    with pytest.raises(AssertionError):
        test_noise_is_exact(monkeypatch, Fraction(1, 2))


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("failing", [Fraction(1, 20), Fraction(1, 2000)])
@pytest.mark.parametrize("rate", RATES)
def test_the_margin_is_the_least_that_holds(rate, failing):
    """P(|z| > w), added up from the middle, is at most `failing` for w, and not for w - 1."""
    w = margin(rate, failing)
    inside = [chance(rate, z) for z in range(-w, w + 1)]
    assert 1 - sum(low for low, _ in inside) <= failing
    assert w == 0 or 1 - sum(high for _, high in inside[1:-1]) > failing


# ---------------------------------------------------------------- what is called


@pytest.fixture
def asked(monkeypatch):
    """The rates with which noise is drawn; the noise is 0, 1, 2, ..."""
    rates = []

    def noise(n, rate, randbits):
        rates.append(rate)
        return list(range(n))

    monkeypatch.setattr(release, "discrete_laplace", noise)
    return rates


def test_noisy_counts_have_the_scale_and_the_interval(asked):
    rows = release.noisy_counts({"b": 5, "a": 0, "c": 7}, "0.3", sensitivity=3)
    assert asked == [Fraction(1, 10)]
    width = margin(Fraction(1, 10), Fraction(1, 20))
    assert rows == [("b", 5, 5 - width, 5 + width), ("a", 1, 1 - width, 1 + width),
                    ("c", 9, 9 - width, 9 + width)]  # fmt: skip


def test_noisy_top_k_has_the_scale_the_interval_and_breaks_ties_by_name(asked):
    counts = {"d": 9, "c": 8, "b": 7, "a": 2, "e": 3}  # with noise 9, 9, 9, 5, 7
    rows = release.noisy_top_k(counts, 2, 1, max_items=2)
    width = margin(Fraction(1, 2), Fraction(2, 100))
    assert rows == [("b", 9, 9 - width, 9 + width), ("c", 9, 9 - width, 9 + width)]
    release.noisy_top_k(counts, 2, 1, max_items=2, neighbors="swap")
    release.noisy_top_k(counts, 2, 1, max_items=99)  # no more than all five can change
    release.noisy_top_k(counts, 2, 1, max_items=3, neighbors="swap")
    assert asked == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 5), Fraction(1, 5)]


def test_ties_do_not_depend_on_the_order_of_the_input(monkeypatch):
    monkeypatch.setattr(release, "discrete_laplace", lambda n, rate, randbits: [0] * n)
    names = ["b", "a", 10, 9, ("x", 1)]
    chosen = {
        tuple(row.item for row in release.noisy_top_k(dict.fromkeys(order, 4), 2, 1, max_items=1))
        for order in itertools.permutations(names)
    }
    assert len(chosen) == 1


def test_nineteen_of_twenty_intervals_hold():
    """Of all items, and of those that were chosen: to 6.2 standard deviations of a binomial."""
    bits = random.Random(9).getrandbits
    everything = release.noisy_counts(range(10_000), 1, sensitivity=9, randbits=bits)
    chosen = [
        release.noisy_top_k([7, 8, 9], 1, 1, max_items=2, randbits=bits)[0] for _ in range(400)
    ]
    for rows, truth in [(everything, range(10_000)), (chosen, [7, 8, 9])]:
        held = sum(row.low <= truth[row.item] <= row.high for row in rows)
        assert held > 0.95 * len(rows) - 6.2 * math.sqrt(0.95 * 0.05 * len(rows))


def test_everything_random_comes_from_randbits():
    def twice(call):
        return [call(randbits=random.Random(5).getrandbits) for _ in range(2)]

    for call in (
        functools.partial(release.noisy_counts, [5, 3, 1], "0.1", sensitivity=3),
        functools.partial(release.noisy_top_k, [5, 3, 1], 2, "0.1", max_items=1),
    ):
        first, second = twice(call)
        assert first == second
        assert first != call(randbits=random.Random(6).getrandbits)
