"""What rounding may do to a draw, and what it must not."""

import numpy as np
import pytest

import mechanisms
from mechanisms._sequences import LossThreshold

SHAPES = [[100, 0], [0, 0, 1], [7, 7, 3, 0, 0], [10**9, 5, 4, 3], [30, 15] + [1] * 200]


@pytest.mark.parametrize("name", [name for name in mechanisms.SHIPPED if name != "joint_alg1"])
@pytest.mark.parametrize("shape", SHAPES[:3] + SHAPES[4:])
def test_draws_depend_on_differences_of_counts_only(name, shape):
    mechanism, high = mechanisms.get(name), 2**53 - 100
    draws = [mechanism.prepare(np.array(shape) + base, 2, epsilon=0.7) for base in (0, high)]
    for seed in range(50):
        first, second = (draw(np.random.default_rng(seed)).tolist() for draw in draws)
        assert first == second


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.0005, 0.5, 1.0, 500.0])
def test_joint_leaves_out_less_than_2_to_the_minus_50(shape, rate):
    profile, _ = mechanisms._profile.ranked(shape)
    for k in (1, 2, min(5, len(shape))):
        blocks = LossThreshold(profile, k, rate)
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


def test_a_profile_has_a_number_of_items_that_is_exact():
    with pytest.raises(ValueError, match=r"more than 2\*\*53 items"):
        mechanisms.Profile(range(1029, -1, -1), [2**53] * 1030)
