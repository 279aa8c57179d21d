"""Quantiles of the normal distribution, in the form that `_noise` needs, without SciPy.

Wichura's rational approximations (Algorithm AS 241: The Percentage Points of the Normal
Distribution. Applied Statistics, 1988): one for probabilities p within 0.425 of 1/2, as a function
of p - 1/2, and two for smaller p as functions of r = sqrt(-log p), up to r = 5 and up to 27.

Here p = exp(-x) is given by x, so neither tail loses digits: below the median r = sqrt(x), and
above it 1 - p = -expm1(-x), for x as small as a double can be (r < 27).

Exactness: the error is below 2**-50 (1/4 + |quantile|) for x from 10**-307 to 700; the tests
compare it with decimal arithmetic.
"""

import math
from typing import Any

import numpy as np

_FEW = 32
_WITHIN = 0.425
_MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080),
    (5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
     5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0),
)  # fmt: skip
_NEAR_TAIL = (
    (7.74545014278341407640e-4, 0.0227238449892691845833, 0.241780725177450611770,
     1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550,
     4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.148103976427480074590, 0.689767334985100004550, 1.67638483018380384940,
     2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.00124266094738807843860,
     0.0265321895265761230930, 0.296560571828504891230, 1.78482653991729133580,
     5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
     7.86869131145613259100e-4, 0.0148753612908506148525, 0.136929880922735805310,
     0.599832206555887937690, 1.0),
)  # fmt: skip


def quantile(x: Any) -> Any:
    """The value below which standard normal noise lies with probability exp(-x)."""
    if np.ndim(x) == 0:
        return _quantile_of_one(float(x))
    if len(x) < _FEW:
        return np.array([_quantile_of_one(one) for one in x.tolist()])
    above = -np.expm1(-x)  # the probability of a larger value
    from_median = 0.5 - above
    upper = from_median > 0
    middle = from_median * _ratio(_MIDDLE, _WITHIN**2 - np.minimum(from_median**2, _WITHIN**2))
    r = np.sqrt(np.where(upper, -np.log(np.where(upper, above, 1.0)), x))
    tail = np.where(r <= 5, _ratio(_NEAR_TAIL, r - 1.6), _ratio(_FAR_TAIL, np.maximum(r, 5) - 5))
    return np.where(np.abs(from_median) <= _WITHIN, middle, np.where(upper, tail, -tail))


def _quantile_of_one(x: float) -> float:
    """The same for one number: NumPy is slow for few."""
    above = -math.expm1(-x)
    from_median = 0.5 - above
    if abs(from_median) <= _WITHIN:
        return from_median * _ratio(_MIDDLE, _WITHIN**2 - from_median**2)
    r = math.sqrt(-math.log(above) if from_median > 0 else x)
    tail = _ratio(_NEAR_TAIL, r - 1.6) if r <= 5 else _ratio(_FAR_TAIL, r - 5)
    return tail if from_median > 0 else -tail


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], r: Any) -> Any:
    """A ratio of two polynomials in r, their coefficients from the highest power down."""
    numerator = denominator = 0.0
    for a, b in zip(*coefficients, strict=True):
        numerator = numerator * r + a
        denominator = denominator * r + b
    return numerator / denominator
