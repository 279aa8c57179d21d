"""PNF-Joint: permute-and-flip over all sequences of k items.

Samples: the sequence S that maximises -loss(S) + X_S with independent exponential noises X_S of
    rate epsilon / 2 (epsilon / 4 for swap neighbours); the loss is that of `joint`.

Guarantee: epsilon-DP for both relations; the loss has sensitivity 1, or 2 for swap.

How: the published sampler needs m(v), the number of sequences with loss v, as a double, and
    stops near k = 45. Here nothing like it is formed. Write p_S = exp(-rate loss(S)).
    Permute-and-flip visits the sequences in a random order, flips a coin of bias p_S at each
    and stops at the first head; p_S = 1 for the true top k, so it stops.

    Let each sequence be visited at the times of a Poisson process of rate 1, every visit with
    a coin of its own. The order of first visits is a uniform permutation, so permute-and-flip
    returns the first sequence whose *first* visit is a head. Heads alone form Poisson
    processes of rate p_S, independent of the tails, of rate 1 - p_S. Hence:
      - heads come at total rate Z = sum_S p_S, and each belongs to S with probability p_S / Z:
        it is a draw of `joint`;
      - a head of S at time x is the first visit of S if S had no tail before, which has
        probability exp(-(1 - p_S) x); if it had one, S is out, and later heads of S with it.
    A rejected proposal of the threshold sampler is a head that does not exist: time passes at
    the rate of its envelope, which is known, though Z itself is not.

    When Z is large the first head comes at a time near 0 and is accepted: that is why PNF-Joint
    and Joint differ only when few sequences matter (total variation at most E[x] = 1 / Z).

    The appendix draws the largest of m(v) exponential noises for each loss v instead. In log
    space that works for every k, too, but needs all m(v); this needs only draws of `joint`.

Cost: the draws of `joint`, times fewer than 1.31 on average for the heads that are rejected: the
    top sequence wins when it comes up, and heads come up Z int_0^1 prod (1 - p_S y) dy <=
    Z (1 - exp(1 - Z)) / (Z - 1) times, the product over all others. Memory: that of `joint`.
"""

import math

import numpy as np

from . import Draw, Neighbors, Profile, Ranks
from ._sequences import LossThreshold, loss_rate

label = "PNF-Joint"
guarantee = "pure"
citation = (
    "Gillenwater, Joseph, Munoz Medina, Ribero. A Joint Exponential Mechanism For "
    "Differentially Private Top-k. ICML 2022, appendix on permute-and-flip; McKenna, Sheldon. "
    "Permute-and-Flip: A new mechanism for differentially private selection. NeurIPS 2020; "
    "Ding, Kifer et al. The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with "
    "Exponential Noise. 2021."
)
paper_name = "PNF-Joint"
color = "#6CC2FA"
dash = (2.4, 2.4)
marker = "P"
order = 20


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    rate = loss_rate(epsilon, neighbors)
    thresholds = LossThreshold(profile, k, rate)
    mean_wait = math.exp(-thresholds.log_envelope)

    def draw(rng: np.random.Generator) -> Ranks:
        time = 0.0
        out: set[tuple[int, ...]] = set()
        while True:
            time += rng.standard_exponential() * mean_wait
            if (allowed := thresholds.propose(rng)) is None:
                continue
            ranks = thresholds.below(allowed, rng)
            sequence = tuple(ranks.tolist())
            if sequence in out:
                continue
            loss = int((thresholds.top - profile.counts_at(ranks)).max())
            if rng.random() < math.exp(math.expm1(-rate * loss) * time):
                return ranks
            out.add(sequence)

    return draw
