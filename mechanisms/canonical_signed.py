"""Signed Canonical: Canonical with a loss that also tells how far the best set is ahead.

Samples: a set S of k items with probability proportional to exp(-epsilon loss(S) / 2),
    loss(S) = max_{i not in S} c_i - min_{i in S} c_i,
    exp(-epsilon loss(S) / 4) for swap neighbours. The items come in a random order. Unlike that of
    `canonical`, the loss is not cut off at 0: the best set, and no other, has a negative loss,
    minus the gap c_k - c_{k+1}. (If k is the number of items, there is only one set.)

Guarantee: epsilon-DP, for the same reason. Adding or removing a user moves the largest count
    outside of S and the smallest inside by at most 1, in the same direction; swapping one for
    another moves each by at most 1. So the loss changes by at most 1, or 2.

    The probability of the best set is never smaller than that of `canonical`, at the same epsilon.

How: that of `canonical`, with thresholds from minus the gap on. Below 0 there is one set, so these
    thresholds together add exp(epsilon gap / 2) - 1 to the weight of the best set.

Cost: that of `canonical`.
"""

import math

import numpy as np

from ._mechanism import Draw, Neighbors, Ranks
from ._profile import Profile
from ._sequences import loss_rate
from ._thresholds import logistic
from .canonical import SetThreshold

label = "Signed Canonical"
guarantee = "pure"
output = "set"
citation = (
    "This project, after Shekelyan, Loukides. Differentially Private Top-k Selection via Canonical "
    "Lipschitz Mechanism. 2022."
)
color = "#3D0555"
dash = (7, 1, 1, 1, 1, 1, 1, 1)
marker = "4"
order = 115


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    thresholds = SetThreshold(profile, k, loss_rate(epsilon, neighbors))
    best = best_chance(profile, k, thresholds)

    def draw(rng: np.random.Generator) -> Ranks:
        while rng.random() >= best:
            allowed = thresholds.propose(rng)
            if allowed is not None:
                return thresholds.below(allowed, rng)
        return rng.permutation(k)

    return draw


def best_chance(profile: Profile, k: int, thresholds: SetThreshold) -> float:
    """The share of thresholds below 0 among all that are proposed."""
    last, following = profile.counts_at(np.array([k - 1, min(k, profile.d - 1)])).tolist()
    lead = thresholds.rate * (last - following)
    if lead == 0:
        return 0.0
    return logistic(lead + math.log(-math.expm1(-lead)) - thresholds.log_envelope)
