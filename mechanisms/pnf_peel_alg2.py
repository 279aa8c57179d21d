"""PNF-Peel by the paper's Algorithm 2: the published way to sample what `pnf_peel` samples.

Samples, guarantee: those of `pnf_peel`.

How: as listed, in vectorised NumPy. Each of k rounds adds fresh exponential noise to all d counts
    and takes the largest among the items that are left. Counts enter a round as differences from
    the best one left: a constant changes no maximum, and noise added to a huge number would be
    rounded to it. It is here for the same reasons as `joint_alg1`.

Cost: k d exponentials for each draw. Memory: a few copies of the counts.
"""

import numpy as np

from . import Draw, Neighbors, Profile, Ranks, moves

label = "PNF-Peel, as published"
guarantee = "pure"
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, algorithm 2."
)
published_of = "pnf_peel"
every_pair = True
paper_name = "Algorithm 2"
order = 80


def extra_memory(d: int, k: int) -> int:
    return 50 * d


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    rate = epsilon / k / moves(neighbors)
    counts = np.repeat(-profile.deficits.astype(float), profile.items)

    def draw(rng: np.random.Generator) -> Ranks:
        left, chosen, leader = counts.copy(), [], 0
        for _ in range(k):
            while left[leader] == -np.inf:
                leader += 1
            noisy = rng.standard_exponential(profile.d)
            noisy += rate * (left - left[leader])
            chosen.append(int(noisy.argmax()))
            left[chosen[-1]] = -np.inf
        return np.array(chosen)

    return draw
