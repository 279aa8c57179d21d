"""Differentially private top-k selection: fast exact samplers, and releases without rounding.

    import dp_topk
    from dp_topk import release

    draw = dp_topk.get("joint").prepare(counts, k=10, epsilon=1.0)   # for experiments
    items = draw(numpy.random.default_rng())                         # 10 indices into counts

    items = release.top_k(counts, k=10, epsilon="0.1")               # for publication

`dp_topk.mechanisms` has the samplers, `dp_topk.release` what is safe to publish.
"""

from dp_topk import mechanisms
from dp_topk.mechanisms import Mechanism, Profile, Unavailable, get, names

__version__ = "3.0.0"

__all__ = ["Mechanism", "Profile", "Unavailable", "__version__", "get", "mechanisms", "names"]
