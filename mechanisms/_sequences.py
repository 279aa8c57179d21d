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

Rounding
--------
Doubles add three errors, none of them large.

Weights: log N(v) is a sum of k logarithms; its error is a few 2**-53 of its size, so the weight
of a threshold has a relative error below 2**-37 while k log d is below 2500.

Blocks: a uniform of 53 bits cannot tell blocks lighter than 2**-53 of all: so blocks are laid out
from the lightest to the heaviest, and when one of the light ones comes up (below 2**-40 of all),
a fresh uniform chooses among these. What can never come up has a probability below 2**-52 in
all: the light blocks together, if they weigh less than 2**-53, and the lightest of them.

Thresholds inside a block: v is accepted with probability N(v) / N(b), then S is one of N(v), so
each sequence gets 1 / N(b) of the proposals with v >= loss(S). A uniform of 53 bits and the
rounding of its logarithm move the distribution function of the proposals by less than 2**-50
(those more than 37 / rate above a never come up), hence all sequences together by that share of
the block. As half of the proposals are accepted, this adds less than 2**-48 in all.

So P'(A) <= exp(eta) P(A) + tau for every set A of outputs, with eta = 2**-37 and tau = 2**-48: a
mechanism that is epsilon-DP with real numbers is (epsilon + 2 eta, (1 + exp(epsilon)) tau)-DP
with doubles, up to the generator's own defects.

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

from . import Neighbors, Profile, Ranks, cut_into_blocks, moves, sequence_at
from ._profile import Floats, Integers
from ._thresholds import Lottery, geometric

_CELLS = 1 << 16  # how many t_r(v) are looked up at once, to bound memory


def loss_rate(epsilon: float, neighbors: Neighbors) -> float:
    """epsilon / (2 Delta): a user who comes or goes changes a loss by at most 1, a swap by 2."""
    return epsilon / (2 * moves(neighbors))


class LossThreshold:
    """Draws thresholds T with P(T = v) ~ N(v) exp(-rate v), and sequences below them.

    log_envelope: log of sum_S exp(-rate loss(S)) with N replaced by its bound in each block.

    For outputs of another kind, whose losses have the same form, a subclass overrides
    `log_number` and `below`. N must be nondecreasing and constant from v = c_1 - c_d on. With
    `first`, thresholds are counted from there: N(first + v) stands in the place of N(v).
    """

    def __init__(
        self, profile: Profile, k: int, rate: float, clip: float = math.inf, first: int = 0
    ) -> None:
        self.profile, self.rate = profile, rate
        self.places = np.arange(k)
        self.top = profile.counts_at(self.places) - first
        log_all = float(self.log_number(np.full(k, profile.d)))
        last = int(min(max(0, profile.spread - first), clip))
        blocks = cut_into_blocks(self._log_numbers, last, log_all, rate)
        self.starts, self.high = blocks.starts.tolist(), blocks.high.tolist()
        self.sizes = [*np.diff(blocks.starts).tolist(), 0]  # 0: the block without an end
        self.blocks = Lottery(blocks.log_weights)
        self.log_envelope = self.blocks.log_total

    def allowed(self, thresholds: Integers | int) -> Ranks:
        """t_r(v) for each place r; of a column of thresholds, a row for each."""
        return self.profile.at_least(self.top - thresholds)

    def log_number(self, allowed: Ranks) -> Floats:
        """log N, the number of sequences whose r-th item is among the first allowed[..., r]."""
        return np.log(allowed - self.places).sum(axis=-1)

    def _log_numbers(self, thresholds: Integers) -> Floats:
        """log N(v) for each of the thresholds v."""
        result = np.empty(len(thresholds))
        step = max(1, _CELLS // len(self.places))
        for i in range(0, len(thresholds), step):
            result[i : i + step] = self.log_number(self.allowed(thresholds[i : i + step, None]))
        return result

    def propose(self, rng: np.random.Generator) -> Ranks | None:
        """Propose a threshold T: t_r(T) for each place, or None if the proposal is rejected."""
        block = self.blocks.draw(rng)
        size, threshold = self.sizes[block], self.starts[block]
        if size == 0:
            return np.full(len(self.places), self.profile.d)
        if size > 1:
            threshold += geometric(rng.random(), self.rate, size)
        allowed = self.allowed(threshold)
        if size > 1:
            log_number = float(self.log_number(allowed))
            if rng.random() >= math.exp(min(0.0, log_number - self.high[block])):
                return None
        return allowed

    def draw(self, rng: np.random.Generator) -> Ranks:
        """Ranks of a sequence, from the exponential mechanism."""
        while (allowed := self.propose(rng)) is None:
            pass
        return self.below(allowed, rng)

    def below(self, allowed: Ranks, rng: np.random.Generator) -> Ranks:
        """Ranks of a uniform sequence of distinct items, the r-th of the first allowed[r]."""
        return np.array(sequence_at(rng.integers(self.places, allowed).tolist()))
