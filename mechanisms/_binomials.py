"""Logarithms of binomial coefficients, to all digits.

A difference of three log-gammas loses the digits that these have in common: at n = 10**9 they are
near 2 * 10**10, and nothing after the fifth decimal is right. Stirling's formula for all three
factorials, with the like terms joined by hand, leaves positive terms only: for n = j + m,

    log C(n, j) = j log(1 + m/j) + m log(1 + j/m) + log(n / (2 pi j m)) / 2
                  + s(n) - s(j) - s(m),

where s(x) = log x! - log(sqrt(2 pi x) (x/e)**x) = 1/(12 x) - 1/(360 x**3) + ... is at most 1/12.

Exactness: the error is below 2**-50 (1 + log C(n, j)) for all n up to 2**53; the tests compare it
with integer arithmetic.
"""

import math

import numpy as np

from ._profile import Floats, Integers

_SERIES_FROM = 16  # five terms of the series give s(x) to 2**-53 from here on


def log_binomials(n: Integers, j: Integers) -> Floats:
    """log C(n, j) of arrays of integers, j >= 1; -inf where j > n."""
    m = n - j
    x = np.maximum(m, 1).astype(float)
    result = j * np.log1p(x / j) + x * np.log1p(j / x) + np.log((1 / x + 1 / j) / _TWO_PI) / 2
    result += stirling_remainder(x + j) - stirling_remainder(x) - stirling_remainder(j)
    result[m == 0] = 0.0
    result[m < 0] = -np.inf
    return result


def stirling_remainder(x: Floats | Integers) -> Floats:
    """s(x) for an array of integers x >= 1."""
    square = 1 / (x * x)
    series = 1 / 1680 - square / 1188
    series = 1 / 360 - square * (1 / 1260 - square * series)
    series = (1 / 12 - square * series) / x
    small = x < _SERIES_FROM
    if small.any():
        series[small] = _SMALL[x[small].astype(int)]
    return series


def _below_series() -> Floats:
    """s(0), which is not used, to s(_SERIES_FROM): s(x) = s(x + 1) + (x + 1/2) log(1 + 1/x) - 1."""
    values = stirling_remainder(np.array([float(_SERIES_FROM)])).tolist()
    for x in range(_SERIES_FROM - 1, 0, -1):
        values.append(values[-1] + ((x + 0.5) * math.log1p(1 / x) - 1))
    return np.array([0.0, *values[::-1]])


_TWO_PI = 2 * math.pi
_SMALL = _below_series()
