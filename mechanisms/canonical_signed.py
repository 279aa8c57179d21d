"""Signed Canonical: Canonical with a loss that also tells how far the best set is ahead.

Samples: a set S of k items with probability proportional to exp(-epsilon loss(S) / 2),
    loss(S) = max_{i not in S} c_i - min_{i in S} c_i,
    exp(-epsilon loss(S) / 4) for swap neighbours. The items come in a random order. Unlike that of
    `canonical`, the loss is not cut off at 0: the best set, and no other, has a negative loss,
    minus the gap c_k - c_{k+1}. (If k is the number of items, there is only one set.)

Guarantee: epsilon-DP, for the same reason. The probability of the best set is never smaller than
    that of `canonical`, at the same epsilon.

How: that of `canonical`, with thresholds from minus the gap on. Below 0 there is one set, so these
    thresholds together add exp(epsilon gap / 2) - 1 to the weight of the best set.

Cost: that of `canonical`.
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, Ranks
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
    last, following = profile.counts_at(np.array([k - 1, min(k, profile.d - 1)])).tolist()
    lead = thresholds.rate * (last - following)
    best = 0.0  # the share of thresholds below 0 among all that are proposed
    if lead > 0:
        best = logistic(lead + math.log(-math.expm1(-lead)) - thresholds.log_envelope)

    def draw(rng: np.random.Generator) -> Ranks:
        while rng.random() >= best:
            allowed = thresholds.propose(rng)
            if allowed is not None:
                return thresholds.below(allowed, rng)
        return rng.permutation(k)

    return draw
