"""What can come out, counted by loss and drawn uniformly: sequences, sets, single items, nothing.

Items are known by their ranks 0, 1, ..., d - 1 in the order of descending counts c_1 >= c_2 >= ...
All numbers are Python's integers, which are exact; NumPy's hold counts and ranks. `sequence_at` of
`mechanisms`, which reads a shuffle at the positions drawn here, computes with integers only.
"""

import functools
import math
from bisect import bisect_left, bisect_right, insort
from fractions import Fraction
from itertools import accumulate
from typing import Protocol

import numpy as np

from dp_topk.mechanisms import Profile, Ranks, sequence_at

from ._lottery import RandBits, below


class Outputs(Protocol):
    """A finite number of outputs whose losses are integers from 0 on."""

    spread: int  # no loss is larger

    def number(self, threshold: int) -> int:
        """N(threshold), how many outputs have a loss of at most this."""

    def draw(self, bound: int, threshold: int, randbits: RandBits) -> list[int] | None:
        """The ranks of a uniform output among the N(bound); None if its loss is above threshold."""


class Places:
    """What fills k places with the items of a profile."""

    def __init__(self, profile: Profile, k: int) -> None:
        self.profile, self.places, self.k = profile, np.arange(k), k
        self.top = profile.counts_at(self.places)
        self.spread = profile.spread

    def allowed(self, threshold: int) -> Ranks:
        """#{j : c_j >= c_r - threshold} for each place r."""
        return self.profile.at_least(self.top - threshold)


class Sequences(Places):
    """Sequences S = (s_1, ..., s_k) of distinct items, loss(S) = max_r (c_r - c_{s_r}).

    With t_r(v) = #{j : c_j >= c_r - v}, the loss is at most v exactly if s_r is among the first
    t_r(v) items for each r, and N(v) = prod_r (t_r(v) - r + 1).
    """

    def number(self, threshold: int) -> int:
        return product((self.allowed(threshold) - self.places).tolist())

    def draw(self, bound: int, threshold: int, randbits: RandBits) -> list[int] | None:
        """A position for each place, as `allowed` by the bound; then the items found there."""
        positions = []
        allowed = zip(self.allowed(bound).tolist(), self.allowed(threshold).tolist(), strict=True)
        for r, (wide, narrow) in enumerate(allowed):
            position = r + below(wide - r, randbits)
            if position >= narrow:
                return None
            positions.append(position)
        return sequence_at(positions)


class Sets(Places):
    """Sets S of k items, loss(S) = max(0, largest count outside S - smallest count in S).

    Let h + 1 be the best rank, counted from 1, that is not in S; h = k for the best set alone.
    With m_h(v) = #{j : c_j >= c_{h+1} - v}, the loss is at most v exactly if the other k - h items
    of S are among the ranks h + 2, ..., m_h(v), so

        N(v) = 1 + sum_{h=0..k-1} C(m_h(v) - h - 1, k - h).
    """

    def __init__(self, profile: Profile, k: int) -> None:
        super().__init__(profile, k)
        self.sums = functools.lru_cache(maxsize=16)(self._sums)

    def choices(self, threshold: int) -> list[int]:
        """m_h(threshold) - h - 1 for h = 0, ..., k - 1."""
        return (self.allowed(threshold) - self.places - 1).tolist()

    def _sums(self, threshold: int) -> list[int]:
        """The terms of N(threshold), added up: from h = 0 to h = 0, 1, ..., k - 1."""
        terms = (math.comb(n, self.k - h) for h, n in enumerate(self.choices(threshold)))
        return list(accumulate(terms))

    def number(self, threshold: int) -> int:
        return 1 + self.sums(threshold)[-1]

    def draw(self, bound: int, threshold: int, randbits: RandBits) -> list[int] | None:
        h = bisect_right(self.sums(bound), below(self.number(bound), randbits))
        if h == self.k:
            return shuffle([*range(self.k)], randbits)
        others = sample(self.choices(bound)[h], self.k - h, randbits)
        if max(others) >= self.choices(threshold)[h]:
            return None
        return shuffle([*range(h), *(h + 1 + other for other in others)], randbits)


class Left:
    """The items that are left for a round of peeling, loss(i) = (largest count left) - c_i.

    There may also be dummies, all with one count. A dummy comes out as an empty list.
    """

    def __init__(self, profile: Profile, dummies: int = 0, dummy_count: int = 0) -> None:
        self.profile, self.dummies, self.dummy_count = profile, dummies, dummy_count
        self.taken: list[int] = []  # ranks, ascending
        self._look()

    def take(self, rank: int) -> None:
        insort(self.taken, rank)
        self._look()

    def _look(self) -> None:
        """Find the largest count left, and how far the others can be below it."""
        counts = [self.dummy_count] if self.dummies else []
        if len(self.taken) < self.profile.d:
            counts.append(int(self.profile.counts_at(self._rank(0))))
        self.top = max(counts, default=0)
        least = self.profile.largest - self.profile.spread
        self.spread = self.top - min(least, self.top, *counts)

    def _rank(self, place: int) -> int:
        """The rank of the item at this place among those left."""
        for rank in self.taken:
            place += rank <= place
        return place

    def _items(self, threshold: int) -> int:
        """How many items left have a loss of at most the threshold: the first of those left."""
        allowed = int(self.profile.at_least(self.top - threshold))
        return allowed - bisect_left(self.taken, allowed)

    def _dummies(self, threshold: int) -> int:
        return self.dummies if self.top - self.dummy_count <= threshold else 0

    def number(self, threshold: int) -> int:
        return self._items(threshold) + self._dummies(threshold)

    def draw(self, bound: int, threshold: int, randbits: RandBits) -> list[int] | None:
        place = below(self.number(bound), randbits)
        if place >= self._items(bound):
            return [] if self._dummies(threshold) else None
        return [self._rank(place)] if place < self._items(threshold) else None


class OrNothing:
    """Other outputs, or nothing: an empty list.

    With delta = p / q, each output S counts as p copies with its own loss, and as q copies of
    nothing with the loss max(loss(S), least). So nothing weighs

        (q / p) sum_S e^(-rate max(loss(S), least))

    where S weighs e^(-rate loss(S)).
    """

    def __init__(self, outputs: Outputs, least: int, delta: Fraction) -> None:
        self.outputs, self.least, self.delta = outputs, least, delta
        self.spread = max(outputs.spread, least)

    def copies(self, threshold: int) -> int:
        """How many copies there are of each output with a loss of at most the threshold."""
        p, q = self.delta.as_integer_ratio()
        return p + q if threshold >= self.least else p

    def number(self, threshold: int) -> int:
        return self.outputs.number(threshold) * self.copies(threshold)

    def draw(self, bound: int, threshold: int, randbits: RandBits) -> list[int] | None:
        copy = below(self.copies(bound), randbits)
        if copy >= self.copies(threshold):
            return None
        ranks = self.outputs.draw(bound, threshold, randbits)
        return ranks if ranks is None or copy < self.delta.numerator else []


def product(factors: list[int]) -> int:
    """math.prod by parts, which is faster where there are thousands of factors."""
    return math.prod(math.prod(factors[i : i + 64]) for i in range(0, len(factors), 64))


def sample(n: int, size: int, randbits: RandBits) -> list[int]:
    """A uniform sequence of `size` distinct integers below n."""
    return sequence_at(r + below(n - r, randbits) for r in range(size))


def shuffle(items: list[int], randbits: RandBits) -> list[int]:
    """The items in uniformly random order, which therefore tells nothing."""
    return [items[position] for position in sample(len(items), len(items), randbits)]
