"""Limited Joint: Joint without a list of items; a sequence of k items, or nothing.

Samples: with probability proportional to exp(-r loss(S)) a sequence S of k of the d' items that
    have the largest counts among those that occur, where the loss is that of `joint`; or nothing,
    with a weight that depends on how far the k-th count is ahead of those beyond the d' items.
    `_limited` has the weight. r = (epsilon - log(1 + delta)) / 2, and half of that for swap
    neighbours.

Guarantee: (epsilon, delta)-DP, whatever the number of items of a user. No list of items needs to
    be public: what an item that only one of two neighbours can name adds is covered by delta.
    `_limited` has the proof. One epsilon serves all k places, as for `joint`. As far as a search
    of the literature went, the mechanism is new.

    "Nothing" means that k items are not safe to name, not that there are none. It hardly ever
    comes up where the k-th count is more than about (2 / epsilon) (log of the number of sequences
    + log(1 / delta)) ahead of the (d' + 1)-th. (If fewer than d' items occur, there is a chance
    below delta that some of the k are missing.)

Cost: that of `joint` for d' items, twice; O(k) per draw.

Option: limit, the number d' of items, at least k, or a text such as "5k" (the default) for five
    times k. It must not depend on the data.
"""

from ._limited import DEFAULT_LIMIT, k_or_nothing
from ._mechanism import Draw, Neighbors
from ._profile import Profile
from ._sequences import LossThreshold

label = "Limited Joint"
guarantee = "approx"
output = "partial sequence"
needs_domain = False
citation = (
    "This project, after Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism "
    "For Differentially Private Top-k. ICML 2022, for the loss, and Durfee, Rogers. Practical "
    "Differentially Private Top-k Selection with Pay-what-you-get Composition. NeurIPS 2019, for "
    "the limited domain."
)
color = "#9D04FF"
dash = (8, 1.5)
marker = "3"
order = 200


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    limit: int | str = DEFAULT_LIMIT,
) -> Draw:
    return k_or_nothing(LossThreshold, profile, k, epsilon, delta, neighbors, limit)
