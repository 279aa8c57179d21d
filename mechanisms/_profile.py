"""Counts as mechanisms see them: distinct values, and how many items have each."""

import functools
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# Up to here every integer is a double, and differences of counts are exact.
LARGEST_COUNT = 2**53

_DENSE = 2**17  # up to this spread of the counts, a table says how many are at least as large


class Profile:
    """How many items have each count.

    A mechanism treats items alike, so this is all that it needs to know. Items are known by rank:
    0 for an item with the largest count, d - 1 for one with the smallest. Counts and numbers of
    items are at most LARGEST_COUNT, 2**53.

    Parameters
    ----------
    counts : array-like of int
        The distinct counts, descending.
    items : array-like of int
        How many items have each of them.

    Attributes
    ----------
    counts : numpy.ndarray
        The distinct counts, descending. (A vector of counts of which few are equal may have an
        entry for each item instead, equal counts included: no mechanism minds.)
    deficits : numpy.ndarray
        counts[0] - counts.
    bounds : numpy.ndarray
        The ranks from bounds[g] on, below bounds[g + 1], have counts[g].
    d : int
        The number of items.
    largest, spread : int
        The largest count, and how far the smallest is below it.

    Raises
    ------
    ValueError
        Counts and numbers of items are not as described; the message says what to change.
    """

    def __init__(self, counts: ArrayLike, items: ArrayLike) -> None:
        values, _, largest = checked_integers(counts, "counts")
        numbers, fewest, _ = checked_integers(items, "items")
        if values.shape != numbers.shape:
            raise ValueError("A profile needs as many item numbers as counts.")
        if fewest < 1:
            raise ValueError("A profile lists only counts that at least one item has.")
        if numbers.sum(dtype=float) > LARGEST_COUNT:
            raise ValueError("A profile must not have more than 2**53 items.")
        deficits = deficits_below(largest, values)
        if deficits[0] != 0 or (deficits[1:] <= deficits[:-1]).any():
            raise ValueError("The counts of a profile must be distinct and in descending order.")
        self._set(largest, deficits, np.concatenate(([0], np.cumsum(numbers))))

    @classmethod
    def of(cls, largest: int, deficits: Integers, bounds: Integers | None = None) -> Self:
        """The profile with these attributes; without bounds, every item has its own entry."""
        profile = cls.__new__(cls)
        profile._set(largest, deficits, bounds)
        return profile

    def _set(self, largest: int, deficits: Integers, bounds: Integers | None) -> None:
        self.largest, self.deficits, self._bounds = largest, deficits, bounds
        self.spread = int(deficits[-1])
        self.d = len(deficits) if bounds is None else int(bounds[-1])

    # Not all mechanisms need these, and they may be as large as the vector of counts.

    @functools.cached_property
    def counts(self) -> Integers:
        return self.largest - self.deficits

    @functools.cached_property
    def bounds(self) -> Integers:
        return np.arange(self.d + 1) if self._bounds is None else self._bounds

    @property
    def items(self) -> Integers:
        """The number of items that have each count."""
        return np.diff(self.bounds)

    @functools.cached_property
    def _table(self) -> Integers:
        """How many items have a deficit below each integer from 0 to spread + 1."""
        steps = np.diff(self.deficits, prepend=-1, append=self.spread + 1)
        return np.repeat(self.bounds, steps)

    def at_least(self, count: Integers | int) -> Integers:
        """How many items have this count or a larger one; `count` may be an array."""
        deficit = self.largest - count
        if self.spread < _DENSE:
            return self._table.take(deficit + 1, mode="clip")
        group = np.searchsorted(self.deficits, deficit, side="right")
        return group if self._bounds is None else self._bounds[group]

    def groups_of(self, ranks: Integers | int) -> Any:
        """The entries that the items with these ranks belong to."""
        if self._bounds is None:
            return ranks
        return np.searchsorted(self._bounds, ranks, side="right") - 1

    def counts_at(self, ranks: Integers | int) -> Integers:
        """The counts of the items with these ranks."""
        return self.largest - self.deficits[self.groups_of(ranks)]

    def first(self, number: int, nameless: int = 0) -> Self:
        """The profile of this many first ranks, with further items of count 0."""
        groups = int(self.groups_of(number - 1)) + 1
        deficits, bounds = self.deficits[:groups], self.bounds[: groups + 1]
        if bounds[-1] > number:
            bounds = np.append(bounds[:-1], number)
        if nameless:
            deficits, bounds = (
                np.append(deficits, self.largest),
                np.append(bounds, number + nameless),
            )
        return self.of(self.largest, deficits, bounds)


def deficits_below(largest: int, counts: NDArray[Any]) -> Integers:
    """How far the counts are below the largest, whatever type of integer they have."""
    return np.subtract(largest, counts, dtype=np.int64, casting="unsafe")


def checked_integers(values: ArrayLike, name: str) -> tuple[NDArray[Any], int, int]:
    """`values` as a 1-D array of integers, their least and their largest.

    If they are anything else: a ValueError that says what to change.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be a 1-D array of integers; this one is ragged.") from None
    if array.ndim != 1:
        raise ValueError(f"{name} must be a 1-D array; this one has {array.ndim} dimensions.")
    if array.size == 0:
        raise ValueError(f"{name} is empty; there must be at least one item.")
    if array.dtype.kind not in "iu":
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ValueError(f"{name} holds NaN; every item needs an integer count.")
        large = [abs(value) for value in np.array(values, object) if isinstance(value, int)]
        if len(large) == array.size and max(large) >= 2**63:  # which NumPy's integers may not hold
            raise ValueError(f"{name} must lie between 0 and 2**53; not all of these do.")
        raise ValueError(
            f"{name} must be integers, not {array.dtype}; convert them with astype(int)."
        )
    smallest, largest = int(array.min()), int(array.max())
    if smallest < 0:
        raise ValueError(f"{name} must not be negative; the smallest is {smallest}.")
    if largest > LARGEST_COUNT:
        raise ValueError(f"{name} must not exceed 2**53; the largest is {largest}.")
    return array, smallest, largest
