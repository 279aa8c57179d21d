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
    """The bit string has ended; `missing` more bits are needed."""

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
    """How much of all bit strings of this length leads to each output, and how much to none yet.

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
    return {key: (low / most, high / least if least else 1) for key, (low, high) in weights.items()}


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


def peeling(counts, k, rate, dummies=0, dummy_count=0):
    """Enclosures of the probability of each output of k rounds; a dummy ends it.

    counts: a mapping of item to count. In a round, item i weighs e^(rate c_i).
    """
    best = max([*counts.values(), dummy_count if dummies else 0], default=0)
    weights = {item: short(exp_minus(rate * (best - count))) for item, count in counts.items()}
    if dummies:
        one = short(exp_minus(rate * (best - dummy_count)))
        weights[None] = dummies * one[0], dummies * one[1]
    outputs = {}

    def continue_from(taken, low, high):
        if len(taken) == k or (taken and taken[-1] is None):
            items = tuple(item for item in taken if item is not None)
            outputs[items] = (
                outputs.get(items, (0, 0))[0] + low,
                outputs.get(items, (0, 0))[1] + high,
            )
            return
        left = {item: weight for item, weight in weights.items() if item not in taken}
        for item, (least, most) in shares(left).items():
            continue_from((*taken, item), *short((low * least, high * most)))

    continue_from((), Fraction(1), Fraction(1))
    return outputs


def short(enclosure):
    """Somewhat wider bounds with fewer digits, so that fractions stay small."""
    low, high = (value * 10**40 for value in enclosure)
    return Fraction(math.floor(low), 10**40), Fraction(math.ceil(high), 10**40)


def limited(counts, limit):
    """The largest counts of those that occur, ties by name, and the next one or 0."""
    order = sorted(
        (item for item in counts if counts[item]), key=lambda item: (-counts[item], item)
    )
    following = counts[order[limit]] if len(order) > limit else 0
    return {item: counts[item] for item in order[:limit]}, following


def whole(counts, k, limit, epsilon, delta, relation, loss):
    """Enclosures for k items of the limited domain or none, from the definition.

    loss: `sequence_loss`, or `set_loss` for sets, of which each order is an output.
    """
    top, following = limited(counts, limit)
    names = [*top, *(None for _ in range(limit - len(top)))]
    values = [*top.values(), *(0 for _ in range(limit - len(top)))]
    least = max(0, sorted(values)[-k] - following - DRIFT[relation])
    rate = Fraction(epsilon) * RATE[relation]
    weights, nothing = {}, [Fraction(0), Fraction(0)]
    for places in itertools.permutations(range(limit), k):
        own = loss(values, places)
        weights[places] = short(exp_minus(rate * own))
        for side, weight in enumerate(short(exp_minus(rate * max(own, least)))):
            nothing[side] += weight / Fraction(delta)
    weights[()] = tuple(nothing)
    outputs = defaultdict(lambda: (Fraction(0), Fraction(0)))
    for places, (low, high) in shares(weights).items():
        items = tuple(names[place] for place in places)
        items = () if None in items else items
        outputs[items] = outputs[items][0] + low, outputs[items][1] + high
    return dict(outputs)


def delta_between(one, other, epsilon):
    """Bounds on the least delta for which P(A) <= e^epsilon P'(A) + delta for all A."""
    factor = [1 / bound for bound in reversed(short(exp_minus(Fraction(epsilon))))]
    low = high = Fraction(0)
    for output, (least, most) in one.items():
        there = other.get(output, (0, 0))
        low += max(0, least - factor[1] * there[1])
        high += max(0, most - factor[0] * there[0])
    return low, high


def noise(z, rate):
    """Enclosure of P(z) for discrete Laplace noise, (1 - x) / (1 + x) x^|z| with x = e^-rate."""
    low, high = short(exp_minus(Fraction(rate)))
    power = short(exp_minus(Fraction(rate) * abs(z)))
    return (1 - high) / (1 + high) * power[0], (1 - low) / (1 + low) * power[1]


def noise_at_most(z, rate):
    """Enclosure of the probability of noise up to z: x^-z / (1 + x), or 1 - x^(z+1) / (1 + x)."""
    low, high = short(exp_minus(Fraction(rate)))
    tail = short(exp_minus(Fraction(rate) * (-z if z < 0 else z + 1)))
    tail = tail[0] / (1 + high), tail[1] / (1 + low)
    return tail if z < 0 else (1 - tail[1], 1 - tail[0])
