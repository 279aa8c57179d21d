"""Laplace: Laplace noise on every count, then the k largest.

Samples: the k largest of c_i + Laplace(b), in descending order, with b = min(k, c) / epsilon
    (2 b for swap neighbours), where a user contributes to at most c items.

Guarantee: epsilon-DP.
    Scale k / epsilon: let D' be D with one more user. If the k winners' noises are raised so
    that each winner's noisy count is up by exactly 1, no other item overtakes them in D' and
    their order stays; each shift is 0 or 1, which costs a factor exp(epsilon / k) at most. From
    D' to D, raise the noise of each winner that loses 1 by 1. For a swap, shifts are up to 2.
    Scale c / epsilon: the counts have l1 sensitivity c (2 c for a swap), so even publishing all
    noisy counts is epsilon-DP.

Cost: one noise per distinct count and draw (`_noise`).

Option: contributions, the bound c; by default a user may contribute to every item.
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, moves
from ._noise import checked_contributions, largest_noisy
from ._profile import Floats

label = "Laplace"
guarantee = "pure"
citation = (
    "Ding, Wang, Zhang, Kifer. Free Gap Information from the Exponential and Noisy Max "
    "Mechanisms. 2019; Qiao, Su, Zhang. Oneshot Differentially Private Top-k Selection. ICML "
    "2021. A baseline of Gillenwater et al., ICML 2022."
)
paper_name = "Laplace"
color = "#743E7E"
dash = (5, 1.3, 1, 1.3)
marker = "D"
order = 50


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    contributions: float = math.inf,
) -> Draw:
    scale = min(k, checked_contributions(contributions)) / epsilon * moves(neighbors)
    return lambda rng: largest_noisy(profile, k, lambda x: scale * quantile(x), rng)


def quantile(x: Floats) -> Floats:
    """The value below which standard Laplace noise lies with probability exp(-x)."""
    upper = -np.log(-2 * np.expm1(-np.minimum(x, math.log(2))))
    return np.where(x < math.log(2), upper, math.log(2) - x)
