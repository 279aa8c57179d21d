"""Differentially private top-k selection: one contract, one module per mechanism.

    import numpy as np
    from dp_topk import mechanisms

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

and, where they differ from the default,

    output      "sequence" (default), or "set": the k items come in an order that depends on
                nothing but the generator. Their order by rank is not part of what a set
                mechanism may tell, so it shuffles them.
    relations   the neighbour relations that it can honour (default: both)
    zero_delta  True if an approximate mechanism also accepts delta = 0 and is epsilon-DP then
                (default: False)

Further parameters of `prepare`, with defaults, are the mechanism's options. Arguments other
than these reach `prepare` checked, epsilon between 1e-250 and 1e250. Everything random comes from
the generator given to `draw`. NumPy is all that this package needs.

The samplers use doubles and serve experiments, not a hardened release. A uniform has 53 bits, so
an event with a probability below about 2**-52 may come up never or too often, and "pure" means
pure but for events of that kind. How much that is in all is worked out where the samplers are
described: 2**-48 of the probability over sequences (`_sequences`), which includes thresholds that
are cut off inside a block, and more for the peeling mechanisms (`_peeling`, 2**-33 on the paper's
largest dataset) and for noisy counts (`_noise`).
"""

import difflib
import importlib
import importlib.util
import inspect
import math
import numbers
import operator
import pkgutil
from dataclasses import dataclass

import numpy as np

from ._profile import Profile
from ._ranked import ranked
from ._unavailable import Unavailable

__all__ = ["Mechanism", "Profile", "Unavailable", "get", "names"]

RELATIONS = ("add-remove", "swap")
ARGUMENTS = ("profile", "k", "epsilon", "delta", "neighbors")  # of every module's prepare

# Counts are below 2**53: beyond these bounds of epsilon no double tells the difference, and the
# products and quotients that mechanisms form of epsilon, k and counts stay finite within them.
LEAST_EPSILON, LARGEST_EPSILON = 1e-250, 1e250

# The paper's mechanisms in the paper's order, three of them as published, the pruned joint, and
# the rivals of all; whatever else the package holds follows by name.
SHIPPED = (
    "joint", "pnf_joint", "pnf_peel", "cdp_peel", "laplace", "gamma",
    "joint_alg1", "pnf_peel_alg2", "cdp_peel_alg3", "fast_joint",
    "canonical", "oneshot_exp", "rdp_peel", "gaussian", "pair",
)  # fmt: skip

# Modules that wrap a package from elsewhere, which may not be installed and has randomness of
# its own. They are to be had by name, for comparisons, but do not keep the contract.
EXTERNAL = {"opendp_topk": "opendp"}


def names():
    """Names of all mechanisms."""
    found = {module.name for module in pkgutil.iter_modules(__path__)} - set(EXTERNAL)
    found = {name for name in found if not name.startswith("_")}
    return tuple(name for name in SHIPPED if name in found) + tuple(sorted(found - set(SHIPPED)))


def get(name):
    """The mechanism called `name`."""
    if name not in names() and name not in EXTERNAL:
        nearest = difflib.get_close_matches(str(name), names(), n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ValueError(f"There is no mechanism {name!r}; there are {', '.join(names())}.{hint}")
    if name in EXTERNAL and importlib.util.find_spec(EXTERNAL[name]) is None:
        needed = EXTERNAL[name]
        raise ValueError(
            f"{name} needs the package {needed}; install it with pip install {needed}."
        )
    module = importlib.import_module(f"{__name__}.{name}")
    return Mechanism(
        name=name,
        label=module.label,
        guarantee=module.guarantee,
        output=getattr(module, "output", "sequence"),
        relations=getattr(module, "relations", RELATIONS),
        zero_delta=getattr(module, "zero_delta", False),
        options=tuple(
            option
            for option in inspect.signature(module.prepare).parameters
            if option not in ARGUMENTS
        ),
        sampler=module.prepare,
    )


@dataclass(frozen=True)
class Mechanism:
    """A private top-k mechanism; see the module of its name for what it samples and guarantees."""

    name: str
    label: str
    guarantee: str
    output: str
    relations: tuple
    zero_delta: bool
    options: tuple
    sampler: object

    def prepare(self, counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", **options):
        """Do all the work that needs no randomness; return `draw(rng)`.

        counts: integers in any order, one per item, or a Profile. `draw` returns indices into
            them (of a Profile: ranks, in the order of descending counts), best first, or
            shuffled if the output is a set.
        k: how many items to select, 1 to the number of items.
        epsilon, delta: the privacy parameters; a pure mechanism does not look at delta. With
            delta = 0 an approximate mechanism is epsilon-DP, or refuses if it cannot be.
        neighbors: "add-remove" one user, or "swap" one user for another.
        options: further parameters of the mechanism, described in its module.
        """
        return self._prepare(counts, k, epsilon, delta, neighbors, options)

    def select(self, counts, k, epsilon=1.0, delta=1e-6, neighbors="add-remove", *, rng, **options):
        """`prepare`, then one draw with the generator `rng`."""
        return self._prepare(counts, k, epsilon, delta, neighbors, options, once=True)(rng)

    def _prepare(self, counts, k, epsilon, delta, neighbors, options, once=False):
        profile, items_of = (
            (counts, None) if isinstance(counts, Profile) else ranked(counts, once=once)
        )
        k = _checked_k(k, profile.d)
        epsilon = _checked_number("epsilon", epsilon, math.inf, "a finite number above 0")
        epsilon = min(max(epsilon, LEAST_EPSILON), LARGEST_EPSILON)
        if self.guarantee == "approx":
            delta = self._checked_delta(delta)
        self._check_relation(neighbors)
        self._check_options(options)
        # Probabilities too small for a double are meant to become 0.
        with np.errstate(under="ignore"):
            draw_ranks = self.sampler(
                profile, k, epsilon=epsilon, delta=delta, neighbors=neighbors, **options
            )

        def draw(rng):
            if not isinstance(rng, np.random.Generator):
                _refuse_generator(rng)
            with np.errstate(under="ignore"):
                ranks = draw_ranks(rng)
            return ranks if items_of is None else items_of(ranks)

        return draw

    def _checked_delta(self, delta):
        if self.zero_delta and _is_number(delta) and delta == 0:
            return 0.0
        allowed = "a number between 0 and 1" + (", or 0" if self.zero_delta else "")
        return _checked_number("delta", delta, 1, allowed)

    def _check_relation(self, neighbors):
        if neighbors not in RELATIONS:
            raise ValueError(f"neighbors is {neighbors!r}; it must be one of {RELATIONS}.")
        if neighbors not in self.relations:
            raise ValueError(
                f"{self.name} has no guarantee for {neighbors!r} neighbors; "
                f"use {' or '.join(map(repr, self.relations))}."
            )

    def _check_options(self, options):
        for option in options:
            if option not in self.options:
                known = ", ".join(self.options) or "none"
                raise ValueError(f"{self.name} has no option {option!r}; its options: {known}.")


def _checked_k(k, d):
    try:
        value = 0 if isinstance(k, (bool, np.bool_)) else operator.index(k)
    except TypeError:
        value = 0
    if not 1 <= value <= d:
        raise ValueError(f"k is {k!r}; it must be an integer from 1 to the number of items, {d}.")
    return value


def _refuse_generator(rng):
    is_seed = isinstance(rng, numbers.Integral) and rng >= 0
    given, seed = (rng, rng) if is_seed else (f"of type {type(rng).__name__}", "")
    raise ValueError(
        f"rng is {given}; give a numpy.random.Generator, e.g. numpy.random.default_rng({seed})."
    )


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _checked_number(name, value, upper, allowed):
    try:
        number = float(value) if _is_number(value) else math.nan
    except OverflowError:
        number = math.inf
    if not 0 < number < upper:
        raise ValueError(f"{name} is {value!r}; it must be {allowed}.")
    return number
