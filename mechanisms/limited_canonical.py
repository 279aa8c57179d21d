"""Limited Canonical: Canonical without a list of items; a set of k items, or nothing.

Samples: what `limited_joint` does, but sets with the loss of `canonical` in place of sequences.
    The items come in a random order.

Guarantee: (epsilon, delta)-DP, whatever the number of items of a user, without a public list of
    items. `_limited` has the proof, `limited_joint` says what "nothing" means. As far as a search
    of the literature went, the mechanism is new.

Cost: that of `canonical` for d' items, twice.

Option: limit, which is d' (`_limited`).
"""

import functools

from ._limited import k_or_nothing
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


prepare = functools.partial(k_or_nothing, SetThreshold)
