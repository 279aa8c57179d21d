"""Is a difference between two samples of trials significant? Plain tests, in NumPy."""

import math

import numpy as np

# The chance that any cell of a statement is called significant when there is no difference.
LEVEL = 0.05


def rank_z(a, b):
    """Mann-Whitney rank test of two samples: the z score, negative where `a` tends to be lower.

    Normal approximation, corrected for ties and for continuity; 0 if all values are equal.
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


def holm(chances, level=LEVEL):
    """Which of these tests reject, if all of them together may err with chance `level`?

    Holm's method: the smallest chance is compared with level / n, the next with level / (n - 1),
    and so on until one does not reject.
    """
    chances = np.asarray(chances, dtype=float)
    order = np.argsort(chances, kind="stable")
    below = chances[order] <= level / np.arange(len(chances), 0, -1)
    rejected = np.zeros(len(chances), dtype=bool)
    rejected[order[np.logical_and.accumulate(below)]] = True
    return rejected


def distribution_test(a, b):
    """Kolmogorov-Smirnov test of two samples: the chance of distances at least as large.

    The limit for large samples; with ties the true chance is smaller still.
    """
    points = np.concatenate([a, b])
    below_a, below_b = (np.searchsorted(np.sort(x), points, side="right") / len(x) for x in (a, b))
    distance = np.abs(below_a - below_b).max()
    x = distance * math.sqrt(len(a) * len(b) / (len(a) + len(b)))
    if x < 0.2:  # the series needs many terms there, and its value is 1 to twelve digits
        return 1.0
    return min(1.0, 2 * sum((-1) ** (j - 1) * math.exp(-2 * (j * x) ** 2) for j in range(1, 101)))


def binomial_tail(successes, n, probability):
    """The chance of at least `successes` in `n` independent trials."""
    i = np.arange(n)
    ratios = (n - i) / (i + 1) * probability / (1 - probability)  # of each chance to the last
    logs = n * math.log1p(-probability) + np.cumsum(np.log([1, *ratios]))
    return np.exp(logs[successes:]).sum()
