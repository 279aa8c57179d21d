"""How sure is a difference between two samples of trials? Plain tests, in NumPy."""

import math
from dataclasses import dataclass

import numpy as np

# Chance of calling at least one difference sure, over all k of one comparison, when there
# is none. Each k is tested at this level divided by the number of k (Bonferroni).
LEVEL = 0.05


def rank_z(a, b):
    """Mann-Whitney rank test of two samples: the z score, negative where `a` tends to be lower.

    Normal approximation with the corrections for ties and for continuity; 0 if the samples
    are made of one single value.
    """
    n, m = len(a), len(b)
    _, place, size = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    rank = (np.cumsum(size) - (size - 1) / 2)[place]
    surplus = rank[:n].sum() - n * (n + 1) / 2 - n * m / 2
    tied = (size.astype(float) ** 3 - size).sum() / ((n + m) * (n + m - 1))
    variance = n * m / 12 * (n + m + 1 - tied)
    if variance <= 0:
        return 0.0
    return float(np.sign(surplus) * max(abs(surplus) - 0.5, 0) / math.sqrt(variance))


def two_sided(z):
    """The chance of a z score at least this far from 0."""
    return math.erfc(abs(z) / math.sqrt(2))


def distribution_test(a, b):
    """Kolmogorov-Smirnov test of two samples: the chance of distances at least as large.

    The limit for large samples; with ties the true chance is smaller still.
    """
    a, b = np.sort(a), np.sort(b)
    points = np.concatenate([a, b])
    below_a = np.searchsorted(a, points, side="right") / len(a)
    below_b = np.searchsorted(b, points, side="right") / len(b)
    distance = np.abs(below_a - below_b).max()
    x = distance * math.sqrt(len(a) * len(b) / (len(a) + len(b)))
    if x < 0.2:  # the series needs many terms there, and its value is 1 to twelve digits
        return 1.0
    return min(1.0, 2 * sum((-1) ** (j - 1) * math.exp(-2 * (j * x) ** 2) for j in range(1, 101)))


def binomial_tail(successes, n, probability):
    """The chance of at least `successes` in `n` independent tries."""
    hit, miss = math.log(probability), math.log1p(-probability)
    return sum(
        math.exp(
            math.lgamma(n + 1)
            - math.lgamma(i + 1)
            - math.lgamma(n - i + 1)
            + i * hit
            + (n - i) * miss
        )
        for i in range(successes, n + 1)
    )


@dataclass(frozen=True)
class Comparison:
    """Mechanism `a` against mechanism `b` at each k: medians, and a rank test of the trials."""

    k: np.ndarray
    a: np.ndarray
    b: np.ndarray
    z: np.ndarray

    @property
    def lower(self):
        return self.a < self.b

    @property
    def higher(self):
        return self.a > self.b

    @property
    def surely_lower(self):
        return self.lower & (self.z < 0) & self._sure

    @property
    def surely_higher(self):
        return self.higher & (self.z > 0) & self._sure

    @property
    def open(self):
        """Where there is something to win: not both medians are 0."""
        return (self.a > 0) | (self.b > 0)

    @property
    def factor(self):
        """How many times larger `b` is: geometric mean over k, medians padded by 1."""
        return float(np.exp(np.mean(np.log((self.b + 1) / (self.a + 1)))))

    @property
    def _sure(self):
        return np.array([two_sided(z) <= LEVEL / len(self.z) for z in self.z], dtype=bool)


def compare(a, b):
    """Compare two mappings from k to the errors of the trials, at the k that both have."""
    k = sorted(set(a) & set(b))
    return Comparison(
        k=np.array(k, dtype=int),
        a=np.array([np.median(a[i]) for i in k]),
        b=np.array([np.median(b[i]) for i in k]),
        z=np.array([rank_z(a[i], b[i]) for i in k]),
    )
