"""Gamma: noise of density proportional to exp(-epsilon max_i |x_i|) on the counts, then the top k.

Samples: the k largest of c_i + x_i, in descending order, where all x_i are uniform in [-R, R]
    with one R ~ Gamma(d + 1, 1 / epsilon).

Guarantee: epsilon-DP for both relations. The K-norm mechanism of the l-infinity norm: no count
    changes by more than 1, whether a user is added, removed, or swapped for another. (The order
    alone shows less than the noisy counts: adding the same to all of them changes no order, so
    for add-remove the top k is even epsilon/2-DP. The noise is kept as published.)

Cost: one noise per distinct count and draw (`_noise`). The noise grows with the number of items,
    as d / epsilon.
"""

import numpy as np

from . import Draw, Neighbors, Profile, Ranks
from ._noise import largest_noisy

label = "Gamma"
guarantee = "pure"
citation = (
    "Steinke, Ullman. Between Pure and Approximate Differential Privacy. 2015, theorem 4.1. A "
    "baseline of Gillenwater et al., ICML 2022."
)
paper_name = "Gamma"
color = "#DE9C06"
dash = (2, 1)
marker = "v"
order = 60


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    def draw(rng: np.random.Generator) -> Ranks:
        radius = rng.standard_gamma(profile.d + 1) / epsilon
        # Up to the same constant, R, for all items, which changes no order and would cost digits.
        return largest_noisy(profile, k, lambda x: 2 * radius * np.expm1(-x), rng)

    return draw
