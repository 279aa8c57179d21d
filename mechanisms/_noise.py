"""The k largest noisy counts, without drawing noise for every item.

Let Q be the quantile function of the noise. For n items with the same count, -log of n uniforms
are n exponentials; in ascending order their gaps are independent, Exp(1)/n, Exp(1)/(n-1), ...
(Renyi). So the largest noise of the n items is Q(exp(-x)) with x = Exp(1)/n, the next largest
has x + Exp(1)/(n-1), and so on: one draw per distinct count gives its best item, and further
ones are drawn only for counts whose items come up. Items with the same count are exchangeable,
so which of them has the noise is a uniform choice.

Cost: one draw per distinct count, and O(log k) for each of the k items.
"""

import heapq

import numpy as np

_TINY = np.finfo(float).tiny


def largest_noisy(profile, k, quantile, rng):
    """Ranks of the k largest of count + noise, best first.

    quantile(x) is the value below which the noise lies with probability exp(-x), x > 0.
    """
    left = profile.items
    exponents = rng.standard_exponential(len(left)) / left
    # Relative to the largest count: noise added to a huge number would be rounded to it.
    noisy = quantile(np.maximum(exponents, _TINY)) - profile.deficits
    # Only the k counts with the best best items can come up.
    groups = np.argpartition(-noisy, k)[:k] if k < len(noisy) else np.arange(len(noisy))
    queue = list(zip((-noisy[groups]).tolist(), groups.tolist(), strict=True))
    heapq.heapify(queue)
    moved, chosen = {}, []
    while len(chosen) < k:
        _, group = queue[0]
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
        noise = quantile(np.maximum(exponents[group], _TINY))
        heapq.heapreplace(queue, (-float(noise - profile.deficits[group]), group))
    return np.array(chosen)
