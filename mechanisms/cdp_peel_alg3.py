"""CDP-Peel by the paper's Algorithm 3: the published way to sample what `cdp_peel` samples.

Samples, guarantee: those of `cdp_peel`, which also says how the listing's scale is to be read.

How: as listed, in vectorised NumPy. Gumbel noise on all d counts, once; the k largest, in
    descending order, compared with all digits of the noise (`_noise`). It is here for the same
    reasons as `joint_alg1`.

Cost: d Gumbels for each draw. Memory: a few copies of the counts.
"""

import numpy as np

from . import Draw, Neighbors, Profile, Ranks, moves
from ._noise import candidates, noisy_parts
from .cdp_peel import epsilon_per_round

label = "CDP-Peel, as published"
guarantee = "approx"
zero_delta = True
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, algorithm 3."
)
published_of = "cdp_peel"
paper_name = "Algorithm 3"
order = 90


def extra_memory(d: int, k: int) -> int:
    return 50 * d


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    rate = epsilon_per_round(k, epsilon, delta) / moves(neighbors)
    deficits = np.repeat(profile.deficits, profile.items)

    def draw(rng: np.random.Generator) -> Ranks:
        whole, rest = noisy_parts(rng.gumbel(scale=1 / rate, size=profile.d), deficits)
        best = candidates(whole, k)
        return best[np.lexsort((-rest[best], -whole[best]))[:k]]

    return draw
