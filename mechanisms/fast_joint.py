"""FastJoint: Joint with losses clipped at a bound that is hardly ever reached.

Samples: a sequence S of k distinct items with probability proportional to
    exp(-epsilon min(loss(S), tau) / (2 D)),
    tau = ceil((2 D / epsilon) (log(d (d-1) ... (d-k+1)) + log(1 / beta))),
    where D = 1 for add-remove and 2 for swap neighbours. The loss is that of `joint`; beta
    bounds the probability that the loss of the output reaches tau.

Guarantee: epsilon-DP. tau depends on d, k and epsilon only, and clipping at a constant does not
    increase the sensitivity of the loss.

How: as `joint`, with all sequences allowed from tau on (`_sequences`, clipped losses). The
    published sampler fills a table of tau times k.

Cost: that of `joint`.

Option: beta, in (0, 1), by default 2**-10.
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile
from ._mechanism import checked_number
from ._sequences import LossThreshold, loss_rate

label = "FastJoint"
guarantee = "pure"
citation = (
    "Wu, Zhang. Faster Differentially Private Top-k Selection: A Joint Exponential Mechanism "
    "with Pruning. NeurIPS 2024."
)
color = "#7A1536"
dash = (8, 2)
marker = "*"
order = 100


BETA = 2.0**-10


def prepare(
    profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors, beta: float = BETA
) -> Draw:
    beta = checked_number("beta", beta, 1, "a number between 0 and 1")
    rate = loss_rate(epsilon, neighbors)
    all_sequences = np.log(profile.d - np.arange(k)).sum()
    tau = math.ceil((all_sequences - math.log(beta)) / rate)
    return LossThreshold(profile, k, rate, clip=tau).draw
