"""The k largest noisy counts, without drawing noise for every item.

Let Q be the quantile function of the noise. For n items with the same count, -log of n uniforms
are n exponentials; in ascending order their gaps are independent, Exp(1)/n, Exp(1)/(n-1), ...
(Renyi). So the largest noise of the n items is Q(exp(-x)) with x = Exp(1)/n, the next largest
has x + Exp(1)/(n-1), and so on: one draw per distinct count gives its best item, and further
ones are drawn only for counts whose items come up. Items with the same count are exchangeable,
so which of them has the noise is a uniform choice.

Rounding: noise is a double, with a relative error of a few 2**-53; sums of noise and count are
compared without further loss. The order can differ from that of real numbers only where two
noisy counts are nearer to each other than this error. Noise is hardly ever larger than 40 times
its scale, and differences have a density of at most 1 / (2 scale): for n distinct counts, that
happens in a draw with probability below (k + n) 2**-45.

Cost: one draw per distinct count, and O(log k) for each of the k items.
"""

import heapq
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from . import Profile, Ranks
from ._mechanism import is_number
from ._profile import Floats, Integers

Quantile: TypeAlias = Callable[[Any], Any]

_TINY = np.finfo(float).tiny


def largest_noisy(
    profile: Profile, k: int, noise: Quantile, rng: np.random.Generator, least: float = -math.inf
) -> Ranks:
    """Ranks of the k largest of count + noise, best first; only of those that are at least `least`.

    noise(x) is the value below which the noise lies with probability exp(-x), x > 0.
    """
    left = profile.items
    exponents = rng.standard_exponential(len(left)) / left
    whole, rest = noisy_parts(noise(np.maximum(exponents, _TINY)), profile.deficits)
    groups = candidates(whole, k)  # only the k counts with the best best items can come up
    best = (-whole[groups]).tolist(), (-rest[groups]).tolist(), groups.tolist()
    queue = list(zip(*best, strict=True))
    heapq.heapify(queue)
    moved: dict[int, int] = {}
    chosen: list[int] = []
    while len(chosen) < k:
        minus_whole, minus_rest, group = queue[0]
        if profile.largest - minus_whole - minus_rest < least:
            break
        # Take one of the group's items that are left from a virtual shuffle, as in _sequences.
        last = int(profile.bounds[group] + left[group]) - 1
        position = int(rng.integers(profile.bounds[group], last + 1))
        chosen.append(moved.get(position, position))
        moved[position] = moved.get(last, last)
        left[group] -= 1
        if left[group] == 0:
            heapq.heappop(queue)
            continue
        exponents[group] += rng.standard_exponential() / left[group]
        further = noise(np.maximum(exponents[group], _TINY))
        whole, rest = noisy_parts(further, profile.deficits[group])
        heapq.heapreplace(queue, (-float(whole), -float(rest), group))
    return np.array(chosen, dtype=np.int64)


def checked_contributions(contributions: float) -> float:
    """To how many items a user contributes at most, as an option of a mechanism."""
    if not (is_number(contributions) and contributions >= 1):
        raise ValueError(f"contributions is {contributions!r}; it must be a number of at least 1.")
    return contributions


def noisy_parts(noise: Floats, deficits: Integers) -> tuple[Floats, Floats]:
    """noise - deficits as an integer and a rest, by which to compare in turn.

    In one double, noise on a count a billion below the largest would lose half of its digits.
    """
    whole = np.rint(noise)
    return whole - deficits, noise - whole


def candidates(whole: Floats, k: int) -> Integers:
    """Where the k largest are, if these are the integers of their parts: a few too many."""
    if k >= len(whole):
        return np.arange(len(whole))
    reverse = -whole  # nearly ascending, which partition likes
    return np.flatnonzero(reverse <= np.partition(reverse, k - 1)[k - 1])
