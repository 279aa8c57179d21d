"""Pair: the exponential mechanism over all sequences, with their true distance as the loss.

Samples: a sequence s of k distinct items with probability proportional to
    exp(-epsilon L(s) / 2),    L(s) = max_r (max{c_j : j not among s_1, ..., s_{r-1}} - c_{s_r}),
    c the counts; exp(-epsilon L(s) / 4) for swap neighbours. L(s) >= 0 is how many users would
    have to come before s is a correct order of the top k. Joint's loss is smaller: to it the
    sequence (2, 3, ..., k + 1) is nearly perfect, though it leaves out the best item.

Guarantee: epsilon-DP. L(s) is the largest c_j - c_i over pairs of items that depend on s alone
    (i chosen, j not before it); adding or removing a user changes each by at most 1, swapping
    one for another by at most 2, and so their maximum.

How: through a threshold on L, by attempts that give every sequence below it the same probability
    without counting them. `_level` has the bound that makes this possible, `_blocks` the
    thresholds. The distribution is exact up to the rounding of doubles.

Where it does not serve: if hundreds of items are within the noise of each other and the counts
    still matter, the bound is too loose, and attempts fail. `prepare` makes some, with a separate
    generator, and raises `mechanisms.Unavailable` if too few succeed. This depends on the data and
    is not private: the mechanism is for experiments.

Cost: where few items are within the noise of each other, dozens of small tables, built in less
    than a second; where many are, at most about 20 seconds and 300 MB. A draw takes a few
    attempts of O(k) where Pair serves well, thousands where it barely does.
"""

import numpy as np

from .. import Draw, Neighbors, Profile, Ranks, Unavailable
from .._sequences import loss_rate
from ._blocks import Distances

label = "Pair"
guarantee = "pure"
citation = (
    "None for sequences; docs/pair.md tells what was searched. For sets the loss is that of "
    "Shekelyan, Loukides. Differentially Private Top-k Selection via Canonical Lipschitz "
    "Mechanism. 2022; a loss that counts users is the inverse sensitivity of Asi, Duchi. Near "
    "Instance-Optimality in Differential Privacy. 2020."
)
color = "#A30502"
dash = (6, 1.2, 2, 1.2)
marker = "p"
order = 150

_SUCCESSES = 4  # how many draws must come out
_ATTEMPTS = 20_000  # among at most this many attempts
_PLACES = 4_000_000  # which fill at most this many places in all


def extra_memory(d: int, k: int) -> int:
    return 500_000_000


def extra_seconds(k: int) -> float:
    return 60


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    distances = Distances(profile, k, loss_rate(epsilon, neighbors))
    if not distances.succeeds(_SUCCESSES, min(_ATTEMPTS, max(_PLACES // k, 100))):
        raise Unavailable(
            f"pair cannot serve these counts at k = {k} and epsilon = {epsilon:g}: too many items "
            "are within the noise of each other; use a smaller k, or another mechanism."
        )

    def draw(rng: np.random.Generator) -> Ranks:
        while (ranks := distances.attempt(rng)) is None:
            pass
        return np.array(ranks)

    return draw
