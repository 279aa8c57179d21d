"""Exact draws from weights that are real numbers.

The weights of an exponential mechanism are irrational: a computer never holds them, and a draw
from rounded ones is a draw from another distribution. What it can hold are two decimals that
enclose each weight, as tightly as needed. A uniform number U in [0, 1) is revealed bit by bit;
index i is drawn when the bits seen so far and the enclosures leave no doubt that

    w_1 + ... + w_{i-1} <= U (w_1 + ... + w_n) < w_1 + ... + w_i.

As long as there is doubt, the next bit is revealed, and where bits tell more than the enclosures
do, these are computed again with twice the digits. So the probability of i is w_i / sum w, not
nearly but exactly; how many digits the computation begins with changes its time alone.
"""

import decimal
import functools
from bisect import bisect_right
from collections.abc import Callable, Iterable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeAlias

RandBits: TypeAlias = Callable[[int], int]  # randbits(n): n random bits as an integer
Enclosure: TypeAlias = tuple[Decimal, Decimal]  # not above, and not below, a real number

DIGITS = 30  # to begin with; twice as many are needed less than once in 2**70 draws

# Decimals have exponents of 18 digits; e^-x for x beyond FAR is only known to be below TINY.
FAR = MAX_EMAX // 10
TINY = Decimal((0, (1,), -(FAR // 3)))
ZERO = Decimal(0)


@functools.cache
def directed(digits: int) -> tuple[Context, Context]:
    """Two contexts of this many digits: one whose results are never too large, one never too small.

    They hold for sums, differences, products and quotients.
    """
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    settings: dict[str, Any] = {"prec": digits, "Emin": MIN_EMIN, "Emax": MAX_EMAX, "traps": traps}
    return Context(rounding=ROUND_FLOOR, **settings), Context(rounding=ROUND_CEILING, **settings)


def quotient(x: Fraction, digits: int) -> Enclosure:
    """Decimals low <= x <= high of this many digits."""
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    down, up = directed(digits)
    return down.divide(numerator, denominator), up.divide(numerator, denominator)


def exp_minus(x: Fraction, digits: int) -> Enclosure:
    """Decimals low <= e^-x <= high of this many digits, for a Fraction x >= 0."""
    if x > FAR:
        return ZERO, TINY
    # An error of x is a relative error of e^-x, so the digits of x after the point matter.
    least, most = quotient(x, digits + len(str(int(x))))
    # exp rounds to the nearest decimal whatever its context says: the two neighbours enclose.
    down, up = directed(digits)
    at_most = down.exp(most.copy_negate())
    at_least = at_most if least == most else up.exp(least.copy_negate())
    return down.next_minus(at_most), up.next_plus(at_least)


def log_between(low: Decimal, high: Decimal) -> tuple[Fraction, Fraction]:
    """Bounds on the logarithms of all numbers between two decimals above 0."""
    down, up = directed(60)
    # As exp, ln rounds to the nearest decimal whatever its context says: the neighbours enclose.
    # They are rounded to 60 places, since the neighbours of 0 have exponents of 18 digits.
    low, high = down.next_minus(down.ln(low)), up.next_plus(up.ln(high))
    down, up = directed(120)
    unit = Decimal((0, (1,), -60))
    return Fraction(down.quantize(low, unit)), Fraction(up.quantize(high, unit))


def integer(number: int, digits: int) -> Enclosure:
    """Decimals low <= number <= high of at least this many digits, for an integer above 0.

    From its leading bits: to turn all of a million bits into decimal digits takes seconds.
    """
    down, up = directed(digits + 10)  # the ten are what repeated squaring may lose
    shift = max(0, number.bit_length() - 5 * digits)
    leading = number >> shift
    low = down.multiply(leading, power_of_two(shift, down))
    high = up.multiply(leading + (shift > 0), power_of_two(shift, up))
    return low, high


def power_of_two(n: int, context: Context) -> Decimal:
    power = Decimal(1)
    for bit in f"{n:b}":
        power = context.multiply(power, power)
        if bit == "1":
            power = context.multiply(power, 2)
    return power


class Lottery:
    """Draws the index of one of several positive weights, with probability weight / sum.

    enclose(digits): encloses each weight; the more digits, the closer.
    """

    def __init__(self, enclose: Callable[[int], Iterable[Enclosure]]) -> None:
        self.enclose = enclose
        self.sums = functools.cache(self._sums)

    def _sums(self, digits: int) -> list[list[int]]:
        """Integers, in a common unit, not above and not below 0, w_1, w_1 + w_2, ..."""
        down, up = directed(digits)
        weights = list(self.enclose(digits))
        unit = max(high.adjusted() for _, high in weights) - digits
        per_unit = Decimal((0, (1,), -unit))
        lows = (down.to_integral_value(down.multiply(low, per_unit)) for low, _ in weights)
        highs = (up.to_integral_value(up.multiply(high, per_unit)) for _, high in weights)
        return [list(accumulate(map(int, numbers), initial=0)) for numbers in (lows, highs)]

    def draw(self, randbits: RandBits) -> int:
        digits, bits, n = DIGITS, 0, 0  # U lies between bits / 2**n and (bits + 1) / 2**n
        while True:
            lows, highs = self.sums(digits)
            while n <= 3 * digits:
                # The largest index whose weight U reaches for certain. Does U end within it?
                index = bisect_right(highs, bits * lows[-1] >> n) - 1
                if index == len(lows) - 2 or (bits + 1) * highs[-1] <= lows[index + 1] << n:
                    return index
                bits, n = 2 * bits + randbits(1), n + 1
            digits *= 2


def check_source(randbits: Any) -> None:
    if not callable(randbits):
        raise ValueError(
            f"randbits is {randbits!r}; leave it out, or give a function of a number of bits."
        )


def below(n: int, randbits: RandBits) -> int:
    """A uniform integer from 0 to n - 1."""
    if n == 1:
        return 0
    bits = (n - 1).bit_length()
    while (value := randbits(bits)) >= n:
        pass
    return value
