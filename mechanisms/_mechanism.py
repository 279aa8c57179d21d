"""What is known of a mechanism, and its two ways to draw: `prepare` and `select`."""

import dataclasses
import inspect
import math
import numbers
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._profile import Integers, Profile
from ._ranked import ranked

Ranks: TypeAlias = Integers
Draw: TypeAlias = Callable[[np.random.Generator], Ranks]
Neighbors: TypeAlias = Literal["add-remove", "swap"]

RELATIONS: tuple[Neighbors, ...] = ("add-remove", "swap")
ARGUMENTS = ("profile", "k", "epsilon", "delta", "neighbors")  # of every module's prepare


def moves(neighbors: Neighbors) -> int:
    """How far two counts can move against each other: 1 if a user comes or goes, 2 for a swap."""
    return 2 if neighbors == "swap" else 1


class Unavailable(Exception):
    """The mechanism cannot serve these counts.

    Whether it is raised depends on the data, so this is fine in an experiment, never in a release.
    """


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """A private top-k mechanism: what its module says of it, and how to draw from it.

    Attributes
    ----------
    name : str
        The name that `get` knows it by.
    module : str
        The module that defines it, whose docstring says what it samples and why that is private.
    sampler : callable
        `prepare` of that module.
    options : tuple of str
        Further keyword arguments of `prepare`.
    label : str
        Its name in figures.
    guarantee : {"pure", "approx"}
        epsilon-DP or (epsilon, delta)-DP.
    output : {"sequence", "set", "partial sequence", "partial set"}
        A sequence comes best first; the order of a set tells nothing. A partial one may hold
        fewer than k items, or none.
    relations : tuple of {"add-remove", "swap"}
        The neighbour relations that it can honour.
    zero_delta : bool
        Whether an approximate mechanism accepts delta = 0 and is epsilon-DP then.
    citation : str
        Where it was published.
    needs_domain : bool
        Whether the list of items must be public. If not, items of count 0 make no difference.
    published_of : str or None
        For a published algorithm in vectorised form: the fast sampler of the same distribution.
    paper_name : str or None
        Its name in the paper, where it is one of the paper's mechanisms.
    color, dash, marker : optional
        Its look in figures: a colour, the lengths of dashes and of the gaps between them (none
        for a solid line) and Matplotlib's letter for a marker. Figures choose what is None.
    order : int
        Its position in `names()`; equal positions are in the order of names.
    extra_memory : callable
        `extra_memory(d, k)`: the bytes that a draw of k out of d items needs beyond the counts.
    extra_seconds : callable
        `extra_seconds(k)`: how long preparing may take, if that is worth mentioning.
    every_pair : bool
        Whether it computes a number for each pair of an item and a place, d k in all.
    """

    name: str
    module: str
    sampler: Callable[..., Draw]
    options: tuple[str, ...]
    label: str
    guarantee: Literal["pure", "approx"]
    output: Literal["sequence", "set", "partial sequence", "partial set"] = "sequence"
    relations: tuple[Neighbors, ...] = RELATIONS
    zero_delta: bool = False
    citation: str = ""
    needs_domain: bool = True
    published_of: str | None = None
    paper_name: str | None = None
    color: str | None = None
    dash: tuple[float, ...] | None = None
    marker: str | None = None
    order: int = 1000
    extra_memory: Callable[[int, int], int] = lambda d, k: 0
    extra_seconds: Callable[[int], float] = lambda k: 0
    every_pair: bool = False

    @classmethod
    def of(cls, name: str, module: ModuleType) -> "Mechanism":
        """The mechanism that a module defines."""
        missing = [key for key in ("label", "guarantee", "prepare") if not hasattr(module, key)]
        if missing:
            raise ValueError(
                f"The mechanism {name} has no {missing[0]}; define it in {module.__file__}."
            )
        parameters = inspect.signature(module.prepare).parameters
        own: dict[str, Any] = {
            "name": name,
            "module": module.__name__,
            "sampler": module.prepare,
            "options": tuple(option for option in parameters if option not in ARGUMENTS),
        }
        keys = [field.name for field in dataclasses.fields(cls)]
        return cls(**{key: getattr(module, key) for key in keys if hasattr(module, key)} | own)

    def prepare(
        self,
        counts: ArrayLike | Profile,
        k: int,
        epsilon: float,
        delta: float = 1e-6,
        neighbors: Neighbors = "add-remove",
        **options: Any,
    ) -> Draw:
        """Do all the work that needs no randomness.

        Parameters
        ----------
        counts : array-like of int, or Profile
            The number of users of each item, in any order.
        k : int
            How many items to select, from 1 to the number of items.
        epsilon, delta : float
            The privacy parameters. A pure mechanism ignores delta. With delta = 0 an approximate
            mechanism is epsilon-DP, or refuses if it cannot be.
        neighbors : {"add-remove", "swap"}
            Neighbouring datasets differ by one user who is added or removed, or by one user who
            is swapped for another.
        **options
            Further parameters of the mechanism, described in its module.

        Returns
        -------
        callable
            `draw(rng)`, which takes a numpy.random.Generator and returns an array of k distinct
            indices into `counts`, or of ranks if that is a Profile: best first, or in random
            order if the output is a set.

        Raises
        ------
        ValueError
            An argument is not what it must be; one sentence says which, and what to change.
        Unavailable
            The mechanism cannot serve these counts.
        """
        profile, items_of = ranked(counts)
        k = checked_k(k, profile.d)
        epsilon = checked_number("epsilon", epsilon, math.inf, "a finite number above 0")
        # Counts are below 2**53: beyond these bounds no double tells the difference, and what
        # mechanisms form of epsilon, k and counts stays finite within them.
        epsilon = min(max(epsilon, 1e-250), 1e250)
        if self.guarantee == "approx":
            delta = self._checked_delta(delta)
        self.check_relation(neighbors)
        for option in options:
            if option not in self.options:
                known = ", ".join(self.options) or "none"
                raise ValueError(f"{self.name} has no option {option!r}; its options: {known}.")
        # Probabilities too small for a double are meant to become 0.
        with np.errstate(under="ignore"):
            draw_ranks = self.sampler(
                profile, k, epsilon=epsilon, delta=delta, neighbors=neighbors, **options
            )

        def draw(rng: np.random.Generator) -> Ranks:
            _check_generator(rng)
            with np.errstate(under="ignore"):
                return items_of(draw_ranks(rng))

        return draw

    def select(
        self,
        counts: ArrayLike | Profile,
        k: int,
        epsilon: float,
        delta: float = 1e-6,
        neighbors: Neighbors = "add-remove",
        *,
        rng: np.random.Generator,
        **options: Any,
    ) -> Ranks:
        """`prepare`, then one draw.

        Parameters
        ----------
        counts, k, epsilon, delta, neighbors, **options
            As for `prepare`, which also says what is raised.
        rng : numpy.random.Generator
            Where everything random comes from.

        Returns
        -------
        numpy.ndarray
            What `draw(rng)` returns.
        """
        profile, items_of = ranked(counts, once=True)
        return items_of(self.prepare(profile, k, epsilon, delta, neighbors, **options)(rng))

    def check_relation(self, neighbors: str) -> None:
        """Raise a ValueError unless the mechanism can honour this neighbour relation."""
        if neighbors not in RELATIONS:
            raise ValueError(f"neighbors is {neighbors!r}; it must be one of {RELATIONS}.")
        if neighbors not in self.relations:
            raise ValueError(
                f"{self.name} has no guarantee for {neighbors!r} neighbors; "
                f"use {' or '.join(map(repr, self.relations))}."
            )

    def _checked_delta(self, delta: Any) -> float:
        if self.zero_delta and is_number(delta) and delta == 0:
            return 0.0
        allowed = "a number between 0 and 1" + (", or 0" if self.zero_delta else "")
        return checked_number("delta", delta, 1, allowed)


def checked_k(k: Any, d: int) -> int:
    """k as an integer, if it is one from 1 to the number of items d; else a ValueError."""
    try:
        value = 0 if isinstance(k, (bool, np.bool_)) else operator.index(k)
    except TypeError:
        value = 0
    if not 1 <= value <= d:
        raise ValueError(f"k is {k!r}; it must be an integer from 1 to the number of items, {d}.")
    return value


def _check_generator(rng: Any) -> None:
    if not isinstance(rng, np.random.Generator):
        is_seed = isinstance(rng, numbers.Integral) and int(rng) >= 0
        given, seed = (rng, rng) if is_seed else (f"of type {type(rng).__name__}", "")
        raise ValueError(
            f"rng is {given}; give a numpy.random.Generator, e.g. numpy.random.default_rng({seed})."
        )


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def checked_number(name: str, value: Any, upper: float, allowed: str) -> float:
    """The value as a double, if it is a number above 0 and below `upper`; else a ValueError."""
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:
        number = math.inf
    if not 0 < number < upper:
        raise ValueError(f"{name} is {value!r}; it must be {allowed}.")
    return number
