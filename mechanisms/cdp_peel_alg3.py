"""CDP-Peel by the paper's Algorithm 3: the published way to sample what `cdp_peel` samples.

Samples, guarantee: those of `cdp_peel`, where it also says how the listing's scale is
    to be read.

How: as listed. Gumbel noise on all d counts, once; the k largest, in descending order. "As
    published" means the published algorithm in vectorised NumPy, not the published Python, and
    noisy counts are compared with all digits of the noise (`_noise`).

    It is kept as the published algorithm in the timing figure, and as a second implementation
    of the same distribution, which the tests compare with `cdp_peel`.

Cost: d Gumbels for each draw. Memory: a few copies of the counts.
"""

import numpy as np

from ._mechanism import Draw, Neighbors, Ranks, moves
from ._noise import candidates, noisy_parts
from ._profile import Profile
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
