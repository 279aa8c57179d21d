"""The paper's worked examples, computed exactly and without any mechanism of this project."""

import itertools
import math

import numpy as np


def losses(counts, k):
    """The possible values of max_r (c_r - c_{s_r}), and how many sequences have each."""
    counts = np.sort(np.asarray(counts))[::-1]
    values = np.unique(counts[:k, None] - counts[None, :])
    values = values[values >= 0]
    # Row r may take any item with c_j >= c_r - v; the r rows above it have taken r of them.
    at_most = [
        math.prod(int((counts >= counts[r] - v).sum()) - r for r in range(k)) for v in values
    ]
    exactly = np.diff(at_most, prepend=0)
    return values[exactly > 0], exactly[exactly > 0]


def exponential(counts, k, epsilon):
    """The exponential mechanism on sequences: losses, their sequences, their probabilities."""
    value, sequences = losses(counts, k)
    weight = sequences * np.exp(-epsilon * value / 2)
    return value, sequences, weight / weight.sum()


def permute_and_flip(counts, k, epsilon):
    """Permute-and-flip on sequences: losses, their sequences, their probabilities.

    As the largest of u + exponential noise: a sequence with p = exp(-epsilon loss / 2) wins
    with probability p * integral over y in (0, 1) of the product over all other sequences of
    (1 - p y), where y = exp(-epsilon z / 2) for the winning value z >= 0.
    """
    value, sequences = losses(counts, k)
    p = np.exp(-epsilon * value / 2)
    y, weight = _quadrature(scale=1 / (sequences * p).sum())
    # p = y = 1 is the end of the range, which is no node of the quadrature.
    product = np.exp((sequences[:, None] * np.log1p(-p[:, None] * y)).sum(axis=0))
    integral = (weight * product / (1 - p[:, None] * y)).sum(axis=1)
    return value, sequences, sequences * p * integral


def _quadrature(scale, pieces=64, nodes=40):
    """Gauss-Legendre on (0, 1), in pieces that are short where exp(-y / scale) is not small."""
    edges = np.concatenate([[0.0], np.geomspace(min(scale, 0.5) / 100, 1.0, pieces)])
    x, w = np.polynomial.legendre.leggauss(nodes)
    half = np.diff(edges)[:, None] / 2
    y = edges[:-1, None] + half * (1 + x)
    return y.ravel(), (half * w).ravel()


def best_sequence(distribution):
    """The probability of one sequence without loss."""
    _, sequences, probability = distribution
    return float(probability[0] / sequences[0])


def expected_loss(distribution):
    value, _, probability = distribution
    return float((value * probability).sum())


def k_relative_errors(counts, k):
    """The k-relative errors of all sequences of k distinct items."""
    counts = sorted(counts, reverse=True)
    return {max(counts[k - 1] - c for c in chosen) for chosen in itertools.permutations(counts, k)}


def utilities(counts, sequence):
    """(u*, u'): minus the largest signed and the largest absolute loss of a sequence."""
    counts = sorted(counts, reverse=True)
    loss = [counts[r] - counts[item - 1] for r, item in enumerate(sequence)]
    return -max(loss), -max(abs(x) for x in loss)
