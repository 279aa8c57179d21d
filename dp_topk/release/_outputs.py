"""What is released, sequences or sets of k items: counted by loss, and drawn uniformly.

Items are known by their ranks 0, 1, ..., d - 1 in the order of descending counts c_1 >= c_2 >= ...
Both classes have

    spread                           no loss is larger
    number(v)                        N(v), how many outputs have a loss of at most v
    draw(bound, threshold, randbits) the ranks of a uniform output among the N(bound), or None
                                     if its loss is above the threshold

and all numbers are Python's integers, which are exact; NumPy's hold counts and ranks.
"""

import functools
import math
from bisect import bisect_right
from itertools import accumulate

import numpy as np

from ._lottery import below


class Sequences:
    """Sequences S = (s_1, ..., s_k) of distinct items, loss(S) = max_r (c_r - c_{s_r}).

    With t_r(v) = #{j : c_j >= c_r - v}, the loss is at most v exactly if s_r is among the first
    t_r(v) items for each r, and N(v) = prod_r (t_r(v) - r + 1).
    """

    def __init__(self, profile, k):
        self.profile, self.places = profile, np.arange(k)
        self.top = profile.counts_at(self.places)
        self.spread = int(profile.deficits[-1])

    def allowed(self, threshold):
        """t_r(threshold) for each place r."""
        return self.profile.at_least(self.top - threshold)

    def number(self, threshold):
        return product((self.allowed(threshold) - self.places).tolist())

    def draw(self, bound, threshold, randbits):
        """A position for each place, as `allowed` by the bound; then the items found there.

        The positions are those of a Fisher-Yates shuffle that exists only where it is touched:
        step r takes the item at a position from r on and puts there the one from position r.
        """
        positions = []
        allowed = zip(self.allowed(bound).tolist(), self.allowed(threshold).tolist(), strict=True)
        for r, (wide, narrow) in enumerate(allowed):
            position = r + below(wide - r, randbits)
            if position >= narrow:
                return None
            positions.append(position)
        return shuffled(positions)


class Sets:
    """Sets S of k items, loss(S) = max(0, largest count outside S - smallest count in S).

    Let h + 1 be the best rank, counted from 1, that is not in S; h = k for the best set alone.
    With m_h(v) = #{j : c_j >= c_{h+1} - v}, the loss is at most v exactly if the other k - h items
    of S are among the ranks h + 2, ..., m_h(v), so

        N(v) = 1 + sum_{h=0..k-1} C(m_h(v) - h - 1, k - h).
    """

    def __init__(self, profile, k):
        self.profile, self.k = profile, k
        self.places = np.arange(k)
        self.top = profile.counts_at(self.places)
        self.spread = int(profile.deficits[-1])
        self.sums = functools.lru_cache(maxsize=16)(self._sums)

    def choices(self, threshold):
        """m_h(threshold) - h - 1 for h = 0, ..., k - 1."""
        return (self.profile.at_least(self.top - threshold) - self.places - 1).tolist()

    def _sums(self, threshold):
        """The terms of N(threshold), added up: from h = 0 to h = 0, 1, ..., k - 1."""
        terms = (math.comb(n, self.k - h) for h, n in enumerate(self.choices(threshold)))
        return list(accumulate(terms))

    def number(self, threshold):
        return 1 + self.sums(threshold)[-1]

    def draw(self, bound, threshold, randbits):
        h = bisect_right(self.sums(bound), below(self.number(bound), randbits))
        if h == self.k:
            return shuffle(range(self.k), randbits)
        others = sample(self.choices(bound)[h], self.k - h, randbits)
        if max(others) >= self.choices(threshold)[h]:
            return None
        return shuffle([*range(h), *(h + 1 + other for other in others)], randbits)


def product(factors):
    """math.prod in rounds, which is faster where there are thousands of factors."""
    while len(factors) > 1:
        factors = [math.prod(factors[i : i + 32]) for i in range(0, len(factors), 32)]
    return factors[0]


def sample(n, size, randbits):
    """A uniform sequence of `size` distinct integers below n."""
    return shuffled([r + below(n - r, randbits) for r in range(size)])


def shuffle(items, randbits):
    """The items in uniformly random order, which therefore tells nothing."""
    items = list(items)
    return [items[position] for position in sample(len(items), len(items), randbits)]


def shuffled(positions):
    """What a Fisher-Yates shuffle of 0, 1, 2, ... takes from these positions."""
    taken, moved = [], {}
    for r, position in enumerate(positions):
        taken.append(moved.get(position, position))
        moved[position] = moved.get(r, r)
    return taken
