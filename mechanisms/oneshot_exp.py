"""Oneshot-Exp: exponential noise on every count, once, then the k largest.

Samples: the k largest of c_i + Exp(b), in descending order, with mean b = k / epsilon
    (2 k / epsilon for swap neighbours).

Guarantee: epsilon-DP. Let D' be D with one more user, and fix the noises of all items but the k
    winners. From D to D', raise the winners' noisy counts by 1: their order stays, no other item
    overtakes them, and each winner's noise is raised by 0 or 1. From D' to D, leave the winners'
    noisy counts as they are: no other item has gained, and each winner's noise is raised by 0
    or 1 again. Noise that is raised stays positive, and its density changes by a factor of
    exp(1 / b) at most; k of them make exp(k / b) = exp(epsilon). For a swap, raise the noisy
    counts by 1: the noises are raised by 0, 1 or 2.

    This is what `laplace` does with noise on both sides: the half below 0 buys nothing.

Cost: one noise per distinct count and draw (`_noise`).
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, moves
from ._noise import largest_noisy
from ._profile import Floats

label = "Oneshot-Exp"
guarantee = "pure"
citation = (
    "Ding, Kifer et al. The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with "
    "Exponential Noise. 2021, for k = 1; Qiao, Su, Zhang. Oneshot Differentially Private Top-k "
    "Selection. ICML 2021, for one round of noise instead of k."
)
color = "#9646F6"
dash = (3, 1.2)
marker = "<"
order = 120


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    mean = k / epsilon * moves(neighbors)
    return lambda rng: largest_noisy(profile, k, lambda x: mean * quantile(x), rng)


def quantile(x: Floats) -> Floats:
    """The value below which standard exponential noise lies with probability exp(-x)."""
    near = -np.log(-np.expm1(-np.minimum(x, math.log(2))))
    return np.where(x < math.log(2), near, -np.log1p(-np.exp(-np.maximum(x, math.log(2)))))
