"""What the tests of `release` compare it with: bounds as fractions, and all bit strings in turn.

Written from the definitions alone. Nothing here is shared with the sampler, and nothing is rounded:
e^-x is enclosed between two fractions by its series, and a sampler's probabilities by running it
on every bit string up to a length.
"""

import functools
import itertools
import math
from collections import defaultdict
from fractions import Fraction

from tests.mechanisms.exact import DRIFT, sequence_loss

RATE = {relation: Fraction(1, 2 * drift) for relation, drift in DRIFT.items()}


class Exhausted(Exception):
    """The bit string has ended; `missing` more bits were asked for."""

    def __init__(self, missing):
        self.missing = missing


class Bits:
    """`randbits` that reads a bit string: the `length` binary digits of `value`."""

    def __init__(self, value, length):
        self.value, self.left = value, length

    def __call__(self, n):
        if n > self.left:
            raise Exhausted(n - self.left)
        self.left -= n
        return self.value >> self.left & (1 << n) - 1


def measures(draw, depth):
    """How much of all bit strings of so many bits leads to each output, and how much to none yet.

    The probability of an output lies between its measure and that plus the rest.
    """
    found, waiting = defaultdict(Fraction), [(0, 0)]
    while waiting:
        value, length = waiting.pop()
        source = Bits(value, length)
        try:
            output = draw(source)
        except Exhausted as end:
            longer = length + end.missing
            if longer <= depth:
                waiting += [(value << end.missing | i, longer) for i in range(2**end.missing)]
            continue
        assert source.left == 0
        found[tuple(output) if isinstance(output, list) else output] += Fraction(1, 2**length)
    return found, 1 - sum(found.values())


def check(draw, truth, depth, rest):
    """Assert that the bounds of `measures` hold the true probabilities, and that they are close.

    truth: for each output two fractions that enclose its probability.
    rest: how far apart the bounds may be.
    """
    found, left = measures(draw, depth)
    assert left <= rest
    assert found.keys() <= truth.keys()
    for output, (low, high) in truth.items():
        assert found[output] <= high
        assert found[output] + left >= low


def bounds_if_accepted(propose, depth, rest):
    """Bounds on the probability of each output of a proposal, given that it is not None.

    With acceptances f of this output and a of all, and a rest of which this output may have
    nothing or all: f / (a + rest) and (f + rest) / (a + rest). They are closer than those from
    running bit strings through all repetitions.
    """
    found, left = measures(propose, depth)
    assert left <= rest
    found.pop(None, None)
    most = sum(found.values()) + left
    return {output: (part / most, (part + left) / most) for output, part in found.items()}


def check_accepted(propose, truth, depth, rest):
    """`check` for a proposal that is repeated until it is not None."""
    bounds = bounds_if_accepted(propose, depth, rest)
    assert bounds.keys() <= truth.keys()
    for output, (low, high) in truth.items():
        least, most = bounds.get(output, (0, rest))
        assert least <= high
        assert most >= low


# ---------------------------------------------------------------- true probabilities


@functools.cache
def exp_minus(x):
    """Fractions that enclose e^-x, x >= 0, to about a hundred digits.

    e^x lies between its series up to x^(n-1)/(n-1)! and that plus 2 x^n/n!, if n > 2x.
    """
    n = math.ceil(6 * x) + 80
    total = term = Fraction(1)
    for i in range(1, n):
        term *= Fraction(x) / i
        total += term
    return 1 / (total + 2 * term * x / n), 1 / total


def shares(weights):
    """Enclosures of each weight's share of all, from enclosures of the weights: a dict."""
    least = sum(low for low, _ in weights.values())
    most = sum(high for _, high in weights.values())
    return {key: (low / most, high / least) for key, (low, high) in weights.items()}


def sequences(counts, k, epsilon, relation="add-remove"):
    """Enclosures of the probability of each sequence under Joint."""
    rate = Fraction(epsilon) * RATE[relation]
    return shares(
        {
            sequence: exp_minus(rate * sequence_loss(counts, sequence))
            for sequence in itertools.permutations(range(len(counts)), k)
        }
    )


def set_loss(counts, chosen):
    outside = [count for item, count in enumerate(counts) if item not in chosen]
    return max(0, max(outside, default=0) - min(counts[item] for item in chosen))


def sets(counts, k, epsilon, relation="add-remove"):
    """Enclosures of the probability of each set, in each of its orders."""
    rate = Fraction(epsilon) * RATE[relation]
    return shares(
        {
            order: exp_minus(rate * set_loss(counts, order))
            for order in itertools.permutations(range(len(counts)), k)
        }
    )
