"""Noise on every count, the plain way: what the definitions say, at full cost.

The fast samplers are compared with these in distribution. All take the arguments of
`mechanisms.get(name).select`. The peeling mechanisms have their plain ways in the package:
`pnf_peel_alg2` and `cdp_peel_alg3`.
"""

import numpy as np

from tests.mechanisms.exact import DRIFT, gaussian_sigma, renyi_round_epsilon


def rdp_peel(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Gumbel noise on all d counts, once, and less of it than that of CDP-Peel."""
    scale = DRIFT[neighbors] / renyi_round_epsilon(k, epsilon, delta)
    return largest(counts + rng.gumbel(scale=scale, size=len(counts)), k)


def laplace(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Laplace noise on all d counts; a user may touch every item."""
    scale = DRIFT[neighbors] * k / epsilon
    return largest(counts + rng.laplace(scale=scale, size=len(counts)), k)


def gaussian(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Normal noise on all d counts; a user may touch every item."""
    sigma = gaussian_sigma(len(counts), epsilon, delta, neighbors)
    return largest(counts + rng.normal(scale=sigma, size=len(counts)), k)


def oneshot_exp(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Exponential noise on all d counts."""
    noise = rng.exponential(DRIFT[neighbors] * k / epsilon, size=len(counts))
    return largest(counts + noise, k)


def gamma(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """A uniform point of a cube whose half-width is Gamma distributed, added to the counts."""
    radius = rng.gamma(len(counts) + 1, 1 / epsilon)
    return largest(counts + rng.uniform(-radius, radius, size=len(counts)), k)


def largest(values, k):
    """Indices of the k largest values, largest first, in O(d + k log k)."""
    top = np.argpartition(values, len(values) - k)[len(values) - k :]
    return top[np.argsort(-values[top])]
