"""OpenDP's noisy top k, where the package `opendp` is installed: an outside implementation.

Samples: what `pnf_peel` samples. OpenDP's `make_noisy_top_k` with the measure max_divergence runs
    k rounds of permute-and-flip, each with exponential noise of the same scale, here k / epsilon
    (2 k / epsilon for swap neighbours). With zero_concentrated_divergence its noise is Gumbel,
    and it samples what `cdp_peel` does for an epsilon' of 1 / scale.

Guarantee: epsilon-DP, as OpenDP's own privacy map says. Counts that all move the same way are
    its metric linf_distance with monotonic=True; for swap neighbours it is not monotonic.

It is there for comparisons of distributions and times, not for experiments: OpenDP has a
generator of its own, so a draw ignores the one given and cannot be repeated. For that reason
`mechanisms.names()` does not list it; `mechanisms.get("opendp_topk")` has it.

Cost: O(d) per draw, most of it for handing the counts over.
"""

from typing import Any

import numpy as np
import opendp.prelude as dp

from . import Draw, Neighbors, Profile, moves

label = "OpenDP"
guarantee = "pure"
citation = (
    "The OpenDP library, opendp.measurements.make_noisy_top_k; McKenna, Sheldon. Permute-and- "
    "Flip: A new mechanism for differentially private selection. NeurIPS 2020."
)

dp.enable_features("contrib")


def prepare(profile: Profile, k: int, epsilon: float, delta: float, neighbors: Neighbors) -> Draw:
    scale = k / epsilon * moves(neighbors)
    measurement = noisy_top_k(k, scale, neighbors, dp.max_divergence())
    counts = np.repeat(profile.counts, profile.items).tolist()
    return lambda rng: np.array(measurement(counts))


def noisy_top_k(k: int, scale: float, neighbors: Neighbors, measure: Any) -> Any:
    """OpenDP's measurement for a vector of counts."""
    return dp.m.make_noisy_top_k(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64", monotonic=neighbors == "add-remove"),
        measure,
        k=k,
        scale=scale,
    )
