"""Limited Peel: peeling without a list of items; as many of k items as are safe to name.

Samples: T holds the d' items with the largest counts among those that occur, h is the next
    largest count, or 0 (`_limited`). In each of k rounds item i of T among those left with
    probability proportional to exp(epsilon' c_i), or the end, with a weight of
    (d' / delta_1) exp(epsilon' (h + 1)); for swap neighbours exp(epsilon' c_i / 2) and
    (d' / delta_1) exp(epsilon' (h + 2) / 2). What comes before the end comes out.

Guarantee: (epsilon, delta)-DP, whatever the number of items of a user, without a public list of
    items, for delta = delta_1 + delta_2, if k rounds of the exponential mechanism with epsilon'
    each are (epsilon - k log(1 + delta_1), delta_2)-DP; `rdp_peel` has that epsilon'.
    delta_1 = delta_2 = delta / 2 here (and delta_1 at most epsilon / (2 k)).

    Let D and D' be neighbours, P_D the mechanism, and Q_D the same rounds over the items of both
    T(D) and T(D'), and the end. An item of T(D) that T(D') does not have has a count of at most
    h + 1, or h + 2 for a swap (`_limited`), and so at most delta_1 / d' times the weight of the
    end; all of them together have at most delta_1 times.
    1. With Gumbel noise on all scores once, they come before the end with probability at most
       delta_1. An outcome A without them has P_D(A) <= Q_D(A): they only add to denominators.
    2. Q_D and Q_D' are k rounds over the same items, all of whose scores, h included, move by at
       most 1, in one direction unless users are swapped: Q_D(A) <= e^epsilon_2 Q_D'(A) + delta_2,
       with epsilon_2 for the k rounds.
    3. In D' items that T(D) does not have add to each of k denominators a share of at most
       delta_1: Q_D'(A) <= (1 + delta_1)^k P_D'(A).
    So P_D(A) <= e^epsilon_2 (1 + delta_1)^k P_D'(A) + delta_2 + delta_1. (The published proof
    pays a logarithm more in the threshold, or a factor of 1 + e^epsilon in delta_1.)

    A list that ends early means that no further item is safe to name, not that there is none.

Cost: that of `cdp_peel` for d' items.

Option: limit, which is d' (`_limited`).
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, Ranks, moves, rdp_peel
from ._limited import DEFAULT_LIMIT, NOTHING, LimitedDomain
from ._peeling import ExponentialWeights, peel
from ._thresholds import logistic

label = "Limited Peel"
guarantee = "approx"
output = "partial sequence"
needs_domain = False
citation = (
    "Durfee, Rogers. Practical Differentially Private Top-k Selection with Pay-what-you-get "
    "Composition. NeurIPS 2019, with another accounting."
)
color = "#FB8900"
dash = (4, 1, 1, 1)
marker = "+"
order = 220


def prepare(
    profile: Profile,
    k: int,
    epsilon: float,
    delta: float,
    neighbors: Neighbors,
    limit: int | str = DEFAULT_LIMIT,
) -> Draw:
    domain = LimitedDomain(profile, k, limit)
    rounds = min(k, domain.items)
    if not rounds:
        return lambda rng: NOTHING
    naming, round_epsilon = budget(k, epsilon, delta)
    moved = moves(neighbors)
    rate = round_epsilon / moved
    weights = ExponentialWeights(profile.first(domain.items), rounds, rate)
    log_copies = math.log(domain.limit) - math.log(naming)
    # The probability of the end, by the best item that is left.
    ends = [
        logistic(log_copies + rate * (domain.next_count + moved - best) - math.log(total))
        for best, total in zip(weights.top, weights.sums, strict=True)
    ]

    def choose(leader: int, gone: set[int], rng: np.random.Generator) -> int | None:
        while rng.random() >= ends[leader]:
            rank, _ = weights.propose(leader, rng)
            if rank not in gone:
                return rank
        return None

    def draw(rng: np.random.Generator) -> Ranks:
        return domain.named(peel(weights, choose, rng), rng)

    return draw


def budget(k: int, epsilon: float, delta: float) -> tuple[float, float]:
    """delta_1, and epsilon' of a round."""
    naming = min(delta / 2, epsilon / (2 * k))
    left = epsilon - k * math.log1p(naming)
    return naming, rdp_peel.epsilon_per_round(k, left, delta / 2)
