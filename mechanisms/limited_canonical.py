"""Limited Canonical: Canonical without a list of items; a set of k items, or nothing.

Samples: with probability proportional to exp(-r loss(S)) a set S of k of the d' items that have
    the largest counts among those that occur, where the loss is that of `canonical`; or nothing,
    with a weight that depends on how far the k-th count is ahead of those beyond the d' items.
    `_limited` has the weight. r = (epsilon - log(1 + delta)) / 2, and half of that for swap
    neighbours. The items come in a random order.

Guarantee: (epsilon, delta)-DP, whatever the number of items of a user, without a public list of
    items. `_limited` has the proof. As far as a search of the literature went, the mechanism is
    new.

    "Nothing" means that k items are not safe to name, not that there are none. (If fewer than d'
    items occur, there is a chance below delta that some of the k are missing.)

Cost: that of `canonical` for d' items, twice; O(k) per draw.

Option: limit, the number d' of items, at least k, or a text such as "5k" (the default) for five
    times k. It must not depend on the data.
"""

from ._limited import DEFAULT_LIMIT, k_or_nothing
from ._mechanism import Draw, Neighbors
from ._profile import Profile
from .canonical import SetThreshold

label = "Limited Canonical"
guarantee = "approx"
output = "partial set"
needs_domain = False
citation = (
    "This project, after Shekelyan, Loukides. Differentially Private Top-k Selection via Canonical "
    "Lipschitz Mechanism. 2022, for the loss, and Durfee, Rogers. Practical Differentially Private "
    "Top-k Selection with Pay-what-you-get Composition. NeurIPS 2019, for the limited domain."
)
color = "#431903"
dash = (1, 2)
marker = "x"
order = 210


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    limit: int | str = DEFAULT_LIMIT,
) -> Draw:
    return k_or_nothing(SetThreshold, profile, k, epsilon, delta, neighbors, limit)
