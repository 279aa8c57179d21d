"""Joint: the exponential mechanism over all sequences of k items.

Samples: a sequence S of k distinct items with probability proportional to
    exp(-epsilon loss(S) / 2),    loss(S) = max_r (c_r - c_{s_r}),
    c_1 >= c_2 >= ... the sorted counts; exp(-epsilon loss(S) / 4) for swap neighbours.

Guarantee: epsilon-DP. Adding or removing a user changes each c_r - c_{s_r} by at most 1 (their
    Lemma 3.1), swapping one for another by at most 2.

How: not by the paper's Algorithm 1 (that is `joint_alg1`) but through a threshold on the loss;
    `_sequences` has the derivation.

Cost: counting or sorting the counts (`_ranked`), then O(k) per block of thresholds; O(k) per
    draw. Memory: at most one copy of the counts. No array of d times k.
"""

from . import Draw, Neighbors, Profile
from ._sequences import LossThreshold, loss_rate

label = "Joint"
guarantee = "pure"
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, section 3."
)
paper_name = "Joint"
color = "#0A3A9B"
dash = ()
marker = "o"
order = 10


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    return LossThreshold(profile, k, loss_rate(epsilon, neighbors)).draw
