"""Threshold Gaussian: normal noise on the items that occur, and a threshold for names.

Samples: what `threshold_laplace` does, with normal noise. A user has at most c items:

        sigma = sqrt(c) s, sqrt(2 c) s for swap neighbours,
        tau = 1 + the value that N(0, sigma^2) exceeds with probability 1 - (1 - delta/2)^(1 / c),

    where s is the least noise that is (epsilon, delta/2)-DP for a sensitivity of 1 (`gaussian`).

Guarantee: (epsilon, delta)-DP where a user has at most c items, without a public list of items.
    With the notation of `threshold_laplace`, the j <= c (2 c) common counts have l2 sensitivity
    sqrt(j), so f(A) <= e^epsilon f'(A) + delta/2, and

        P_D(A) - e^epsilon P_D'(A) <= 1 - q^n + q^n f(A) - e^epsilon q^m f'(A).

    For m <= n that is at most 1 - q^n + q^n delta/2; for m > n it is at most
    1 - q^n + (q^n - q^m) f(A) + q^m delta/2 <= 1 - q^m + q^m delta/2. Both are at most
    (1 - q^c) + delta/2 = delta.

Cost: that of `gaussian`.

Option: contributions, the bound c, by default 1.
"""

import math

from . import Draw, Neighbors, Profile, moves
from ._normal import quantile
from .gaussian import noise_per_sensitivity
from .threshold_laplace import finite_contributions, sampler

label = "Threshold Gaussian"
guarantee = "approx"
output = "partial sequence"
needs_domain = False
citation = (
    "Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson. Differentially Private SQL with "
    "Bounded User Contribution. PoPETs 2020, for the threshold; Swanberg, Desfontaines, Haney. "
    "DP-SIPS: A simpler, more scalable mechanism for differentially private partition selection. "
    "PoPETs 2023, for normal noise; Balle, Wang. Improving the Gaussian Mechanism for Differential "
    "Privacy. ICML 2018, for its size."
)
color = "#090128"
dash = (6, 1, 1, 1, 1, 1)
marker = "2"
order = 240


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    contributions: float = 1,
) -> Draw:
    bound = finite_contributions(contributions)
    changes = bound * moves(neighbors)
    sigma = math.sqrt(changes) * noise_per_sensitivity(epsilon, delta / 2)
    return sampler(profile, k, lambda x: sigma * quantile(x), bound, delta / 2)
