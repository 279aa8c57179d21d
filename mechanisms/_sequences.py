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

What remains is rounding. log N(v) is a sum of k logarithms; its error is a few 2**-53 of its
size. A uniform of 53 bits cannot tell blocks lighter than 2**-53 of all: so blocks are laid out
from the lightest to the heaviest, and when one of the light ones comes up (below 2**-40 of all),
a fresh uniform chooses among these. What can never come up has a probability below 2**-52 in
all: the light blocks together, if they weigh less than 2**-53, and the lightest of them.

Clipped losses
--------------
If all losses of `clip` or more count as `clip`, the sequences with loss < clip keep their
weight and all others have exp(-rate clip): in the threshold form, N(v) is replaced by the
number of all sequences for v >= clip. The last block then begins at `clip`.

Cost: O(k) logarithms for each block end, and O(k) for each draw. There are dozens to hundreds of
blocks in experiments like the paper's, thousands for k in the ten thousands and a small rate.
Memory: a few copies of the profile.
"""

import math

import numpy as np

_PIECES = 4  # into how many parts a block is split
_LIGHT = 2.0**-40  # share of all below which a block is light
_CELLS = 1 << 20  # how many t_r(v) are looked up at once, to bound memory


def loss_rate(epsilon, neighbors):
    """epsilon / (2 Delta): a user who comes or goes changes a loss by at most 1, a swap by 2."""
    rate = epsilon / (4 if neighbors == "swap" else 2)
    # Losses are integers below 2**54: beyond these bounds no double tells the difference.
    return min(max(rate, 1e-290), 1e290)


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
        order = np.argsort(upper, kind="stable")
        self.starts, self.high = starts[order].tolist(), high[order].tolist()
        self.sizes = np.append(sizes, 0)[order].tolist()  # 0: the block without an end
        self.cumulative = np.cumsum(upper[order])
        self.light = int((upper < _LIGHT * self.cumulative[-1]).sum())
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
        block = _choose(self.cumulative, rng)
        if block < self.light:
            block = _choose(self.cumulative[: self.light], rng)
        size, threshold = self.sizes[block], self.starts[block]
        if size == 0:
            return np.full(len(self.places), self.profile.d)
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


def _choose(cumulative, rng):
    """An index, with probabilities that these are the running sums of."""
    return cumulative.searchsorted(rng.random() * cumulative[-1], side="right")


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
