"""Each mechanism with independent noise, the plain way: what its definition says, at full cost.

The fast samplers are compared with these, in distribution by the tests and in time by the
benchmark. All take the arguments of `mechanisms.get(name).select`.
"""

import numpy as np

from tests.exact import DRIFT, round_epsilon


def cdp_peel(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Gumbel noise on all d counts, once."""
    scale = DRIFT[neighbors] / round_epsilon(k, epsilon, delta)
    return largest(counts + rng.gumbel(scale=scale, size=len(counts)), k)


def pnf_peel(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Exponential noise on all counts that are left, in each of k rounds."""
    left = np.array(counts, dtype=float)
    chosen = []
    for _ in range(k):
        noise = rng.exponential(DRIFT[neighbors] * k / epsilon, size=len(left))
        chosen.append(int(np.argmax(left + noise)))
        left[chosen[-1]] = -np.inf
    return np.array(chosen)


def laplace(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """Laplace noise on all d counts; a user may touch every item."""
    scale = DRIFT[neighbors] * k / epsilon
    return largest(counts + rng.laplace(scale=scale, size=len(counts)), k)


def gamma(counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng):
    """A uniform point of a cube whose half-width is Gamma distributed, added to the counts."""
    radius = rng.gamma(len(counts) + 1, 1 / epsilon)
    return largest(counts + rng.uniform(-radius, radius, size=len(counts)), k)


def largest(values, k):
    """Indices of the k largest values, largest first, in O(d + k log k)."""
    top = np.argpartition(values, len(values) - k)[len(values) - k :]
    return top[np.argsort(-values[top])]
