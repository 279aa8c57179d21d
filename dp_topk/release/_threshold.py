"""An exponential mechanism whose losses are integers, drawn exactly through a threshold.

`mechanisms/_sequences.py` has the derivation. In short: let N(v) be the number of outputs with
loss at most v. Draw T with P(T = v) ~ N(v) e^(-rate v), v = 0, 1, 2, ..., and then an output
uniformly among the N(T) with loss at most T. Its probability is proportional to e^(-rate loss).

Thresholds are drawn by blocks. All of a block [a, b] are proposed with the weight N(b) in place of
N(v), which is a geometric series:

    (1 - e^-rate) sum_{v=a..b} N(b) e^(-rate v) = N(b) (e^(-rate a) - e^(-rate (b + 1))).

An output is then drawn among the N(b), and accepted if its loss is at most v: with probability
N(v) / N(b), as it must be, and then it is uniform among the N(v). From the largest loss on, N is
constant, and one block without an end has all that follows.

A block has 2**m thresholds a + j, and e^(-rate j) is the product of e^(-rate 2**i) over the binary
digits i of j that are 1. So the digits are independent, and digit i is 1 with probability
x / (1 + x), x = e^(-rate 2**i): one draw between two weights for each.

Where blocks are cut changes how many proposals are rejected, not the distribution of what is
accepted. So `cut` may use doubles, like the samplers of `mechanisms`. Nothing else does.
"""

import functools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dp_topk.mechanisms import cut_into_blocks

from ._lottery import ZERO, Enclosure, Lottery, RandBits, check_source, directed, exp_minus, integer
from ._outputs import Outputs


class Threshold:
    """Outputs with probability proportional to e^(-rate loss), for a rate above 0."""

    def __init__(self, outputs: Outputs, rate: Fraction) -> None:
        self.outputs = outputs
        number = functools.cache(outputs.number)
        self.starts = cut(number, outputs.spread, rate)
        self.ends = [start - 1 for start in self.starts[1:]] + self.starts[-1:]
        numbers = [number(end) for end in self.ends]
        self.blocks = Lottery(functools.partial(block_weights, self.starts, numbers, rate))
        self.digits = [
            Lottery(functools.partial(digit_weights, rate * 2**i))
            for i in range(self.starts[-1].bit_length())
        ]

    def draw(self, randbits: RandBits) -> list[int]:
        check_source(randbits)
        while (ranks := self.propose(randbits)) is None:
            pass
        return ranks

    def propose(self, randbits: RandBits) -> list[int] | None:
        """The ranks of one output, or None if the proposal is rejected."""
        block = self.blocks.draw(randbits)
        start, end = self.starts[block], self.ends[block]
        digits = self.digits[: (end - start).bit_length()]
        offset = sum(digit.draw(randbits) << i for i, digit in enumerate(digits))
        return self.outputs.draw(end, start + offset, randbits)


def block_weights(
    starts: list[int], numbers: list[int], rate: Fraction, digits: int
) -> Iterator[Enclosure]:
    """Enclosures of N(b) (e^(-rate a) - e^(-rate (b + 1))) for each block; the last never ends."""
    down, up = directed(digits)
    edges = [*(exp_minus(rate * start, digits) for start in starts), (ZERO, ZERO)]
    for number, (low, high), (next_low, next_high) in zip(numbers, edges, edges[1:], strict=False):
        fewest, most = integer(number, digits)
        at_least = down.multiply(fewest, down.subtract(low, next_high))
        yield max(at_least, ZERO), up.multiply(most, up.subtract(high, next_low))


def digit_weights(x: Fraction, digits: int) -> list[Enclosure]:
    """Enclosures of the weights of a binary digit: 1 for 0, and e^-x for 1."""
    return [(Decimal(1), Decimal(1)), exp_minus(x, digits)]


def cut(number: Callable[[int], int], spread: int, rate: Fraction) -> list[int]:
    """Where blocks of 2**m thresholds start; the last start is that of the block without an end.

    Half of the proposals or more are accepted. In doubles: only time depends on it.
    """
    decay = float(min(max(rate, Fraction("1e-300")), Fraction("1e300")))
    last = 1 << (spread - 1).bit_length() if spread else 0

    def log_numbers(thresholds: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([math.log(number(threshold)) for threshold in thresholds.tolist()])

    with np.errstate(over="ignore", under="ignore"):
        blocks = cut_into_blocks(log_numbers, last, math.log(number(last)), decay)
    starts: list[int] = blocks.starts.tolist()
    return starts
