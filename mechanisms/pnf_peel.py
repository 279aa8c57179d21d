"""PNF-Peel: k rounds of permute-and-flip, each with a k-th of epsilon.

Samples: in each round the item that maximises c_i + X_i among those left, with fresh
    exponential noises X_i of rate epsilon / k (epsilon / 2k for swap neighbours).

Guarantee: epsilon-DP by basic composition. Each round is (epsilon / k)-DP: counts are monotone
    when users are added or removed, so the factor 2 of the noise is not needed; for swap
    neighbours it is.

How: published samplers draw k d noises. A round is permute-and-flip over the items that are left
    with p_i = exp(rate (c_i - c_max)), for which `pnf_joint` derives a race of heads: they come at
    rate P = sum_i p_i, each of item i with probability p_i / P, and one at time x wins with
    probability exp(-(1 - p_i) x); otherwise its item is out for this round. `_peeling` draws them.

Cost: counting or sorting the counts, then per round fewer than 1.31 proposals on average (as in
    `pnf_joint`) of O(log d) each, plus those of items that are gone (`_peeling`). Memory: a
    few copies of the counts.
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, moves
from ._peeling import ExponentialWeights, peel

label = "PNF-Peel"
guarantee = "pure"
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, algorithm 2; McKenna, Sheldon. Permute-and-Flip: "
    "A new mechanism for differentially private selection. NeurIPS 2020; Ding, Kifer et al. The "
    "Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with Exponential Noise. 2021."
)
paper_name = "PNF-Peel"
color = "#CB4A06"
dash = (4, 1.4)
marker = "s"
order = 30


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    weights = ExponentialWeights(profile, k, epsilon / k / moves(neighbors))

    def permute_and_flip(leader: int, gone: set[int], rng: np.random.Generator) -> int:
        time = 0.0
        out: set[int] = set()
        while True:
            time += rng.standard_exponential() / weights.sums[leader]
            rank, count = weights.propose(leader, rng)
            if rank in gone or rank in out:
                continue
            bias = weights.bias(count, weights.top[leader])
            if rng.random() < math.exp((bias - 1.0) * time):
                return rank
            out.add(rank)

    return lambda rng: peel(weights, permute_and_flip, rng)
