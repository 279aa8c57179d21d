"""Noisy counts: integers with discrete Laplace noise, drawn exactly.

What is released
----------------
Each count plus independent noise z, an integer with probability proportional to e^(-x |z|), where
x = epsilon / sensitivity, and an interval.

What is promised
----------------
epsilon-differential privacy, given the items: if one user changes the counts by at most
`sensitivity` in all, the logarithm of the probability of every list of noisy counts changes by at
most x sensitivity = epsilon. After a release of the items with (epsilon_1, delta), the names and
the counts together are (epsilon_1 + epsilon, delta)-DP.

*Counts of chosen items* (`noisy_counts`). Each count changes by at most 1 when a user comes, goes
or is swapped, so k counts have a sensitivity of k; if a user has at most c items, of min(k, c), or
min(k, 2 c) for swap neighbours.

*Items and counts from one histogram* (`noisy_top_k`). If a user has at most c items, noise of scale
c / epsilon (2 c / epsilon for swap neighbours) on every count of a public list makes all of them
epsilon-DP. The k largest and their noisy counts are read from that and cost nothing more. Equal
noisy counts go by name.

What is assumed
---------------
A user adds at most 1 to each count. The items, and their order, are public or were released. The
bound c was chosen without looking at the data, and a user's items were cut to c without looking
at others'; what was dropped is missing from the counts.

Intervals
---------
P(|z| > w) = 2 e^(-x (w + 1)) / (1 + e^-x), so [count - w, count + w] with the least w for which
this is at most 0.05 holds the true count with a probability of at least 95 %. In `noisy_top_k` the
same noise chose the items, and high noise is chosen more often. There w is the least with
P(|z| > w) <= 0.05 k / d: of all d intervals 0.05 k fail on average or fewer, so of the k that are
shown, however they were chosen, on average at most 5 % fail. Negative counts stay: rounding them up
is for the reader, and would hide what the noise does.

How it is drawn
---------------
A magnitude m >= 0 with probability proportional to e^(-x m) and a sign; -0 is drawn again. With
x 2^b >= 1, m = 2^b q + (b binary digits). Digit i is 1 with probability
e^(-x 2^i) / (1 + e^(-x 2^i)) and q is at least n with probability e^(-x 2^b n), all independently.
So everything is made of coins.

A coin shows 1 if a uniform number U in [0, 1) is below p. Both are compared bit by bit: the first
bit in which they differ decides, and is 1 in p exactly if U < p. The bits of p come from decimals
that enclose it. U and p agree in a bit with probability 1/2, so two bits are enough on average, and
the coins of all counts are tossed at once.
"""

import functools
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._lottery import Enclosure, RandBits, check_source, directed, exp_minus, log_between

DIGITS = 30  # of p, to begin with


class NoisyCount(NamedTuple):
    """A noisy count, and an interval that holds the true one with a probability of 95 %."""

    item: Any
    count: int  # type: ignore[assignment]  # tuples have a method of this name
    low: int
    high: int


class Coins:
    """Coins that show 1 with a probability p between 0 and 1, an irrational one.

    enclose(digits): encloses p; the more digits, the closer.
    """

    def __init__(self, enclose: Callable[[int], Enclosure]) -> None:
        self.enclose = enclose
        self.bit = functools.cache(self._bit)

    def _bit(self, place: int) -> int:
        """The binary digit of p at this place after the point."""
        digits = DIGITS
        while True:
            low, high = (shifted(p, place) for p in self.enclose(digits))
            if low == high:
                return low & 1
            digits *= 2

    def toss(self, n: int, randbits: RandBits) -> NDArray[np.bool_]:
        shown, undecided, place = np.zeros(n, bool), np.arange(n), 1
        while undecided.size:
            decided = random_bits(undecided.size, randbits) != self.bit(place)
            shown[undecided[decided]] = self.bit(place)
            undecided, place = undecided[~decided], place + 1
        return shown


def shifted(p: Decimal, place: int) -> int:
    """The integer part of p 2**place."""
    # A Fraction of e^-x would have all its zeros: for a large x, more than memory holds.
    return 0 if p.adjusted() < -place else math.floor(Fraction(p) * 2**place)


def random_bits(n: int, randbits: RandBits) -> NDArray[np.bool_]:
    raw = np.frombuffer(randbits(n).to_bytes((n + 7) // 8, "little"), np.uint8)
    return np.unpackbits(raw, count=n, bitorder="little").astype(bool)


def digit_chance(x: Fraction, digits: int) -> Enclosure:
    """Encloses e^-x / (1 + e^-x)."""
    down, up = directed(digits)
    low, high = exp_minus(x, digits)
    return down.divide(low, up.add(1, low)), up.divide(high, down.add(1, high))


def discrete_laplace(n: int, rate: Fraction, randbits: RandBits) -> NDArray[Any]:
    """n independent integers z with probability proportional to e^(-rate |z|).

    Where 64 bits may not hold them, they are Python's.
    """
    check_source(randbits)
    low_bits = (math.ceil(1 / rate) - 1).bit_length()
    digits = [Coins(functools.partial(digit_chance, rate * 2**place)) for place in range(low_bits)]
    further = Coins(functools.partial(exp_minus, rate * 2**low_bits))
    negative = random_bits(n, randbits)
    magnitude, alive = np.zeros(n, np.int64), np.arange(n)
    while alive.size:
        alive = alive[further.toss(alive.size, randbits)]
        magnitude[alive] += 1
    if low_bits + int(magnitude.max(initial=0)).bit_length() >= 63:
        magnitude = magnitude.astype(object)
    magnitude <<= low_bits
    for place, coins in enumerate(digits):
        magnitude += coins.toss(n, randbits).astype(magnitude.dtype) << place
    noise = np.where(negative, -magnitude, magnitude)
    again = np.flatnonzero(negative & (magnitude == 0))
    if again.size:
        more = discrete_laplace(again.size, rate, randbits)
        noise = noise.astype(np.result_type(noise, more))
        noise[again] = more
    return noise


@functools.lru_cache(maxsize=64)
def margin(rate: Fraction, failing: Fraction) -> int:
    """The least w for which P(|z| > w) is proven to be at most `failing`."""
    down, _ = directed(DIGITS)
    numerator = down.multiply(failing.numerator, down.add(1, exp_minus(rate, DIGITS)[0]))
    allowed = down.divide(numerator, 2 * failing.denominator)  # for e^(-rate (w + 1))
    return math.ceil(-log_between(allowed, allowed)[0] / rate) - 1


def with_intervals(rows: Iterable[tuple[Any, int]], width: int) -> list[NoisyCount]:
    return [NoisyCount(item, count, count - width, count + width) for item, count in rows]
