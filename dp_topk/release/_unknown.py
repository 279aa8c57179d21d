"""An unknown domain: the items that can come out are found in the data.

Without a public list of items, the name of an item may give away by itself that somebody is in the
data. So only items that stand out are named; one more outcome, "nothing", stands for the others.

What is released
----------------
A number `limit` (written L below) is chosen without looking at the data; L >= k. T has the L items
with the largest counts among those that occur, where ties go by name; h is the next count, or 0 if
no more items occur. Let s be 1, or 2 for swap neighbours: how far two counts can drift apart.

*Peeling* (the default). Rounds as in `_peeling` over the items of T that are left and M = ceil(L /
delta_1) dummies with the count h + s. It stops after k items, or when a dummy comes up. So 0 to k
items come out, best first. An end before the k-th says "no further item is safe to name", not
"there are no more items".

*Whole*. T is filled up to L with nameless items of count 0. With the counts c_1 >= ... >= c_L of T
and the losses of `top_k` (or `top_k_set`), a sequence (a set) S of k items of T and nothing weigh

    w(S) = e^(-r loss(S)),    w(nothing) = (1 / delta) sum_S e^(-r max(loss(S), v)),
    v = max(0, c_k - h - s),    r = epsilon / (2 s).

An S with a nameless item counts as nothing. So k items come out, or none.

What is promised
----------------
(epsilon, delta)-differential privacy for one user with any number of items.

What is assumed
---------------
A user adds at most 1 to each count. `limit` and k were chosen without looking at the data, and the
names of items do not depend on it: an item has the same name whoever else is in the data.

Why it holds
------------
D and D' are neighbours, T and T' their T, G = T ∩ T'. An item is *bad* if it is in T but not in T'.

*A bad item has a count of at most h + s.* In D' it does not occur or is not among the L largest, so
there its count is at most h'. Counts and the (L+1)-th largest of them move together: when a user
comes, neither falls and neither rises by more than 1, so c <= c' + 1 <= h' + 1 <= h + 1 if D has
the user more, and c <= c' <= h' <= h + 1 if it has one less. A swap is both, one after the other: c
<= c' + 1 and h' <= h + 1.

*Peeling.* Let P be the distribution of the output for D, P' that for D', and Q and Q' those of the
same rounds over G and the dummies alone. An output is good if all of its items are in G.

(1) P(an output that is not good) <= delta_1. Some bad item came before a dummy. Which of the bad
    items and the dummies is first does not depend on the other items, and of the weight of all of
    these the bad ones, at most L with weights of at most that of one dummy each, have at most
    L / (L + M) <= delta_1.
(2) P(S) <= Q(S) for every good S: in each round the same outcome has the same weight, among more.
(3) P'(S) >= Q'(S) / (1 + delta_1)^k for every good S. In each round all that D' has more weighs at
    most L dummies' weight (by the same argument for D'), and so at most delta_1 times the dummies.
(4) Q and Q' are k rounds over one set of outcomes, whose scores, h + s among them, move as the
    counts of users do. So they are (epsilon_0, delta_2)-DP if epsilon' = `epsilon_per_round(k,
    epsilon_0, delta_2)`.

For every set A of outputs, with good part A_0,

    P(A) <= delta_1 + Q(A_0) <= delta_1 + e^epsilon_0 Q'(A_0) + delta_2
         <= e^epsilon_0 (1 + delta_1)^k P'(A) + delta_1 + delta_2,

which is (epsilon, delta)-DP for epsilon_0 = epsilon - k delta_1 and delta_1 + delta_2 = delta.

*Whole.* A nameless item is bad, too, where T has more of them than T', and its count is 0. (For
sets, the largest count outside S is that outside S of all items if L > k, since T has the largest;
if L = k, there is one set only.)

(1) P(S has a bad item) <= delta. If S has one, loss(S) >= v: the item stands in for one with a
    count of at least c_k, or v = 0. So all these S together weigh at most the part of the sum in
    w(nothing) that belongs to them, which is at most delta w(nothing).
(2) For an S from G, loss(S) is a difference of counts or order statistics, or the largest of
    several, and differs between D and D' by at most s. So w(S) differs by a factor of at most
    e^(r s).
(3) w(nothing) and the sum of all w(S) depend on c_1, ..., c_L and h alone. Each of these is an
    order statistic and moves as counts do, and if an S of D corresponds to the S of D' with the
    same ranks, their losses differ by at most s. So both sums differ by a factor of at most
    e^(r s).

The probabilities of nothing and of each S from G therefore differ by a factor of at most
e^(2 r s) = e^epsilon, and all else has a probability of at most delta.

How it is drawn
---------------
Dummies are items of a round (`Left` in `_outputs`), so N(v) stays an integer. With delta = p / q,
nothing is q copies for p copies of each S (`OrNothing`), again an integer.
"""

import heapq
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp_topk.mechanisms import Profile

from ._inputs import Names, order_of_names
from ._lottery import RandBits
from ._outputs import Left, OrNothing, Sequences, Sets
from ._peeling import epsilon_per_round, peel
from ._threshold import Threshold


class Limited(NamedTuple):
    """The items that can come out, T."""

    items: list[int]  # where they stand in the input, largest count first
    counts: list[int]  # of these items
    next_count: int  # h


def limited(counts: NDArray[np.int64], limit: int, names: Names) -> Limited:
    """The `limit` items with the largest counts among those that occur; ties go by name."""
    items, next_count = np.flatnonzero(counts), 0
    if len(items) > limit:
        next_count = int(np.partition(counts, -limit - 1)[-limit - 1])
        items, tied = np.flatnonzero(counts > next_count), np.flatnonzero(counts == next_count)
        keys = zip(map(order_of_names, names(tied.tolist())), tied, strict=True)
        first = heapq.nsmallest(limit - len(items), keys)
        items = np.append(items, np.array([item for _, item in first], np.int64))
    items = items[np.argsort(-counts[items], kind="stable")]
    return Limited(items.tolist(), counts[items].tolist(), next_count)


def profile_of(counts: list[int], nameless: int = 0) -> Profile:
    """The profile of counts above 0, and of this many further items of count 0."""
    values, items = np.unique(np.array(counts, np.int64), return_counts=True)
    if nameless:
        values, items = np.insert(values, 0, 0), np.insert(items, 0, nameless)
    return Profile(values[::-1], items[::-1])


def shares(k: int, epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon' and delta_1: all of delta goes to the dummies, or half of it to the rounds.

    Whichever gives the larger epsilon'; and never so much for the dummies that k delta_1 takes more
    than a hundredth of epsilon.
    """
    options = []
    for part in (delta, delta / 2):
        dummies = min(part, epsilon / (100 * k))
        rest = delta - dummies if part < delta else Fraction(0)
        options.append((epsilon_per_round(k, epsilon - k * dummies, rest), dummies))
    return max(options)


def draw_unknown(
    outputs: type[Sequences] | type[Sets] | None,
    domain: Limited,
    limit: int,
    k: int,
    epsilon: Fraction,
    delta: Fraction,
    drift: int,
    randbits: RandBits,
) -> list[int]:
    """Items of the limited domain, as indices into the input.

    outputs: what all k items make or nothing comes out; without it, up to k items by peeling.
    """
    items, counts, next_count = domain
    if outputs:
        profile = profile_of(counts, limit - len(items))
        least = max(0, int(profile.counts_at(k - 1)) - next_count - drift)
        whole = OrNothing(outputs(profile, k), least, delta)
        ranks = Threshold(whole, epsilon / (2 * drift)).draw(randbits)
        return [items[rank] for rank in ranks] if max(ranks, default=0) < len(items) else []
    if not items:
        return []
    per_round, for_dummies = shares(k, epsilon, delta)
    left = Left(profile_of(counts), math.ceil(limit / for_dummies), next_count + drift)
    return [items[rank] for rank in peel(left, k, per_round / drift, randbits)]
