"""Rounds of selection by exponential weights, at a cost per round that hardly grows with d.

A peeling mechanism runs k rounds over the items that are left. Both of ours propose an item i
with probability proportional to w_i = exp(rate c_i); the weights stay the same from round to
round, only the items that are gone drop out. With ranks 0, 1, ... by descending count and the
best item left at rank l < k (the leader),

    A_j = sum_{i >= j} exp(rate (c_i - c_j)) = 1 + A_{j+1} exp(rate (c_{j+1} - c_j))

gives P(rank >= j) = A_j exp(rate (c_j - c_l)) / A_l for a proposal among the ranks l, l + 1, ...
This falls with j, so a bisection over j < k finds the rank, or finds that it is k or more. For
those, the weights relative to c_{k-1} are summed once, per distinct count. All numbers are sums
of positive terms of at most 1: nothing overflows, whatever the range of the counts.

Items that are gone but rank below the leader are still proposed; the caller skips them. That
costs little: the m items of a tie need O(m log m) proposals in all.

Rounding: with n distinct counts, every P(rank >= j) is made of at most k + n sums and products
of positive doubles, and of exp(x) whose x is rounded: a relative error below
(k + n + 745) 2**-52. A uniform of 53 bits moves it by another 2**-53, so ranks rarer than that may
never come up. Over the k + n ranks and counts that a proposal tells apart this is less than
(k + n) 2**-52 of a round's probability, and less than tau = k (k + n) 2**-51 of all: 2**-33 for
k = 195 and 551 distinct counts. That is a sum of worst cases, but not as small as for sequences.
What is epsilon-DP with real numbers is (epsilon + 2 k (k + n + 745) 2**-52,
(1 + exp(epsilon)) tau)-DP with doubles.

Cost: O(distinct counts + k) to prepare, O(log(distinct counts)) per proposal.
"""

import math
from collections.abc import Callable

import numpy as np

from . import Profile, Ranks

Choose = Callable[[int, set[int], np.random.Generator], int | None]


class ExponentialWeights:
    """Proposes ranks with probability proportional to exp(rate * count)."""

    def __init__(self, profile: Profile, k: int, rate: float) -> None:
        self.rate, self.k = rate, k
        self.top = profile.counts_at(np.arange(k)).tolist()
        first = profile.groups_of(k)  # group of rank k, if any
        self.tail_counts = profile.counts[first:]
        self.tail_bounds = np.maximum(profile.bounds[first:], k)
        weights = np.exp(rate * (self.tail_counts - self.top[-1]))
        weights *= np.diff(self.tail_bounds)
        self.tail_weights = np.cumsum(weights)
        self.tail_total = float(self.tail_weights[-1]) if len(weights) else 0.0
        self.sums = [0.0] * k  # A_j
        self.sums[-1] = 1.0 + self.tail_total
        for j in range(k - 2, -1, -1):
            self.sums[j] = 1.0 + self.sums[j + 1] * self.bias(self.top[j + 1], self.top[j])

    def bias(self, count: int, leader: int) -> float:
        """exp(rate (count - leader)), for an item that is not above the leader."""
        return math.exp(min(0.0, self.rate * (count - leader)))

    def propose(self, leader: int, rng: np.random.Generator) -> tuple[int, int]:
        """A rank >= leader, which must be < k, and the count of its item."""
        best, target = self.top[leader], rng.random() * self.sums[leader]
        if self.tail_total * self.bias(self.top[-1], best) > target:
            above = self.tail_weights.searchsorted(rng.random() * self.tail_total, side="right")
            group = min(int(above), len(self.tail_weights) - 1)
            rank = int(rng.integers(self.tail_bounds[group], self.tail_bounds[group + 1]))
            return rank, int(self.tail_counts[group])
        low, high = leader, self.k  # P(rank >= low) > target >= P(rank >= high)
        while high - low > 1:
            middle = (low + high) // 2
            if self.sums[middle] * self.bias(self.top[middle], best) > target:
                low = middle
            else:
                high = middle
        return low, self.top[low]


def peel(weights: ExponentialWeights, choose: Choose, rng: np.random.Generator) -> Ranks:
    """Run k rounds; `choose(leader, gone, rng)` returns the rank chosen in one, None to end."""
    chosen: list[int] = []
    gone: set[int] = set()
    leader = 0
    for _ in range(weights.k):
        while leader in gone:
            leader += 1
        rank = choose(leader, gone, rng)
        if rank is None:
            break
        chosen.append(rank)
        gone.add(rank)
    return np.array(chosen, dtype=np.int64)
