"""Tests of samples whose false-alarm rates are theorems, not approximations.

Small cells, deep tails and ties are the rule here, and asymptotic chi-square or Kolmogorov
thresholds are wrong there. The bounds used instead hold for every sample size, so no pooling rule
or simulation is needed to make them valid.

Each comparison alarms falsely with probability at most ALARM. The suite makes fewer than a
thousand comparisons with fixed seeds, so a change of NumPy's random streams makes a correct suite
fail with probability below 10⁻⁶.
"""

import math
from dataclasses import dataclass

import numpy as np

ALARM = 1e-9


@dataclass(frozen=True)
class Fit:
    """How far frequencies lie from probabilities: G = 2 n KL(frequencies ‖ probabilities).

    Agrawal (2020, Finite-sample concentration of the multinomial in relative entropy): the moment
    generating function of G/2 is at most that of a Gamma variable with shape `freedom`, the number
    of cells minus one.
    """

    g: float
    freedom: int

    @property
    def p_value(self):
        """Chernoff's bound on the probability of a G at least this large."""
        if self.g <= 2 * self.freedom:
            return 1.0
        if math.isinf(self.g):
            return 0.0
        half = self.g / 2
        return math.exp(self.freedom * (1 + math.log(half / self.freedom)) - half)

    @property
    def rejected(self):
        return self.p_value < ALARM


def fit(observed, probabilities):
    """Compare observed numbers with probabilities, both in the same order.

    Outcomes expected less than five times share a cell: valid without it, but more powerful so.
    """
    observed, probabilities = np.asarray(observed), np.asarray(probabilities)
    n = observed.sum()
    rare = probabilities * n < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = n * np.append(probabilities[~rare], probabilities[rare].sum())
    if observed[-1] and not expected[-1]:
        return Fit(math.inf, 1)  # something impossible happened
    seen = observed > 0
    g = 2 * np.sum(observed[seen] * np.log(observed[seen] / expected[seen]))
    # No surprise is possible in a cell without probability, or with all of it.
    return Fit(max(float(g), 0.0), max(np.count_nonzero(expected) - 1, 1))


def evidence(observed, probabilities, rival):
    """Log-likelihood ratio of a rival distribution; evidence from independent samples adds up.

    If `probabilities` are right, the ratio has expectation 1, so that by Markov's inequality its
    log exceeds log(1/ALARM) with probability at most ALARM. Where the rival is named in advance
    (a factor in the noise), no test needs fewer samples.
    """
    observed, probabilities, rival = map(np.asarray, (observed, probabilities, rival))
    seen = observed > 0
    if not probabilities[seen].all():
        return math.inf
    with np.errstate(divide="ignore"):
        return float(np.sum(observed[seen] * np.log(rival[seen] / probabilities[seen])))


def convincing(log_ratio):
    return log_ratio > math.log(1 / ALARM)


def tally(samples, outcomes, d):
    """How often each outcome (a sequence of item numbers below d) is among the rows of samples."""
    k = max(samples.shape[1], *map(len, outcomes))
    padded = np.array([(*outcome, *(k - len(outcome)) * (-1,)) for outcome in outcomes])
    base = (d + 1) ** np.arange(k)
    codes = (samples + 1) @ base[: samples.shape[1]]
    numbers = np.bincount(codes, minlength=(d + 1) ** k)[(padded + 1) @ base]
    assert numbers.sum() == len(samples), "a sample is not a sequence of distinct items"
    return numbers


def draws(draw, n, seed):
    """n draws as rows, filled up with -1 where they are shorter than the longest."""
    rng = np.random.default_rng(seed)
    rows = [draw(rng) for _ in range(n)]
    samples = np.full((n, max(map(len, rows))), -1)
    for sample, row in zip(samples, rows, strict=True):
        sample[: len(row)] = row
    return samples


def same_distribution(xs, ys):
    """Whether two samples of equal size may come from one distribution (Kolmogorov–Smirnov).

    Wei and Dudley (2012): P(D ≥ x) ≤ 2 exp(-n x²) when both sizes are n ≥ 458; ties only make
    large D rarer.
    """
    n = len(xs)
    assert n == len(ys) >= 458
    return 2 * math.exp(-n * _largest_gap(xs, ys) ** 2) >= ALARM


def _largest_gap(xs, ys):
    xs, ys = np.sort(xs), np.sort(ys)
    points = np.concatenate([xs, ys])
    below = [np.searchsorted(sample, points, side="right") for sample in (xs, ys)]
    return np.abs(below[0] - below[1]).max() / len(xs)


def follows(sample, values, probabilities):
    """Whether a sample may come from a distribution on ascending values (Massart 1990).

    P(D ≥ x) ≤ 2 exp(-2 n x²), also for a discrete distribution.
    """
    assert np.isin(sample, values).all(), "a sample has an impossible value"
    empirical = np.searchsorted(np.sort(sample), values, side="right") / len(sample)
    gap = np.abs(empirical - np.cumsum(probabilities)).max()
    return 2 * math.exp(-2 * len(sample) * gap**2) >= ALARM
