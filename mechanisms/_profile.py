"""Counts as mechanisms see them: distinct values, how many items have each, items by rank."""

import numpy as np

# Up to here every integer is a double, and differences of counts are exact.
LARGEST_COUNT = 2**53


class Profile:
    """How many items have each count.

    A mechanism treats items alike, so this is all that it needs to know; it is much smaller
    than the vector of counts when many items share a count. Items are known by rank: 0 for
    an item with the largest count, d - 1 for one with the smallest. Ties are broken
    arbitrarily, but always in the same way.

    counts: the distinct counts, descending.
    deficits: counts[0] - counts.
    bounds: bounds[g] items have a count above counts[g], bounds[g + 1] at least counts[g].
    d: the number of items.
    """

    def __init__(self, counts, items):
        counts, items = _integers(counts, "counts").copy(), _integers(items, "items")
        if counts.shape != items.shape:
            raise ValueError("A profile needs as many item numbers as counts.")
        if items.min() < 1:
            raise ValueError("A profile lists only counts that at least one item has.")
        if items.sum(dtype=float) > LARGEST_COUNT:
            raise ValueError("A profile must not have more than 2**53 items.")
        if (np.diff(counts) >= 0).any():
            raise ValueError("The counts of a profile must be distinct and in descending order.")
        self._set(counts, counts[0] - counts, np.concatenate(([0], np.cumsum(items))))

    def _set(self, counts, deficits, bounds):
        self.counts, self.deficits, self.bounds = counts, deficits, bounds
        self.d = int(bounds[-1])

    @classmethod
    def _of_sorted_deficits(cls, largest, deficits):
        """Profile of the counts largest - deficits, where deficits are in ascending order."""
        changes = np.flatnonzero(deficits[1:] != deficits[:-1])
        bounds = np.empty(len(changes) + 2, np.int64)
        bounds[0], bounds[-1] = 0, len(deficits)
        np.add(changes, 1, out=bounds[1:-1])
        distinct = deficits[bounds[:-1]].astype(np.int64, copy=False)
        profile = cls.__new__(cls)
        profile._set(largest - distinct, distinct, bounds)
        return profile

    @property
    def items(self):
        """The number of items that have each count."""
        return np.diff(self.bounds)

    def at_least(self, count):
        """How many items have this count or a larger one; `count` may be an array."""
        return self.bounds[np.searchsorted(self.deficits, self.counts[0] - count, side="right")]

    def counts_at(self, ranks):
        """The counts of the items with these ranks."""
        return self.counts[np.searchsorted(self.bounds, ranks, side="right") - 1]


def ranked(counts):
    """The profile of a vector of counts, and a function that gives the items of ranks."""
    counts = _integers(counts, "counts")
    d, largest = len(counts), counts.max()
    spread, bits = int(largest - counts.min()), (d - 1).bit_length()
    if spread << bits < 2**63:
        # Sorting (deficit, item) packed in one integer is several times faster than argsort,
        # and the narrower the integer the better.
        narrow = np.uint32 if spread << bits < 2**32 else np.int64
        keys = np.subtract(largest, counts, dtype=narrow, casting="unsafe")
        keys <<= bits
        keys |= np.arange(d, dtype=narrow)
        keys.sort()
        profile = Profile._of_sorted_deficits(largest, keys >> bits)
        return profile, lambda ranks: keys[ranks].astype(np.int64) & ((1 << bits) - 1)
    order = np.argsort(-counts, kind="stable")
    return Profile._of_sorted_deficits(largest, largest - counts[order]), order.__getitem__


def _integers(values, name):
    """`values` as a 1-D int64 array, or a ValueError that says what to change."""
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
        raise ValueError(
            f"{name} must be integers, not {array.dtype}; convert them with astype(int)."
        )
    if array.min() < 0:
        raise ValueError(f"{name} must not be negative; the smallest is {array.min()}.")
    if array.max() > LARGEST_COUNT:
        raise ValueError(f"{name} must not exceed 2**53; the largest is {array.max()}.")
    return array.astype(np.int64, copy=False)
