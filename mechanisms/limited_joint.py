"""Limited Joint: Joint without a list of items; a sequence of k items, or nothing.

Samples: with probability proportional to exp(-r loss(S)) a sequence S of k of the d' items that
    have the largest counts among those that occur, where the loss is that of `joint`; or nothing,
    with a weight that depends on how far the k-th count is ahead of those beyond the d' items.
    `_limited` has the weight, and r.

Guarantee: (epsilon, delta)-DP, whatever the number of items of a user. No list of items needs to
    be public: what an item that only one of two neighbours can name adds is covered by delta.
    `_limited` has the proof. One epsilon serves all k places, as for `joint`. As far as a search
    of the literature went, the mechanism is new.

    "Nothing" means that k items are not safe to name, not that there are none. It hardly ever
    comes up where the k-th count is more than about (2 / epsilon) (log of the number of sequences
    + log(1 / delta)) ahead of the (d' + 1)-th. (If fewer than d' items occur, there is a chance
    below delta that some of the k are missing.)

Cost: that of `joint` for d' items, twice.

Option: limit, which is d' (`_limited`).
"""

import functools

from ._limited import k_or_nothing
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


prepare = functools.partial(k_or_nothing, LossThreshold)
