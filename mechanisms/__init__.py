"""Differentially private top-k selection: one contract, one module per mechanism.

    import numpy as np
    from dp_topk import mechanisms

    joint = mechanisms.get("joint")
    draw = joint.prepare(counts, k=10, epsilon=1.0)   # all the work that needs no randomness
    items = draw(np.random.default_rng())             # 10 distinct indices into counts, best first

A mechanism is a module of this package whose name does not begin with an underscore, or a module
of any package that is registered in the entry-point group `dp_topk.mechanisms`:

    [project.entry-points."dp_topk.mechanisms"]
    my_name = "my_package.my_module"

It defines

    label       its name in figures
    guarantee   "pure" (epsilon-DP) or "approx" ((epsilon, delta)-DP)
    prepare(profile, k, epsilon, delta, neighbors) -> draw
                where `draw(rng)` returns k distinct ranks as integers, best first: rank 0 is an
                item with the largest count of the Profile

and, where they differ from the default, the other attributes that `Mechanism` describes. A
mechanism whose `output` is a set shuffles the items: their order by rank would tell more.

Further parameters of `prepare`, with defaults, are the mechanism's options. All other arguments
reach `prepare` checked, epsilon between 1e-250 and 1e250. Everything random comes from the
generator given to `draw`. NumPy is all that this package needs.

The samplers use doubles and serve experiments, not a hardened release. A uniform has 53 bits, so
an event with a probability below about 2**-52 may come up never or too often, and "pure" means
pure but for events of that kind. Their total is bounded where the samplers are described: 2**-48
of the probability over sequences (`_sequences`), more for the peeling mechanisms (`_peeling`,
2**-33 on the paper's largest dataset) and for noisy counts (`_noise`).
"""

import difflib
import functools
import importlib
import importlib.metadata
import importlib.util
import pkgutil

from ._mechanism import RELATIONS, Draw, Mechanism, Neighbors, Ranks, Unavailable, checked_k, moves
from ._profile import LARGEST_COUNT, Profile, checked_integers
from ._ranked import ranked
from ._thresholds import cut_into_blocks, sequence_at

__all__ = [
    "LARGEST_COUNT",
    "RELATIONS",
    "Draw",
    "Mechanism",
    "Neighbors",
    "Profile",
    "Ranks",
    "Unavailable",
    "checked_integers",
    "checked_k",
    "cut_into_blocks",
    "get",
    "moves",
    "names",
    "ranked",
    "sequence_at",
]

ENTRY_POINTS = "dp_topk.mechanisms"

# Modules that wrap a package from elsewhere, which may not be installed and has randomness of
# its own. `get` has them, for comparisons, but they do not keep the contract.
EXTERNAL = {"opendp_topk": "opendp"}


def names() -> tuple[str, ...]:
    """Names of all mechanisms: the paper's first, then the others that are shipped, then yours."""

    def position(name: str) -> tuple[int, str]:
        try:
            return get(name).order, name
        except Exception:  # A broken module is no reason to hide the others; `get` says what it is.
            return Mechanism.order, name

    return tuple(sorted(_modules().keys() - EXTERNAL.keys(), key=position))


def get(name: str) -> Mechanism:
    """The mechanism called `name`.

    Parameters
    ----------
    name : str
        One of `names()`, or "opendp_topk" where the package opendp is installed.

    Returns
    -------
    Mechanism
        What its module says of it, with `prepare` and `select`.

    Raises
    ------
    ValueError
        There is no such mechanism; the message lists all names, and the nearest.
    """
    modules = _modules()
    if name not in modules:
        nearest = difflib.get_close_matches(str(name), names(), n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"There is no mechanism {name!r}; there are {', '.join(names())}.{hint}")
    if name in EXTERNAL and importlib.util.find_spec(EXTERNAL[name]) is None:
        needed = EXTERNAL[name]
        raise ValueError(
            f"{name} needs the package {needed}; install it with pip install {needed}."
        )
    return Mechanism.of(name, importlib.import_module(modules[name]))


@functools.cache
def _modules() -> dict[str, str]:
    """The module of each mechanism. A name that is shipped cannot be registered again."""
    entries = importlib.metadata.entry_points(group=ENTRY_POINTS)
    found = (module.name for module in pkgutil.iter_modules(__path__))
    shipped = {name: f"{__name__}.{name}" for name in found if name[0] != "_"}
    return {entry.name: entry.module for entry in entries} | shipped
