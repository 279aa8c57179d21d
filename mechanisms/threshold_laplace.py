"""Threshold Laplace: noise on the items that occur, and a threshold that a name must pass.

Samples: of the noisy counts c_i + Laplace(b) of all items with c_i >= 1, the k largest that are
    at least tau, in descending order; fewer if fewer are. A user has at most c items:

        b = c / epsilon,    tau = 1 + the value that Laplace(b) exceeds with probability p,
        p = 1 - (1 - delta)^(1 / c),    so tau = 1 + b log(1 / (2 p)) for p <= 1/2;

    b is twice as large for swap neighbours. The noisy counts of the items that come out may be
    published, too, at no further cost.

Guarantee: (epsilon, delta)-DP where a user has at most c items; it says nothing about others. No
    list of items needs to be public. Let j items that occur in both neighbours change by 1, n occur
    in D only, and m in D' only: these all have count 1, and j + m + n <= c (2 c for a swap, with
    m, n <= c). Each passes with probability p, independently: with q = 1 - p, none of n passes
    with probability q^n. If none does, the distribution f of what comes out otherwise satisfies
    f(A) <= e^(j / b) f'(A) <= e^epsilon f'(A), by the Laplace mechanism. So for a set A of
    outcomes

        P_D(A) - e^epsilon P_D'(A) <= 1 - q^n + q^n f(A) - e^epsilon q^m f'(A)
                                   <= 1 - q^n + f(A) (q^n - q^m) <= max(1 - q^n, 1 - q^m),

    which is at most 1 - q^c = delta.

    This is the usual practice for histograms and partitions with unknown names, in continuous
    noise. With the bound c, a part of the data of users with more items is left out beforehand.

Cost: one noise per distinct count and draw (`_noise`).

Option: contributions, the bound c, by default 1: then the guarantee is for users with one item.
"""

import math
from typing import Any

import numpy as np

from . import Draw, Neighbors, Profile, moves
from ._limited import NOTHING
from ._noise import Quantile, checked_contributions, largest_noisy
from .laplace import quantile

label = "Threshold Laplace"
guarantee = "approx"
output = "partial sequence"
needs_domain = False
citation = (
    "Korolova, Kenthapadi, Mishra, Ntoulas. Releasing Search Queries and Clicks Privately. WWW "
    "2009; Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson. Differentially Private SQL "
    "with Bounded User Contribution. PoPETs 2020."
)
color = "#927441"
dash = (2, 3)
marker = "1"
order = 230


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    contributions: float = 1,
) -> Draw:
    bound = finite_contributions(contributions)
    scale = bound / epsilon * moves(neighbors)
    return sampler(profile, k, lambda x: scale * quantile(x), bound, delta)


def finite_contributions(contributions: Any) -> float:
    """The bound c, which must be finite: nothing is known of a user with any number of items."""
    bound = checked_contributions(contributions)
    if math.isinf(bound):
        raise ValueError(
            f"contributions is {contributions!r}; without a list of items it must be finite."
        )
    return bound


def sampler(profile: Profile, k: int, noise: Quantile, contributions: float, delta: float) -> Draw:
    """`draw(rng)` for noise with these quantiles (`_noise`) and its threshold for names."""
    occurring = int(profile.at_least(1))
    if not occurring:
        return lambda rng: NOTHING
    named, least = profile.first(occurring), threshold(noise, contributions, delta)
    return lambda rng: largest_noisy(named, min(k, occurring), noise, rng, least)


def threshold(noise: Quantile, contributions: float, delta: float) -> float:
    """tau: all of c items of one user stay below it with probability 1 - delta."""
    return 1 + float(noise(np.float64(-math.log1p(-delta) / contributions)))
