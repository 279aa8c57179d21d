"""Gaussian: normal noise on every count, then the k largest.

Samples: the k largest of c_i + N(0, sigma^2), in descending order.

Guarantee: (epsilon, delta)-DP. What comes out is an order, and adding the same number to all counts
    changes no order: it depends only on the noisy counts projected off the vector of ones. There
    the noise is still normal with variance sigma^2 in every direction. Of d items, let a user's
    change move m up and n down by 1. The length of its projection is

        sqrt(m + n - (m - n)^2 / d),

    where n = 0 or m = 0 if users are added or removed. Where a user contributes to at most c
    items, m, n <= c, and Delta is the largest of these lengths: sqrt(m (1 - m/d)) with
    m = min(c, d/2), at most sqrt(d) / 2; for a swap sqrt(2 c), at most sqrt(d) (d/2 rounded for
    odd d). Where users may have all items, this is half the noise that publishing the noisy
    counts would need. With s = sigma / Delta the least delta is

        Phi(1/(2 s) - epsilon s) - e^epsilon Phi(-1/(2 s) - epsilon s),

    which falls with s; s is the least that meets delta. The difference loses digits where epsilon
    is small and overflows where it is large, so it is taken under an integral of positive terms:

        int_0^oo phi(y + g) (1 - e^(-y/s)) dy,    g = epsilon s - 1/(2 s),

    phi the normal density. The trapezoidal rule in log(y) has a relative error below 2**-40;
    sigma is rounded up by more than that, and by what the difference in g may have lost.

Cost: one noise per distinct count and draw (`_noise`), instead of one per item; for sigma, a few
    milliseconds, once for each (epsilon, delta). The noise grows with sqrt(c) up to c = d/2.

Option: contributions, the bound c; by default a user may contribute to every item.
"""

import functools
import math

import numpy as np

from . import Draw, Neighbors, Profile
from ._noise import checked_contributions, largest_noisy
from ._normal import quantile

label = "Gaussian"
guarantee = "approx"
citation = (
    "Balle, Wang. Improving the Gaussian Mechanism for Differential Privacy: Analytical "
    "Calibration and Optimal Denoising. ICML 2018, theorem 8."
)
color = "#A5AF5C"
dash = (3, 1, 1, 1)
marker = "d"
order = 140


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    contributions: float = math.inf,
) -> Draw:
    bound = checked_contributions(contributions)
    sigma = sensitivity(profile.d, bound, neighbors) * noise_per_sensitivity(epsilon, delta)
    return lambda rng: largest_noisy(profile, k, lambda x: sigma * quantile(x), rng)


def sensitivity(d: int, contributions: float, neighbors: Neighbors) -> float:
    """The l2 sensitivity of the order of d counts, for users with at most c items."""
    bound = math.floor(min(contributions, d))
    if neighbors == "swap":
        return math.sqrt(2 * bound if 2 * bound <= d else d - d % 2 / d)
    up = min(bound, d // 2)
    return math.sqrt(up * (1 - up / d))


@functools.lru_cache(maxsize=4096)
def noise_per_sensitivity(epsilon: float, delta: float) -> float:
    """The least sigma, for l2 sensitivity 1, that is (epsilon, delta)-DP, rounded up."""
    # Counts are integers below 2**54: beyond these bounds no double tells the difference.
    epsilon = min(max(epsilon, 1e-250), 1e100)
    bound = math.log(delta) - 2.0**-40
    low = high = 1.0
    while log_delta(high, epsilon) > bound:
        low, high = high, 2 * high
    while log_delta(low, epsilon) <= bound:
        low, high = low / 2, low
    while high - low > 2.0**-45 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if log_delta(middle, epsilon) <= bound else (middle, high)
    return high * (1 + 2.0**-50)


def log_delta(s: float, epsilon: float) -> float:
    """log of the least delta of normal noise that is s times the sensitivity."""
    shift, half = epsilon * s, 0.5 / s
    g = shift - half - 2.0**-50 * (shift + half)
    # phi(y + g) / phi(max(g, 0)) is 1 at 0 or has its peak at -g, and falls over a length of
    # 1 or 1 / g; what is below e**-40 of all that, or beyond e**5, does not matter.
    ahead, behind = max(g, 0.0), max(-g, 0.0)
    y = (behind + 1 / (1 + ahead)) * _GRID
    density = np.exp(-((y - behind) ** 2) / 2 - ahead * y)
    integral = _STEP * np.sum(density * -np.expm1(-y / s) * y)
    return math.log(integral) - ahead**2 / 2 - math.log(2 * math.pi) / 2


_STEP = 1 / 16
_GRID = np.exp(np.arange(-40, 5, _STEP))
