"""Differentially private top-k selection: one contract, one module per mechanism.

    import numpy as np
    import mechanisms

    joint = mechanisms.get("joint")
    draw = joint.prepare(counts, k=10, epsilon=1.0)   # all the work that needs no randomness
    items = draw(np.random.default_rng())             # 10 distinct indices into counts, best first

A mechanism is a module of this package whose name does not begin with an underscore. It
defines

    label       its name in figures
    guarantee   "pure" (epsilon-DP) or "approx" ((epsilon, delta)-DP)
    prepare(profile, k, epsilon, delta, neighbors) -> draw
                where `draw(rng)` returns k distinct ranks, best first: rank 0 is an item with
                the largest count of the Profile

and, where it cannot honour both neighbour relations, `relations`. Arguments reach `prepare`
checked. Everything random comes from the generator given to `draw`. NumPy is all that this
package needs; the samplers use floating point and serve experiments, not a hardened release.
"""

import difflib
import importlib
import math
import numbers
import operator
import pkgutil
from dataclasses import dataclass

import numpy as np

from mechanisms._profile import Profile, ranked

__all__ = ["Mechanism", "Profile", "get", "names"]

RELATIONS = ("add-remove", "swap")

# The paper's mechanisms in the paper's order, then the two relatives of joint; whatever else
# the package holds follows by name.
SHIPPED = (
    "joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma", "joint_alg1", "fast_joint",
)  # fmt: skip


def names():
    """Names of all mechanisms."""
    found = {module.name for module in pkgutil.iter_modules(__path__)}
    found = {name for name in found if not name.startswith("_")}
    return tuple(name for name in SHIPPED if name in found) + tuple(sorted(found - set(SHIPPED)))


def get(name):
    """The mechanism called `name`."""
    if name not in names():
        nearest = difflib.get_close_matches(str(name), names(), n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"There is no mechanism {name!r}; there are {', '.join(names())}.{hint}")
    module = importlib.import_module(f"mechanisms.{name}")
    return Mechanism(
        name=name,
        label=module.label,
        guarantee=module.guarantee,
        relations=getattr(module, "relations", RELATIONS),
        sampler=module.prepare,
    )


@dataclass(frozen=True)
class Mechanism:
    """A private top-k mechanism; see the module of its name for what it samples and guarantees."""

    name: str
    label: str
    guarantee: str
    relations: tuple
    sampler: object

    def prepare(self, counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", **options):
        """Do all the work that needs no randomness; return `draw(rng)`.

        counts: integers in any order, one per item, or a Profile. `draw` returns indices into
            them (of a Profile: ranks, in the order of descending counts).
        k: how many items to select, 1 to the number of items.
        epsilon, delta: the privacy parameters; a pure mechanism does not look at delta.
        neighbors: "add-remove" one user, or "swap" one user for another.
        options: further parameters of the mechanism, described in its module.
        """
        profile, items_of = (counts, None) if isinstance(counts, Profile) else ranked(counts)
        k = _checked_k(k, profile.d)
        epsilon = _checked_number("epsilon", epsilon, math.inf, "a finite number above 0")
        if self.guarantee == "approx":
            delta = _checked_number("delta", delta, 1, "a number between 0 and 1")
        self._check_relation(neighbors)
        # Probabilities too small for a double are meant to become 0.
        with np.errstate(under="ignore"):
            draw_ranks = self.sampler(
                profile, k, epsilon=epsilon, delta=delta, neighbors=neighbors, **options
            )

        def draw(rng):
            with np.errstate(under="ignore"):
                ranks = draw_ranks(rng)
            return ranks if items_of is None else items_of(ranks)

        return draw

    def select(self, counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng, **options):
        """`prepare`, then one draw with the generator `rng`."""
        return self.prepare(counts, k, epsilon, delta, neighbors, **options)(rng)

    def _check_relation(self, neighbors):
        if neighbors not in RELATIONS:
            raise ValueError(f"neighbors is {neighbors!r}; it must be one of {RELATIONS}.")
        if neighbors not in self.relations:
            raise ValueError(
                f"{self.name} has no guarantee for {neighbors!r} neighbors; "
                f"use {' or '.join(map(repr, self.relations))}."
            )


def _checked_k(k, d):
    try:
        value = 0 if isinstance(k, (bool, np.bool_)) else operator.index(k)
    except TypeError:
        value = 0
    if not 1 <= value <= d:
        raise ValueError(f"k is {k!r}; it must be an integer from 1 to the number of items, {d}.")
    return value


def _checked_number(name, value, upper, allowed):
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not 0 < number < upper:
        raise ValueError(f"{name} is {value!r}; it must be {allowed}.")
    return number
