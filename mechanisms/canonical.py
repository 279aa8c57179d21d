"""Canonical: the exponential mechanism over all sets of k items.

Samples: a set S of k items with probability proportional to exp(-epsilon loss(S) / 2),
    loss(S) = max(0, max_{i not in S} c_i - min_{i in S} c_i),
    by how much the best item left out is ahead of the worst item taken; exp(-epsilon loss(S) / 4)
    for swap neighbours. The items come in a random order.

Guarantee: epsilon-DP. Adding or removing a user changes c_i - c_j by at most 1 for every i and j,
    swapping one for another by at most 2; the loss, the largest of such differences or 0, changes
    by no more.

How: through a threshold on the loss (`_sequences`), which needs the number N(v) of sets with
    loss <= v, and to draw one of them. Let h + 1 be the best rank that S misses: S holds the ranks
    1, ..., h, and its loss is c_{h+1} - min_{i in S} c_i. So it has loss <= v exactly if its other
    k - h items are among the ranks h + 2, ..., t_{h+1}(v), where t_r(v) = #{j : c_j >= c_r - v}.
    Only the true top k misses none of the first k, and so

        N(v) = 1 + sum_{h=0}^{k-1} C(t_{h+1}(v) - h - 1, k - h).

    A set with loss <= v is drawn by choosing h in proportion to its term, then a uniform
    (k - h)-subset of those ranks.

    Rounding adds to that of `_sequences` a relative error of each weight below 2**-49 times
    1 + log N(v) (`_binomials`), and less than k 2**-53 for the probability of each h.

Cost: that of `joint`.
"""

import numpy as np

from . import Draw, Neighbors, Profile, Ranks, sequence_at
from ._binomials import log_binomials
from ._profile import Floats
from ._sequences import LossThreshold, loss_rate
from ._thresholds import choose

label = "Canonical"
guarantee = "pure"
output = "set"
citation = (
    "Shekelyan, Loukides. Differentially Private Top-k Selection via Canonical Lipschitz "
    "Mechanism. 2022."
)
color = "#111111"
dash = (5, 1.2, 1, 1.2, 1, 1.2)
marker = "X"
order = 110


class SetThreshold(LossThreshold):
    """Thresholds on the loss of a set, and sets below them."""

    def log_number(self, allowed: Ranks) -> Floats:
        terms = self._log_terms(allowed)
        largest = terms.max(axis=-1, initial=0.0)
        total = np.exp(terms - largest[..., None]).sum(axis=-1) + np.exp(-largest)
        return largest + np.log(total)

    def _log_terms(self, allowed: Ranks) -> Floats:
        """log of the number of sets for h = 0, ..., k - 1."""
        return log_binomials(allowed - self.places - 1, len(self.places) - self.places)

    def below(self, allowed: Ranks, rng: np.random.Generator) -> Ranks:
        """Ranks of a uniform set with loss <= v, where allowed holds t_1(v), ..., t_k(v)."""
        k = len(self.places)
        terms = np.append(self._log_terms(allowed), 0.0)
        cumulative = np.exp(terms - terms.max()).cumsum()
        h = choose(cumulative, rng)
        if h == k:
            return rng.permutation(k)
        positions = rng.integers(self.places[: k - h], allowed[h] - h - 1)
        further = (h + 1 + rank for rank in sequence_at(positions.tolist()))
        return rng.permutation([*range(h), *further])


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    return SetThreshold(profile, k, loss_rate(epsilon, neighbors)).draw
