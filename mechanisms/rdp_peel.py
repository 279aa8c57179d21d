"""RDP-Peel: k rounds of the exponential mechanism, accounted by Rényi DP.

Samples: what `cdp_peel` samples, with a larger epsilon' per round.

Guarantee: (epsilon, delta)-DP. The log-ratios of the probabilities that neighbours give to an
    item span at most epsilon' in a round (bounded range; for swap neighbours the noise is
    doubled). In the worst case there are two of them, t and t - epsilon', t in [0, epsilon'],
    and the first has probability q = (1 - e^(t - epsilon')) / (1 - e^(-epsilon')). The Rényi
    divergence of order alpha = a + 1 is then log(q e^(a t) + (1 - q) e^(a (t - epsilon'))) / a.
    As a function of t, the sum is a difference of two exponentials, largest at

        e^t = a (1 - e^(-alpha epsilon')) / (alpha (e^(-epsilon') - e^(-alpha epsilon'))),

    and with psi(y) = log(sinh(y/2) / (y/2)) the largest divergence is

        D(alpha) = (alpha psi(alpha epsilon') - psi(epsilon')) / a - psi(a epsilon'),

    which is alpha epsilon'^2 / 8, the bound of `cdp_peel`, to first order, and below it. k rounds
    have k D(alpha), and are (epsilon, delta)-DP if for some alpha

        log(delta) >= a (k D(alpha) - epsilon) + a log(a) - alpha log(alpha).

    The right side is convex in alpha. epsilon' is the largest that satisfies this, less what
    rounding may have added to it: D(alpha) is rounded up by more than its error. It is never less
    than that of `cdp_peel`, and so never less than epsilon / k; with delta = 0 it is just
    epsilon / k, and the mechanism is epsilon-DP.

Cost: that of `cdp_peel`, plus about a millisecond for epsilon', once for each (k, epsilon,
    delta).
"""

import functools
import math

from . import Draw, Neighbors, Profile, cdp_peel

label = "RDP-Peel"
guarantee = "approx"
zero_delta = True
citation = (
    "Durfee, Rogers. Practical Differentially Private Top-k Selection with Pay-what-you-get "
    "Composition. NeurIPS 2019, for the rounds; Dong, Durfee, Rogers. Optimal Differential "
    "Privacy Composition for Exponential Mechanisms. ICML 2020, for the worst case of a round; "
    "Mironov. Rényi Differential Privacy. 2017; Canonne, Kamath, Steinke. The Discrete Gaussian "
    "for Differential Privacy. NeurIPS 2020, for the step from Rényi DP to (epsilon, delta)."
)
color = "#708992"
dash = (1, 0.7)
marker = ">"
order = 130

_GOLDEN = (math.sqrt(5) - 1) / 2
_SINH = [1 / math.factorial(n) for n in range(19, 1, -2)]  # sinh(z)/z - 1 in powers of z^2


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    return cdp_peel.sampler(profile, k, epsilon_per_round(k, epsilon, delta), neighbors)


@functools.lru_cache(maxsize=4096)
def epsilon_per_round(k: int, epsilon: float, delta: float) -> float:
    """The largest epsilon' for which k rounds are known to be (epsilon, delta)-DP."""
    known = cdp_peel.epsilon_per_round(k, epsilon, delta)
    if delta == 0:
        return known

    def private(rate: float) -> bool:
        """Whether some alpha shows it. The search stops at the first, or at the best of all."""
        bound = math.log(delta)
        low, high = -30.0, 50.0  # log(alpha - 1), by golden section
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = (log_delta(math.exp(x), rate, k, epsilon) for x in (left, right))
        while min(at_left, at_right) > bound and high - low > 1e-4:
            if at_left < at_right:
                high, right, at_right = right, left, at_left
                left = high - _GOLDEN * (high - low)
                at_left = log_delta(math.exp(left), rate, k, epsilon)
            else:
                low, left, at_left = left, right, at_right
                right = low + _GOLDEN * (high - low)
                at_right = log_delta(math.exp(right), rate, k, epsilon)
        return min(at_left, at_right) <= bound

    low, high = known, 2 * known
    while private(high):
        low, high = high, 2 * high
    while high - low > 2.0**-30 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if private(middle) else (low, middle)
    return max(known, (1 - 2.0**-40) * low)


def log_delta(a: float, rate: float, k: int, epsilon: float) -> float:
    """log of the least delta that order a + 1 shows for k rounds with epsilon' = rate."""
    return a * (k * divergence(a, rate) - epsilon) - math.log1p(a) - a * math.log1p(1 / a)


def divergence(a: float, rate: float) -> float:
    """D(alpha) of one round with epsilon' = rate, rounded up."""
    alpha = 1 + a
    largest = alpha * _psi(alpha * rate) / a
    return largest - _psi(rate) / a - _psi(a * rate) + 2.0**-49 * largest


def _psi(y: float) -> float:
    """log(sinh(y/2) / (y/2)) for y >= 0, with a relative error below 2**-50."""
    if y > 2:
        return y / 2 - math.log(y) + math.log1p(-math.exp(-y))
    square, series = y * y / 4, 0.0
    for coefficient in _SINH:
        series = (series + coefficient) * square
    return math.log1p(series)
