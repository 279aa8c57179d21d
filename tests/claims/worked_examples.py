"""The paper's worked examples, computed exactly and without any mechanism of this project."""

import math
from fractions import Fraction

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


def rejection(weights, with_replacement):
    """Chances of outcomes: go round at random and stop at outcome i with chance weights[i].

    Without replacement an outcome that was passed does not come again, which is permute-and-flip.
    Exact for fractions. Outcome i then follows each set of others: the mean over all orders is
    p_i times the integral over y in (0, 1) of the product over the others of (1 - p_j y).
    """
    if with_replacement:
        return [weight / sum(weights) for weight in weights]
    chances = []
    for i, own in enumerate(weights):
        coefficients = [Fraction(1)]
        for x in weights[:i] + weights[i + 1 :]:
            shifted = [Fraction(0), *(-x * c for c in coefficients)]
            coefficients = [a + b for a, b in zip([*coefficients, 0], shifted, strict=True)]
        chances.append(own * sum(c / (n + 1) for n, c in enumerate(coefficients)))
    return chances
