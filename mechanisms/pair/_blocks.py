"""The threshold form of `_sequences` for the distance L, whose counts M(v) are not known.

    P(s) ~ sum_{v >= L(s)} exp(-rate v) ~ exp(-rate L(s))

Thresholds are cut into blocks [a, b], each with a `Level` for b, whose attempts give every s with
L(s) <= b with probability 1 / H_b. A draw chooses a block with probability proportional to
H_b sum_{v in block} exp(-rate v), v in it proportional to exp(-rate v), makes an attempt at
level b and keeps s if L(s) <= v; otherwise all is done again. So it keeps s with a probability
proportional to the sum above, whatever the blocks and the levels are. From v = c_0 - c_{d-1} on
all sequences qualify, and one block with Joint's count, which is exact there, reaches to infinity.

Rounding is that of `_sequences`, with one difference: there half of the proposals are kept, here
perhaps one of thousands. An attempt looks at k + 1 uniforms of 53 bits, so what may come up never
or too often has a probability of about k 2**-53 divided by the share of attempts that succeed:
2**-33 for k = 200 and 4 successes in 20,000.

Which blocks, which levels
--------------------------
At first blocks double in length and have Joint's count, which costs nothing and is far too large.
Those that hold much of the weight are given a better level and split where t(l) changes, until
at most half of their proposals are wasted, as far as can be known: a block's level against that
of the block before. Then attempts are made, with a separate generator. If too few of them
succeed, heavy blocks get levels with more bits, and so on. All this is limited by the work done,
not by time: the same counts always get the same blocks.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from .. import Profile
from .._profile import Floats, Integers
from .._thresholds import Lottery, doubling, geometric, log_series
from ._level import Level, inner_ranks

_BITS = (0, 3, 6, 9, 12, 15)  # of the levels, each several times the work of the one before
_NONE = len(_BITS)
_TOLERANCE = 1.0  # in log H, for what is left to Joint's count
_GAIN = 1.0  # in log H, below which more bits are not worth their price
_GROWTH = 3.0  # in log H, above which a block is too long for more bits
_LEVEL_WORK = 60e6  # for one level, in additions
_WORK = 1e9  # for all
_STATES = 25e6  # in the tables kept, 8 bytes each
_IDLE = 1e-6  # share of all below which a block's table is not kept but made when it comes up
_COARSE, _FINE = 0.9, 0.5  # shares of proposals that may be wasted, while more work is costly ...
_FINE_WORK = 1e8  # ... and while less work than this was done
_PATIENCE = 16  # attempts a draw may take before heavy blocks get levels with more bits


@dataclass
class Block:
    """`size` thresholds from `start` on; 0 for the last block, which has no end.

    better: which of _BITS to try next, _NONE if none is worth it.
    constant: whether t(l) is known to be the same for all of its thresholds.
    """

    start: int
    size: int
    level: Level
    better: int
    constant: bool


class Distances:
    """Draws sequences s with P(s) ~ exp(-rate L(s)), by attempts."""

    def __init__(self, profile: Profile, k: int, rate: float) -> None:
        self.profile, self.k, self.rate = profile, k, rate
        self.top = profile.counts_at(np.arange(k))
        self.work = 0.0
        last = profile.spread
        self.blocks = [self._block(a, b - a, 0) for a, b in itertools.pairwise(doubling(last))]
        self.blocks.append(Block(last, 0, Level(np.full(k, profile.d), 0, 0), _NONE, True))
        for most_bits in range(_NONE):
            self._refine(most_bits, _COARSE)
            if self._exhausted() or self.succeeds(4, 4 * _PATIENCE):
                break
        if self.work < _FINE_WORK:
            self._refine(most_bits, _FINE)

    def attempt(self, rng: np.random.Generator) -> list[int] | None:
        """A sequence, as a list of ranks, or None."""
        block = self.blocks[self.lottery.draw(rng)]
        threshold = block.start
        if block.size > 1:
            threshold += geometric(rng.random(), self.rate, block.size)
        ranks = block.level.attempt(rng)
        if ranks is None or (block.size and not _allowed(ranks, self._within(threshold).tolist())):
            return None
        return ranks

    def succeeds(self, successes: int, attempts: int) -> bool:
        """Whether at least this many of the attempts succeed, with a separate generator."""
        rng = np.random.default_rng(0)
        for _ in range(attempts):
            successes -= self.attempt(rng) is not None
            if successes == 0:
                return True
        return False

    def _within(self, threshold: int) -> Integers:
        """t(0), ..., t(k - 1)."""
        return self.profile.at_least(self.top - threshold)

    def _block(self, start: int, size: int, better: int) -> Block:
        """A block with Joint's count; that may do."""
        within = self._within(start + size - 1)
        done = inner_ranks(within, _TOLERANCE) == 0
        return Block(start, size, Level(within, 0, 0), _NONE if done else better, size == 1)

    def _refine(self, most_bits: int, share: float) -> None:
        """Improve and split blocks, with levels of at most this many bits.

        Until at most this share of the proposals is wasted, as far as can be known.
        """
        while True:
            high = np.array([block.level.log_size for block in self.blocks])
            self._lay_out(high)
            wasted = self.lottery.shares * self._wasted(high, most_bits)
            if wasted.sum() <= share or self._exhausted():
                for level in self._levels_in_use():
                    level.build()
                return
            heavy = np.flatnonzero(wasted > wasted.sum() / (2 * len(wasted)))
            fresh = 0.0
            for i in heavy[::-1].tolist():
                block = self.blocks[i]
                if not block.constant and (block.better > most_bits or self._grows(block)):
                    self._split(i)
                else:
                    self._raise(block)
                    fresh += block.level.states
                if fresh > _STATES / 4:  # look again at what is worth keeping
                    break

    def _lay_out(self, high: Floats) -> None:
        """Weigh the blocks, and forget the tables of those that are hardly ever chosen."""
        starts = np.array([block.start for block in self.blocks])
        self.lottery = Lottery(high + log_series(self.rate, starts))
        for level in {block.level for block in self.blocks} - self._levels_in_use():
            level.tables = None

    def _levels_in_use(self) -> set[Level]:
        """The levels whose tables are worth keeping; blocks may share them."""
        blocks = zip(self.blocks, self.lottery.shares, strict=True)
        return {block.level for block, share in blocks if share >= _IDLE}

    def _exhausted(self) -> bool:
        kept = sum(level.states for level in self._levels_in_use())
        return self.work > _WORK or kept > _STATES

    def _wasted(self, high: Floats, most_bits: int) -> Floats:
        """The share of each block's proposals that is wasted; all of it where more can be done."""
        shares = np.ones(len(high))
        done = [block.better > most_bits for block in self.blocks]
        for i, block in enumerate(self.blocks):
            if done[i] and block.constant:
                shares[i] = 0.0
            elif done[i] and i and done[i - 1]:
                shares[i] = -math.expm1(min(high[i - 1] - high[i], 0.0))
        return shares

    def _grows(self, block: Block) -> bool:
        """Whether a block that has a level is too long for a better one, by Joint's count."""
        if block.level.inner == 0:
            return False
        first, last = (self._within(block.start + size) for size in (0, block.size - 1))
        return Level(last, 0, 0).log_size > Level(first, 0, 0).log_size + _GROWTH

    def _raise(self, block: Block) -> None:
        """Give the block a better level, the best one at a bearable price."""
        old, within = block.level, self._within(block.start + block.size - 1)
        inner = inner_ranks(within, _TOLERANCE)
        affordable = (Level(within, inner, bits) for bits in _BITS[block.better :: -1])
        level = next((level for level in affordable if level.work <= _LEVEL_WORK), None)
        same = level and (level.inner, level.bits) == (old.inner, old.bits)
        if level is None or (same and np.array_equal(within, old.within)):
            block.better = _NONE
            return
        level.build()
        self.work += level.work
        gain = old.log_size - level.log_size
        if gain > 0:
            block.level = level
        first = old.bits == level.bits or old.inner == 0  # of its own
        worth_it = any(level.far) and level.bits == _BITS[block.better] and (gain > _GAIN or first)
        block.better = block.better + 1 if worth_it else _NONE

    def _split(self, i: int) -> None:
        """Split the block where t(l) changes for some l, near the middle."""
        block = self.blocks[i]
        stop, middle = block.start + block.size, block.start + block.size // 2
        at = self._next_change(middle)
        if at is None or at >= stop:
            at = self._last_change(middle)
        if at <= block.start:
            block.constant = True
            return
        left = self._block(block.start, at - block.start, _BITS.index(block.level.bits))
        if block.level.log_size < left.level.log_size:
            left.level = block.level  # which holds for smaller thresholds, too
        right = Block(at, stop - at, block.level, block.better, stop - at == 1)
        self.blocks[i : i + 1] = [left, right]

    def _next_change(self, threshold: int) -> int | None:
        """The least difference c_l - c_j from the threshold on, if any."""
        counts, deficits = self.profile.counts, self.profile.deficits
        at = np.searchsorted(deficits, counts[0] - (self.top - threshold), side="left")
        there = at < len(counts)
        return int((self.top[there] - counts[at[there]]).min()) if there.any() else None

    def _last_change(self, threshold: int) -> int:
        """The largest difference c_l - c_j up to the threshold."""
        counts, deficits = self.profile.counts, self.profile.deficits
        at = np.searchsorted(deficits, counts[0] - (self.top - threshold), side="right")
        return int((self.top - counts[at - 1]).max())


def _allowed(ranks: list[int], within: list[int]) -> bool:
    """Whether each rank is among the first t(l), l the leader at its time."""
    leader, last = 0, len(within)
    seen: set[int] = set()
    for rank in ranks:
        if rank >= within[leader]:
            return False
        seen.add(rank)
        while leader in seen:
            leader += 1
        if leader == last:
            break
    return True
