"""Sequences of k distinct items by their loss: counting them and drawing them uniformly.

With counts c_1 >= ... >= c_d the loss of a sequence S = (s_1, ..., s_k) of distinct items is

    loss(S) = max_r (c_r - c_{s_r}) >= 0.

For an integer v >= 0 let t_r(v) = #{j : c_j >= c_r - v}. A sequence has loss <= v exactly if
s_r is among the first t_r(v) items for every r. Since t_1(v) <= t_2(v) <= ..., the items
chosen for earlier places are among those allowed for the r-th, and

    N(v) = prod_r (t_r(v) - r + 1)

counts the sequences with loss <= v.

Drawing from an exponential mechanism through a threshold
---------------------------------------------------------
Draw T with P(T = v) proportional to N(v) exp(-rate v), v = 0, 1, 2, ..., and then S uniformly
among the N(T) sequences with loss <= T. Then

    P(S) ~ sum_{v >= loss(S)} N(v) exp(-rate v) / N(v) ~ exp(-rate loss(S)).

So this is the exponential mechanism over all sequences, without a table of d k utilities.

Drawing the threshold
---------------------
N(v) is nondecreasing. On a block [a, b] of thresholds the weights N(v) exp(-rate v) lie
between N(a) exp(-rate v) and N(b) exp(-rate v), two geometric series with known sums. Blocks
are split until the upper sums of all blocks together are at most twice the lower ones: where
N grows fast and the weight matters there are small blocks, elsewhere a block may span
millions of thresholds. A draw then proposes v from the upper series and accepts it with
probability N(v) / N(b). Half of the proposals are accepted, and the result is exact: no
threshold is left out. From v = c_1 - c_d on, N is constant, and one block reaches to infinity.

What remains is rounding. log N(v) is a sum of k logarithms, with a relative error of a few
2**-53; a block whose weight is below 2**-1074 of the largest is never proposed.

Clipped losses
--------------
If all losses of `clip` or more count as `clip`, the sequences with loss < clip keep their
weight and all others have exp(-rate clip): in the threshold form, N(v) is replaced by the
number of all sequences for v >= clip. The last block then begins at `clip`.

Cost: O(k) logarithms for each block end, a few dozen to a few hundred of them, and O(k) for
each draw. Memory: a few copies of the profile.
"""

import math

import numpy as np

_PIECES = 4  # into how many parts a block is split
_CELLS = 1 << 20  # how many t_r(v) are looked up at once, to bound memory


def loss_rate(epsilon, neighbors):
    """epsilon / (2 Delta): a user who comes or goes changes a loss by at most 1, a swap by 2."""
    rate = epsilon / (4 if neighbors == "swap" else 2)
    # Losses are integers below 2**54: beyond these bounds no double tells the difference.
    return min(max(rate, 1e-290), 1e6)


class LossThreshold:
    """Proposes thresholds T with P(T = v) ~ N(v) exp(-rate v), and sequences below them.

    log_envelope: log of sum_S exp(-rate loss(S)) with N replaced by its bound in each block.
    """

    def __init__(self, profile, k, rate, clip=math.inf):
        self.profile, self.rate = profile, rate
        self.places = np.arange(k)
        self.top = profile.counts_at(self.places)
        self._split_into_blocks(min(int(profile.counts[0] - profile.counts[-1]), clip))

    def _split_into_blocks(self, last):
        """Make blocks [starts[i], starts[i + 1]) and the last one, [last, infinity)."""
        starts = np.array([0, *(1 << i for i in range(last.bit_length())), last])
        starts = np.unique(starts[starts <= last])
        all_sequences = np.log(self.profile.d - self.places).sum()
        # log N at the first and at the last threshold of each block
        low = np.append(self._log_sequences(starts[:-1]), all_sequences)
        high = np.append(self._log_sequences(starts[1:] - 1), all_sequences)
        while True:
            sizes = np.diff(starts)
            # log of sum_v exp(-rate v) over the block, times 1 - exp(-rate)
            series = -self.rate * starts
            series[:-1] += np.log(-np.expm1(-self.rate * sizes))
            scale = (high + series).max()
            upper = np.exp(high + series - scale)
            excess = upper - np.exp(low + series - scale)
            if 2 * excess.sum() <= upper.sum():
                break
            split = np.flatnonzero(excess[:-1] > excess.sum() / (2 * len(excess)))
            inside = sizes[split, None] * np.arange(1, _PIECES) // _PIECES
            new = np.unique((starts[split, None] + inside)[inside > 0])
            at = np.searchsorted(starts, new)
            starts = np.insert(starts, at, new)
            low = np.insert(low, at, self._log_sequences(new))
            high = np.insert(high, at - 1, self._log_sequences(new - 1))
        self.starts, self.sizes, self.high = starts.tolist(), sizes.tolist(), high.tolist()
        self.cumulative = np.cumsum(upper)
        self.log_envelope = float(scale + np.log(self.cumulative[-1]))

    def _log_sequences(self, thresholds):
        """log N(v) for each of the thresholds v."""
        result = np.empty(len(thresholds))
        step = max(1, _CELLS // len(self.places))
        for i in range(0, len(thresholds), step):
            allowed = self.profile.at_least(self.top - thresholds[i : i + step, None])
            result[i : i + step] = np.log(allowed - self.places).sum(axis=1)
        return result

    def propose(self, rng):
        """Propose a threshold T: t_r(T) for each place, or None if the proposal is rejected."""
        block = self.cumulative.searchsorted(rng.random() * self.cumulative[-1], side="right")
        if block >= len(self.sizes):
            return np.full(len(self.places), self.profile.d)
        size, threshold = self.sizes[block], self.starts[block]
        if size > 1:
            step = -math.log1p(rng.random() * math.expm1(-self.rate * size)) / self.rate
            threshold += min(int(step), size - 1)
        allowed = self.profile.at_least(self.top - threshold)
        if size > 1:
            log_sequences = float(np.log(allowed - self.places).sum())
            if rng.random() >= math.exp(min(0.0, log_sequences - self.high[block])):
                return None
        return allowed

    def sequence(self, allowed, rng):
        """Ranks of a uniform sequence of distinct items, the r-th of the first allowed[r]."""
        return sequence_at(rng.integers(self.places, allowed))


def sequence_at(positions):
    """Items at these positions of a Fisher-Yates shuffle that exists only where it is touched.

    The shuffle begins with every item at its own position. Step r takes the item at
    positions[r] >= r and puts the one from position r there. So after step r the positions
    above r, up to any bound beyond which nothing was taken, hold the items not yet taken.
    """
    taken, moved = [], {}
    for r, position in enumerate(positions.tolist()):
        taken.append(moved.get(position, position))
        moved[position] = moved.get(r, r)
    return np.array(taken)
