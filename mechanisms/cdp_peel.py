"""CDP-Peel: k rounds of the exponential mechanism, accounted by concentrated DP.

Samples: in each round item i among those left with probability proportional to
    exp(epsilon' c_i) (exp(epsilon' c_i / 2) for swap neighbours). That is the distribution of
    the k largest of c_i + Gumbel(1 / epsilon'), in descending order (Durfee, Rogers, Lemma 4.2).

Guarantee: (epsilon, delta)-DP. A round is an epsilon'-DP exponential mechanism, hence
    epsilon'^2/8-CDP by its bounded range (Cesar, Rogers 2021); k rounds are k epsilon'^2/8-CDP,
    which gives (epsilon, delta)-DP (Bun, Steinke 2016) for

        epsilon = k epsilon'^2 / 8 + 2 epsilon' sqrt(k log(1/delta) / 8).

    With L = log(1/delta) the positive root is epsilon' = (sqrt(8 L + 8 epsilon) - sqrt(8 L)) /
    sqrt(k), here written without a difference of like numbers. Basic composition allows
    epsilon / k at any delta, so epsilon' is never less than that; with delta = 0 it is just
    that, and the mechanism is epsilon-DP.

    The paper's listing writes Gumbel(k / epsilon') for an epsilon' that is the budget of all
    rounds together. Its lemma, and its published code, mean epsilon' per round and so the scale
    1 / epsilon'; that is what is meant here. There is no factor 2 since counts are monotone when
    users are added or removed; for swap neighbours the factor is needed: a count may go up
    while another goes down, and the range of a round doubles.

How: by proposals from exponential weights (`_peeling`); no Gumbel noise is drawn for items that
    do not come up.

Cost: counting or sorting the counts, then O(log d) per proposal, one per round, plus those of
    items that are gone. Memory: a few copies of the counts.
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, moves
from ._peeling import ExponentialWeights, peel

label = "CDP-Peel"
guarantee = "approx"
zero_delta = True
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, algorithm 3 and lemma 4.2; Durfee, Rogers. "
    "Practical Differentially Private Top-k Selection with Pay-what-you-get Composition. "
    "NeurIPS 2019."
)
paper_name = "CDP-Peel"
color = "#3BB07A"
dash = (1, 1.1)
marker = "^"
order = 40


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    return sampler(profile, k, epsilon_per_round(k, epsilon, delta), neighbors)


def sampler(profile: Profile, k: int, round_epsilon: float, neighbors: Neighbors) -> Draw:
    """`draw(rng)` for k rounds of the exponential mechanism with this epsilon' each."""
    rate = round_epsilon / moves(neighbors)
    weights = ExponentialWeights(profile, k, rate)

    def exponential_mechanism(leader: int, gone: set[int], rng: np.random.Generator) -> int:
        while True:
            rank, _ = weights.propose(leader, rng)
            if rank not in gone:
                return rank

    return lambda rng: peel(weights, exponential_mechanism, rng)


def epsilon_per_round(k: int, epsilon: float, delta: float) -> float:
    """The largest epsilon' for which k rounds are known to be (epsilon, delta)-DP."""
    if delta == 0:
        return epsilon / k
    root = math.sqrt(-8 * math.log(delta))
    concentrated = 8 * epsilon / (math.sqrt(root**2 + 8 * epsilon) + root) / math.sqrt(k)
    return max(concentrated, epsilon / k)
