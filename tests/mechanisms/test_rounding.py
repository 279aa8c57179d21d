"""What rounding may do to a draw, and what it must not."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from dp_topk import mechanisms
from dp_topk.mechanisms._ranked import ranked
from dp_topk.mechanisms._sequences import LossThreshold
from dp_topk.mechanisms._thresholds import geometric
from dp_topk.mechanisms.canonical import SetThreshold

SHAPES = [[100, 0], [0, 0, 1], [7, 7, 3, 0, 0], [10**9, 5, 4, 3], [30, 15] + [1] * 200]


# Without a list of items counts are compared with zero, and joint_alg1 needs smaller ones.
BY_DIFFERENCES = [
    name
    for name in mechanisms.names()
    if name != "joint_alg1" and mechanisms.get(name).needs_domain
]


@pytest.mark.parametrize("name", BY_DIFFERENCES)
@pytest.mark.parametrize("shape", SHAPES[:3] + SHAPES[4:])
def test_draws_depend_on_differences_of_counts_only(name, shape):
    mechanism, high = mechanisms.get(name), 2**53 - 100
    draws = [mechanism.prepare(np.array(shape) + base, 2, epsilon=0.7) for base in (0, high)]
    for seed in range(50):
        first, second = (draw(np.random.default_rng(seed)).tolist() for draw in draws)
        assert first == second


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.0005, 0.5, 1.0, 500.0])
@pytest.mark.parametrize("thresholds", [LossThreshold, SetThreshold])
def test_thresholds_leave_out_less_than_2_to_the_minus_50(thresholds, shape, rate):
    profile, _ = ranked(shape)
    for k in (1, 2, min(5, len(shape))):
        blocks = thresholds(profile, k, rate).blocks
        assert left_out(blocks.cumulative, blocks.light) < 2.0**-50


def left_out(cumulative, light):
    """Share of the envelope that no uniform of 53 bits chooses."""
    weights = np.diff(cumulative, prepend=0.0)
    share = weights / cumulative[-1]
    unseen = np.floor(cumulative / cumulative[-1] * 2.0**53) == np.floor(
        (cumulative - weights) / cumulative[-1] * 2.0**53
    )
    heavy = share[light:][unseen[light:]].sum()  # none: each is far above 2**-53
    if not light:
        return heavy
    together = cumulative[light - 1] / cumulative[-1]
    if together < 2.0**-53:
        return heavy + together
    within = weights[:light] / cumulative[light - 1]
    return heavy + together * within[within < 2.0**-53].sum()


@pytest.mark.parametrize("rate", [1e-250, 1e-9, 0.0005, 0.5, 500.0])
@pytest.mark.parametrize("size", [2, 3, 1000, 2**40])
def test_thresholds_inside_a_block_are_geometric_but_for_2_to_the_minus_50(rate, size):
    """The least uniform that gives v or more is P(V < v), here with many more digits."""
    with localcontext() as context:
        context.prec = 360  # 1 - exp(-1e-250) has to have digits left
        for v in {1, min(2, size - 1), (size + 1) // 3, size // 2, size - 1}:
            exponents = (-Decimal(rate) * n for n in (v, size))
            above, whole = (1 - exponent.exp() for exponent in exponents)
            low, high = 0, 2**53  # the first integer u for which u 2**-53 gives v or more
            while low < high:
                middle = (low + high) // 2
                low, high = (
                    (low, middle)
                    if geometric(middle * 2.0**-53, rate, size) >= v
                    else (middle + 1, high)
                )
            assert abs(Decimal(low) / 2**53 - above / whole) < Decimal(2) ** -50


def test_a_profile_has_a_number_of_items_that_is_exact():
    with pytest.raises(ValueError, match=r"more than 2\*\*53 items"):
        mechanisms.Profile(range(1029, -1, -1), [2**53] * 1030)
