"""Integer thresholds in blocks, and shuffles that exist only where they are touched.

What drawing through a threshold needs (`_sequences` has the derivation), whatever is drawn and
with whatever numbers: the samplers here use doubles, `dp_topk.release` does not.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ._profile import Floats, Integers

_PIECES = 4  # into how many parts a block is split
_LIGHT = 2.0**-40  # share of all below which a weight is light


class Blocks(NamedTuple):
    """Blocks [a, b] of thresholds, the last of which has no end, and their weights.

    starts: a of each.
    high: log N(b) of each.
    log_weights: log of the sum of N(b) exp(-rate v) over each block, times 1 - exp(-rate).
    """

    starts: Integers
    high: Floats
    log_weights: Floats


def cut_into_blocks(
    log_numbers: Callable[[Integers], Floats],
    last: int,
    log_all: float,
    rate: float,
) -> Blocks:
    """Blocks whose weights are together at most twice those of what they are proposed for.

    log_numbers: gives log N(v) for an array of thresholds v.
    last, log_all: where the block without an end begins, and log N there.

    At first blocks double in length, then those that waste many proposals are split in four. If
    `last` is a power of 2, so are the lengths of all blocks.
    """

    def around(starts: Integers) -> tuple[Floats, Floats]:
        """log N(v) and log N(v - 1) for each start v of a block; none ends before 0."""
        both = log_numbers(np.concatenate((starts, np.maximum(starts - 1, 0))))
        return both[: len(starts)], both[len(starts) :]

    starts = np.array(doubling(last))
    low, below = around(starts)
    low[-1] = log_all
    while True:
        high = np.append(below[1:], log_all)
        series = log_series(rate, starts)
        scale = (high + series).max()
        upper = np.exp(high + series - scale)
        excess = upper - np.exp(low + series - scale)
        if 2 * excess.sum() <= upper.sum():
            return Blocks(starts, high, high + series)
        split = np.flatnonzero(excess[:-1] > excess.sum() / (2 * len(excess)))
        inside = np.diff(starts)[split, None] * np.arange(1, _PIECES) // _PIECES
        new = np.unique((starts[split, None] + inside)[inside > 0])
        low_there, below_there = around(new)
        order = np.argsort(np.concatenate((starts, new)))
        starts = np.concatenate((starts, new))[order]
        low = np.concatenate((low, low_there))[order]
        below = np.concatenate((below, below_there))[order]


def doubling(last: int) -> list[int]:
    """Starts of blocks that double in length, up to `last`."""
    return sorted({0, last, *(1 << i for i in range(last.bit_length()))})


def log_series(rate: float, starts: Integers) -> Floats:
    """log of sum_v exp(-rate v) over each block, times 1 - exp(-rate); the last has no end."""
    series = -rate * starts.astype(np.float64)
    series[:-1] += np.log(-np.expm1(-rate * np.diff(starts)))
    return series


class Lottery:
    """Draws indices by their weights, also those that are too light for a uniform of 53 bits.

    log_total: log of the sum of all weights.
    """

    def __init__(self, log_weights: Floats) -> None:
        scale = log_weights.max()
        weights = np.exp(log_weights - scale)
        order = np.argsort(weights, kind="stable")
        self.order, self.cumulative = order.tolist(), np.cumsum(weights[order])
        self.shares = weights / self.cumulative[-1]
        self.light = int((weights < _LIGHT * self.cumulative[-1]).sum())
        self.log_total = float(scale + np.log(self.cumulative[-1]))

    def draw(self, rng: np.random.Generator) -> int:
        at = choose(self.cumulative, rng)
        if at < self.light:
            at = choose(self.cumulative[: self.light], rng)
        index: int = self.order[at]
        return index


def choose(cumulative: Floats, rng: np.random.Generator) -> int:
    """An index with probability proportional to its weight, from the sums of weights."""
    return int(cumulative.searchsorted(rng.random() * cumulative[-1], side="right"))


def logistic(log_odds: float) -> float:
    """The probability that has these log-odds."""
    return 1 / (1 + math.exp(min(-log_odds, 700.0)))


def geometric(uniform: float, rate: float, size: int) -> int:
    """v < size with probability proportional to exp(-rate v), from a uniform in [0, 1)."""
    step = -math.log1p(uniform * math.expm1(-rate * size)) / rate
    return min(int(step), size - 1)


def sequence_at(positions: Iterable[int]) -> list[int]:
    """Items at these positions of a Fisher-Yates shuffle that exists only where it is touched.

    The shuffle begins with every item at its own position. Step r takes the item at
    positions[r] >= r and puts the one from position r there. So after step r the positions
    above r, up to any bound beyond which nothing was taken, hold the items not yet taken.
    """
    taken: list[int] = []
    moved: dict[int, int] = {}
    for r, position in enumerate(positions):
        taken.append(moved.get(position, position))
        moved[position] = moved.get(r, r)
    return taken
