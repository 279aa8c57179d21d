"""Sequences within a distance: drawing them uniformly without being able to count them.

Ranks count from 0, c_0 >= c_1 >= ..., and t(l) = #{j : c_j >= c_l - v}. The distance L(s) of a
sequence s (see `pair`) is at most v exactly if every item chosen is among the first t(l), where
l, the leader, is the smallest rank not yet chosen: after n choices there are t(l) - n others to
choose from. The number M(v) of such sequences has no short formula. It need not be known.

An attempt
----------
Let g be a positive function of what was chosen so far, such that

    sum of g(next) over all choices allowed  <=  g(now),      g >= 1 after k choices.      (*)

Make each choice with probability g(next) / g(now), give up with what is left, and keep a
finished s with probability 1 / g(end). The product telescopes: each of the M(v) sequences comes
out with probability exactly 1 / H, H = g(nothing chosen) >= M(v). How good g is decides how many
attempts it takes, never what they draw.

The bound
---------
g is Joint's count of what is still to be chosen, prod_{r >= n} (t(r) - r), which satisfies (*) by
itself because l <= n, times a table G over what is known of a state:

    l     the pointer: all ranks below l are chosen
    b     which of the ranks l, l + 1, ..., l + q are chosen, one bit each; the leader's comes first
    m     how many of the far ranks are chosen: those beyond, below `inner` and below t(l)
    u     how many of the outer ranks are chosen, which are those from `inner` on

times prod pi(y) over the far ranks y chosen, with weights pi that fall with the rank: a far item
that is chosen is worth the more the sooner it will lead. q is `bits`, or less where t(l) or
`inner` end the window sooner. While the leader is below `inner`, outer ranks cannot lead: only
their number matters. Once all inner ranks are chosen, G is 1 and Joint's count takes over. So
inner = 0 is Joint itself, and inner = k with bits enough for every window is exact: H = M(v).

Backward from k choices. With n = l + |b| + m + u choices made, those of a state with an unchosen
leader are the unchosen ranks of b, far ranks, and outer ranks:

    (t(n) - n) G(l, b, m, u) = sum_{x not in b} G(l, b + x, m, u)
                             + G(l, b, m + 1, u) * (sum of the largest pi of the far ranks,
                                                    all but m of them)
                             + G(l, b, m, u + 1) * (t(l) - inner - u)

The second line is an upper bound since m far ranks are taken, whichever they are. With the leader
chosen the pointer moves on by one, and the nearest far rank y turns into the last bit: G(l, b, m,
u) is the larger of what follows if y is not chosen, and if it is,

    G(l + 1, b shifted, m, u)   and   G(l + 1, b shifted + y, m - 1, u) / pi(y).

After k choices G is one over the product of the m smallest pi. So (*) holds in every state. Sums
are enlarged by a relative 10**-11, a thousand times what rounding can take from them.
"""

import functools
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._profile import Floats, Integers
from .._thresholds import sequence_at

OUTER = -1  # in place of an outer rank that is not yet drawn

_SLACK = 1 + 1e-11
_TINY = 1e-280  # below it a double may have lost digits
_STEP = 1000  # what a step of building costs beyond its sums, in sums
_LARGEST = 1e6  # states of one leader
_KEPT = 4000  # plans for tables up to this size are kept


class Level:
    """Attempts at sequences s with L(s) <= v, given within = t(0), ..., t(k - 1) for this v.

    log_size: log H; known once the level is built, or if inner = 0.
    states: the size of its tables.
    work: about how many additions it takes to build; infinite if that takes too much memory.
    """

    def __init__(self, within: Integers, inner: int, bits: int) -> None:
        self.within, self.inner, self.bits = within, inner, bits
        self.k = len(within)
        self.choices = within - np.arange(self.k)  # Joint's, for each place
        self.log_size = float(np.log(self.choices).sum()) if inner == 0 else math.inf
        ranks, end = np.arange(inner), np.minimum(within[:inner], inner)
        near = np.minimum(end - 1 - ranks, bits)
        far = end - 1 - ranks - near
        outer = np.minimum(within[:inner] - end, self.k - ranks)
        self.near, self.far, self.outer = near.tolist(), far.tolist(), outer.tolist()
        sizes = (far + 1.0) * (outer + 1.0) * 2.0 ** (near + 1)
        self.states = float(sizes.sum())
        self.work = float((sizes * (near + 3)).sum() + _STEP * (near + far + outer + 2).sum())
        if sizes.max(initial=0) > _LARGEST:
            self.work = math.inf
        # Of doubles, by state. An attempt that finds none makes its own.
        self.tables: list[Any] | None = None

    def far_ranks(self, leader: int) -> range:
        first = leader + self.near[leader] + 1
        return range(first, first + self.far[leader])

    def build(self) -> None:
        """Make the tables, from the last leader to the first, if there are none."""
        if self.tables is not None or self.inner == 0:
            return
        log_weights = _log_weights(self.within)
        weights = np.exp(log_weights)
        tables: list[Any] = []
        units: list[float] = []
        scales: list[float] = []
        table, scale, smallest = np.ones((1, 1, self.k - self.inner + 1)), 0.0, 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # judged by what comes out
            for leader in reversed(range(self.inner)):
                one = math.exp(-scale) if scale > -700 else math.inf
                values, least = self._values(leader, table, log_weights, weights, one)
                # A table is in units of its own, lest long sequences leave the range of doubles.
                unit = 2.0**300 if values[0] < 1e-100 else 1.0
                values *= unit
                scale -= math.log(unit)
                smallest = min(smallest, least)
                table = values[:-1].reshape(-1, self.far[leader] + 1, self.outer[leader] + 1)
                tables.append(values.data)
                units.append(unit)
                scales.append(scale)
        self.tables, self.units, self.scales = tables[::-1], units[::-1], scales[::-1]
        self.weights, self.places = weights.tolist(), self.choices.tolist()
        start, self.log_size = self.tables[0][0], math.inf
        if smallest > _TINY and math.isfinite(start):
            self.log_size = float(np.log(self.choices).sum()) + math.log(start) + scale

    def _values(
        self, leader: int, following: Floats, log_weights: Floats, weights: Floats, one: float
    ) -> tuple[Floats, float]:
        """G of all states with this leader, by the next leader's table, and the least sum.

        one: the number that stands for 1 in these tables.
        """
        q, m, u = self.near[leader], self.far[leader], self.outer[leader]
        first = leader + q + 1
        ends = _ends(log_weights[first : first + m]) * one
        unchosen = _unchosen(weights[first : first + m])
        outside = int(self.within[leader]) - self.inner
        values = _next_pointer(following, q, m, u, weights[first] if m else 1.0)
        plan = (_kept_plan if len(values) <= _KEPT else _plan)(q, m, u)
        smallest = 1.0
        for beyond in range(min(len(plan) - 1, self.k - leader), -1, -1):
            at, near, far, outer, ms, us = plan[beyond]
            if leader + beyond == self.k:
                values[at] = ends[ms]
                continue
            sums = values[near].sum(axis=0)
            if m:
                sums += unchosen[ms] * values[far]
            if u:
                sums += (outside - us) * values[outer]
            sums *= _SLACK / self.choices[leader + beyond]
            smallest = min(smallest, float(sums.min()))
            values[at] = sums
        return values, smallest

    def attempt(self, rng: np.random.Generator) -> list[int] | None:
        """Ranks of a sequence, or None: each s with L(s) <= v with probability 1 / H.

        If inner < k, sequences beyond v come up, too; it is for the caller to reject them.
        """
        if self.inner == 0:
            return self._with_outer_ranks([], [], rng)
        if self.tables is None:
            level = Level(self.within, self.inner, self.bits)
            level.build()
            return level.attempt(rng)
        *uniforms, last = rng.random(self.k + 1).tolist()
        walk = Walk(self)
        for uniform in uniforms:
            if not walk.step(uniform):
                return None
            if walk.leader == self.inner:
                break
        if last * walk.excess() >= 1:
            return None
        return self._with_outer_ranks(walk.chosen, walk.bounds, rng)

    def _with_outer_ranks(
        self, chosen: list[int], bounds: list[int], rng: np.random.Generator
    ) -> list[int]:
        """Draw the outer ranks: for each OUTER, and for the places that are left, as Joint does."""
        limits = np.append(bounds, self.within[len(chosen) :] - self.inner).astype(np.int64)
        if len(limits) == 0:
            return chosen
        positions = rng.integers(np.arange(len(limits)), limits).tolist()
        outer = iter([self.inner + rank for rank in sequence_at(positions)])
        return [next(outer) if rank == OUTER else rank for rank in chosen] + list(outer)


class Walk:
    """A sequence in the making, from choice to choice, by the tables of a built level.

    leader, bits, far, outer: the state l, b, m, u.
    taken: which far ranks are chosen, one bit each.
    chosen: the ranks; an outer rank is OUTER until the end.
    bounds: for each OUTER, how many outer ranks there were to choose from.
    """

    def __init__(self, level: Level) -> None:
        self.level, self.tables = level, level.tables or []
        self.leader = self.bits = self.far = self.outer = self.taken = 0
        self.chosen: list[int] = []
        self.bounds: list[int] = []
        self.value: float = self.tables[0][0]  # G of the state, but for the weights of far ranks

    def step(self, uniform: float) -> bool:
        """Make the choice that a uniform falls to; False, and no choice, if it falls to none.

        The choices lie one after the other, each as long as its share of G: the ranks near the
        leader, the far ranks, the outer ranks.
        """
        level, leader = self.level, self.leader
        outers = level.outer[leader] + 1
        stride = (level.far[leader] + 1) * outers
        table = self.tables[leader]
        here = self.bits * stride + self.far * outers + self.outer
        left = uniform * self.value * level.places[len(self.chosen)]
        for x in range(level.near[leader] + 1):
            if not self.bits >> x & 1:
                value = table[here + (stride << x)]
                if left < value and x == 0:
                    return self._choose_leader(left)
                if left < value:
                    self.bits |= 1 << x
                    return self._chosen_is(leader + x, value)
                left -= value
        if self.far < level.far[leader]:
            value = table[here + outers]
            for rank in level.far_ranks(leader):
                if not self.taken >> rank & 1:
                    if left < value * level.weights[rank]:
                        self.taken |= 1 << rank
                        self.far += 1
                        return self._chosen_is(rank, value)
                    left -= value * level.weights[rank]
        if self.outer < level.outer[leader]:
            value = table[here + 1]
            among = int(level.within[leader]) - level.inner
            if left < value * (among - self.outer):
                self.bounds.append(among)
                self.outer += 1
                return self._chosen_is(OUTER, value)
        return False

    def _chosen_is(self, rank: int, value: float) -> bool:
        self.chosen.append(rank)
        self.value = value
        return True

    def _choose_leader(self, left: float) -> bool:
        """Move on to the next unchosen rank, whose G may be less than the table said."""
        level, leader, bits = self.level, self.leader, self.bits | 1
        far, taken = self.far, self.taken
        factor = 1.0  # between G in the old table and in the new one
        while bits & 1 and leader < level.inner:
            factor *= level.units[leader]
            near = level.near[leader]
            bits >>= 1
            nearest = leader + near + 1
            if level.far[leader] and taken >> nearest & 1:
                bits |= 1 << near
                far -= 1
                taken ^= 1 << nearest
                factor /= level.weights[nearest]
            leader += 1
        value = 1.0
        if leader < level.inner:
            at = (bits * (level.far[leader] + 1) + far) * (level.outer[leader] + 1) + self.outer
            value = self.tables[leader][at]
        if left >= value * factor:
            return False
        self.chosen.append(self.leader)
        self.leader, self.bits, self.far, self.taken, self.value = leader, bits, far, taken, value
        return True

    def excess(self) -> float:
        """g after the last choice, at least 1: a sequence is kept with one over this."""
        if self.leader == self.level.inner:
            return 1.0
        weights = (w for y, w in enumerate(self.level.weights) if self.taken >> y & 1)
        return self.value * math.exp(self.level.scales[self.leader]) * math.prod(weights)


def inner_ranks(within: Integers, tolerance: float) -> int:
    """The least `inner` with which Joint's count, once it takes over, is good enough.

    It counts prod (t(n) - n) over the choices left, where prod (t(inner) - n) is certain: the log
    of their ratio, which falls as inner grows, shall be at most the tolerance.
    """
    places = np.arange(len(within))

    def good(inner: int) -> bool:
        sure = within[inner] - places[inner:]
        return sure[-1] > 0 and np.log((within - places)[inner:] / sure).sum() <= tolerance

    low, high = 0, len(within)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low


def _log_weights(within: Integers) -> Floats:
    """log pi, falling with the rank; any choice is exact, this one keeps H small.

    When a leader that is chosen already is passed over, the next one allows for more: log pi falls
    by that gain, less where windows are small, since G knows those well, and less where places
    run out before the rank leads.
    """
    window = within - np.arange(len(within))
    gain = np.log1p(np.diff(within) / window[:-1])
    known = np.maximum(window - 4, 0) / window
    reached = np.minimum(np.arange(len(within), 0, -1) / window, 1)
    return -np.append(0, np.cumsum(gain * (known * reached)[:-1]))


def _unchosen(weights: Floats) -> Floats:
    """At most how much the unchosen far ranks weigh, for each number of chosen ones."""
    return np.append(0, np.cumsum(weights))[::-1]


def _ends(log_weights: Floats) -> Floats:
    """G after k choices, for each number of far ranks chosen."""
    return np.exp(-np.cumsum(np.append(0, log_weights[::-1])))


def _next_pointer(table: Floats, q: int, m: int, u: int, weight: float) -> Floats:
    """Values for one pointer, given the next one's table: those with the leader chosen.

    The others are still zero; one more zero stands at the end, for choices that do not exist.
    """
    values = np.zeros((2 << q) * (m + 1) * (u + 1) + 1)
    moved = values[:-1].reshape(-1, m + 1, u + 1)[1::2]
    half, u = 1 << q, min(u + 1, table.shape[2])
    if m == 0:
        moved[:, 0, :u] = table[:half, 0, :u]
    else:
        moved[:, :m, :u] = table[:half, :m, :u]  # the nearest far rank is not chosen
        chosen = table[half : 2 * half, :m, :u] / weight  # or it is
        np.maximum(moved[:, 1:, :u], chosen, out=moved[:, 1:, :u])
    return values


def _plan(q: int, m: int, u: int) -> list[tuple[NDArray[Any], ...]]:
    """For each number of ranks chosen beyond an unchosen leader: the states, and their terms.

    States are numbers in the table of shape (2 << q, m + 1, u + 1). For each there are those with
    one more near rank (a row for each bit), far rank, outer rank; then m and u.
    """
    shape = 2 << q, m + 1, u + 1
    size, stride = math.prod(shape), (m + 1) * (u + 1)
    bits, ms, us = (index.ravel() for index in np.indices(shape, dtype=np.int32))
    x = np.arange(q + 1, dtype=np.int32)[:, None]
    chosen = ms + us
    for bit in range(q + 1):
        chosen += bits >> bit & 1
    chosen[bits & 1 == 1] = -1
    order = np.argsort(chosen, kind="stable").astype(np.int32)
    starts = np.searchsorted(chosen[order], np.arange(q + m + u + 2))
    plan: list[tuple[NDArray[Any], ...]] = []
    for start, stop in itertools.pairwise(starts):
        at = order[start:stop]
        near = np.where(bits[at] >> x & 1, size, at + (stride << x))
        far = np.where(ms[at] < m, at + u + 1, size)
        outer = np.where(us[at] < u, at + 1, size)
        plan.append((at, near, far, outer, ms[at], us[at]))
    return plan


_kept_plan = functools.lru_cache(maxsize=256)(_plan)
