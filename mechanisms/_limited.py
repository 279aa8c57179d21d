"""The items with the largest counts, when nobody knows which items there are.

Limited domain
--------------
T holds the d' items with the largest counts among those that occur, ties in an order that does
not depend on the data. h is the next largest count, or 0 if there is none. The number d',
the option `limit` of the mechanisms, is at least k and does not depend on the data, or is a text
such as "5k" (the default) for five times k. If it is small, items are cut off; if it is large,
mechanisms end or say nothing sooner. T is not public.

Let D and D' be neighbours. An item of T(D) that is missing in T(D') has a count of at most h + s
in D, where s = 1 for add-remove and s = 2 for swap neighbours: in D' it has at most h(D') (0 if
it does not occur there), and a count and h(D') - h(D) move by at most 1, in the same direction
unless users are swapped.

Here the order of ties is random, and drawn again for each draw: a mixture of mechanisms that are
private for every fixed order is private. So items with equal counts are treated alike, and the
order of the rows of a table does not matter. Only the items of T that come out are ever looked
for among those that share the smallest count of T.

k items or nothing
------------------
The exponential mechanism over the sequences (or sets) S of k items of T, with one more outcome,
nothing. If fewer than d' items occur, T is filled up with nameless items of count 0, which are
left out of what comes out. Let c_1 >= c_2 >= ... be the counts of T, and

    v_1 = max(0, c_k - h - s),
    w(S) = exp(-r loss(S)),    w(nothing) = (1 / delta_1) sum_S exp(-r max(loss(S), v_1)).

This is (2 s r + log(1 + delta_1), delta_1)-DP, whatever the number of items of a user:

1. Let an S of T(D) hold an item i that is missing in T(D'), so that c_i <= h + s. If i stands
   at the r-th place of a sequence, loss(S) >= c_r - c_i >= c_k - h - s. If a set S holds i, then
   either it misses one of k items with at least c_k, and loss(S) >= c_k - c_i; or c_i >= c_k, so
   that v_1 = 0. In all cases loss(S) >= v_1. All such S together weigh at most
   delta_1 w(nothing), and so have probability at most delta_1 / (1 + delta_1).
2. Between D and D' every sorted count and h move by at most 1, in one direction (by at most 1
   each for a swap), so loss(S) of an S of both, the loss of an S that is given by ranks, and v_1
   change by at most s. (The best item outside of a set is among the first k + 1, hence in T, or
   d' = k and there is one set only.) So w(S) of an S of both, and w(nothing), change by a
   factor of at most exp(s r).
3. By the first step, the sum of all weights of D is at most 1 + delta_1 times that of the
   outcomes that D and D' share, which by the second is at most exp(s r) times the sum of D'. So
   the probability of an outcome of both changes by a factor of at most
   (1 + delta_1) exp(2 s r).

With delta_1 = delta and r = (epsilon - log(1 + delta)) / (2 s) it is (epsilon, delta)-DP: one
epsilon for all k places. (Where epsilon is so small that little or nothing would be left, delta_1
is epsilon / 2 instead.)

How: in the threshold form of `_sequences`, both weights are sums over thresholds,

    w(S) ~ sum_{v >= loss(S)} exp(-r v),
    w(nothing) ~ (1 / delta_1) sum_{v >= v_1} N(v) exp(-r v).

The first is drawn as for the known domain T. The second has the same form with N(v_1 + v) in the
place of N(v). A draw chooses between the two in proportion to their bounds, then proposes a
threshold, and begins again if it is rejected. The bounds of `_sequences` hold here, too.
"""

import math
import operator
import re
from typing import Any

import numpy as np

from . import LARGEST_COUNT, Draw, Neighbors, Profile, Ranks, moves
from ._sequences import LossThreshold, loss_rate
from ._thresholds import logistic

DEFAULT_LIMIT = "5k"
NOTHING = np.array([], dtype=np.int64)


class LimitedDomain:
    """T, by ranks: ranks from 0 on are those of the profile, except among the ties for T.

    limit: d'.
    items: how many items T has: d', or as many as occur.
    next_count: h.
    """

    def __init__(self, profile: Profile, k: int, limit: int | str) -> None:
        self.limit = checked_limit(limit, k)
        occurring = int(profile.at_least(1))
        self.items = min(self.limit, occurring)
        self.next_count = int(profile.counts_at(self.limit)) if occurring > self.limit else 0
        last = int(profile.counts_at(self.items - 1)) if self.items else 0
        # Items with these ranks share the smallest count of T.
        self.ties = int(profile.at_least(last + 1)), int(profile.at_least(last))

    def named(self, ranks: Ranks, rng: np.random.Generator) -> Ranks:
        """The items of these ranks of T, without the nameless, with ties in random order."""
        ranks = ranks[ranks < self.items]
        first, end = self.ties
        if end > self.items:
            tied = ranks >= first
            ranks[tied] = first + rng.choice(end - first, np.count_nonzero(tied), replace=False)
        return ranks


def checked_limit(limit: Any, k: int) -> int:
    """The number d' of items that an option means."""
    try:
        if isinstance(limit, str):
            times = re.fullmatch(r"(\d+(?:\.\d+)?)k", limit.strip())
            value = math.ceil(float(times[1]) * k) if times else 0
        else:
            value = 0 if isinstance(limit, (bool, np.bool_)) else operator.index(limit)
    except (TypeError, OverflowError):
        value = 0
    if not k <= value <= LARGEST_COUNT:
        raise ValueError(
            f"limit is {limit!r}; it must be a number of items of at least k = {k}, or a text such "
            'as "5k" for five times k.'
        )
    return value


def k_or_nothing(
    kind: type[LossThreshold],
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    limit: int | str = DEFAULT_LIMIT,
) -> Draw:
    """`prepare` of a mechanism that selects k items of a limited domain, or nothing.

    kind: the thresholds on the loss of a sequence, or of a set.
    """
    domain = LimitedDomain(profile, k, limit)
    top = profile.first(domain.items, nameless=domain.limit - domain.items)
    delta = min(delta, epsilon / 2)
    rate = loss_rate(epsilon - math.log1p(delta), neighbors)
    first = max(0, int(top.counts_at(k - 1)) - domain.next_count - moves(neighbors))
    something, nothing = kind(top, k, rate), kind(top, k, rate, first=first)
    chance = logistic(
        nothing.log_envelope - rate * first - math.log(delta) - something.log_envelope
    )

    def draw(rng: np.random.Generator) -> Ranks:
        while True:
            silent = rng.random() < chance
            allowed = (nothing if silent else something).propose(rng)
            if allowed is not None:
                return NOTHING if silent else domain.named(something.below(allowed, rng), rng)

    return draw
