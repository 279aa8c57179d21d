"""How sure is a difference between two samples of trials? Plain tests, in NumPy."""

import math
from dataclasses import dataclass, replace

import numpy as np

# Chance of calling at least one difference sure, over all cells of one statement, when there
# is none. Each cell is tested at this level divided by the number of cells (Bonferroni).
LEVEL = 0.05


def rank_z(a, b):
    """Mann-Whitney rank test of two samples: the z score, negative where `a` tends to be lower.

    Normal approximation with the corrections for ties and for continuity; 0 if the samples
    are made of one single value.
    """
    n, m = len(a), len(b)
    _, place, size = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    if len(size) == 1:
        return 0.0
    rank = (np.cumsum(size) - (size - 1) / 2)[place]
    surplus = rank[:n].sum() - n * (n + 1) / 2 - n * m / 2
    tied = (size.astype(float) ** 3 - size).sum() / ((n + m) * (n + m - 1))
    variance = n * m / 12 * (n + m + 1 - tied)
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
class Cells:
    """Mechanism `a` against mechanism `b`: medians and a rank test at each (dataset, metric, k)."""

    dataset: np.ndarray
    metric: np.ndarray
    k: np.ndarray
    a: np.ndarray
    b: np.ndarray
    z: np.ndarray
    level: float

    def __len__(self):
        return len(self.k)

    @property
    def lower(self):
        """Where `a` is lower: by the medians, and by the ranks of the trials if these are 0."""
        return (self.a < self.b) | (self._both_zero & (self.z < 0))

    @property
    def higher(self):
        return (self.a > self.b) | (self._both_zero & (self.z > 0))

    @property
    def surely_lower(self):
        return self.lower & (self.z < 0) & self._sure

    @property
    def surely_higher(self):
        return self.higher & (self.z > 0) & self._sure

    @property
    def open(self):
        """Where there is something to win: not even the trials are alike at 0 elsewhere."""
        return ~self._both_zero | (self.z != 0)

    @property
    def factor(self):
        """How many times larger `b` is; 1 if all medians are 0."""
        shown = ~self._both_zero
        if not shown.any():
            return 1.0
        ratio, dataset = np.log((self.b + 1) / (self.a + 1))[shown], self.dataset[shown]
        return float(np.exp(np.mean([ratio[dataset == d].mean() for d in np.unique(dataset)])))

    def where(self, chosen):
        """Some of the cells; what was sure stays sure."""
        columns = ("dataset", "metric", "k", "a", "b", "z")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    def reversed(self):
        """Mechanism `b` against mechanism `a`."""
        return replace(self, a=self.b, b=self.a, z=-self.z)

    def of(self, dataset):
        return self.where(self.dataset == dataset)

    @property
    def _both_zero(self):
        return (self.a == 0) & (self.b == 0)

    @property
    def _sure(self):
        return np.array([two_sided(z) <= self.level for z in self.z], dtype=bool)
