"""From a vector of counts to its profile, and from ranks back to items.

Only the k items that are drawn are ever named, so items are not sorted. Counts of a small range
are not sorted either, but counted; others are sorted without their items. The items of the first
draw are then found by looking through the counts for the few values that were drawn. A second
draw sorts the items after all, and further ones look theirs up.

Cost: for counts of a small range about two passes over them, for others a sort and two passes.
Memory: for one draw at most about one copy of the counts; for more of them up to three.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._profile import Integers, Profile, checked_integers, deficits_below

Read: TypeAlias = Callable[[slice], NDArray[Any]]
Find: TypeAlias = Callable[[Integers, Integers], Integers]
LookUp: TypeAlias = Callable[[Integers], Integers]

_MANY = 2**20  # from this many items on, another copy of the counts is one too many
_PART = 2**14  # items looked through at once: few enough for the cache, enough for NumPy


def ranked(counts: ArrayLike | Profile, *, once: bool = False) -> tuple[Profile, LookUp]:
    """The profile of a vector of counts, and a function that gives the items of ranks.

    Parameters
    ----------
    counts : array-like of int, or Profile
        The number of users of each item, in any order. The items of a Profile are its ranks.
    once : bool
        The caller asks for items one time only, and before the counts can have changed; then
        the counts need not be copied.

    Returns
    -------
    Profile, callable
        The profile, and `items_of(ranks)`: an array of the indices into `counts` of the items
        with these ranks. Of items with equal counts, the first in the input has the first rank.

    Raises
    ------
    ValueError
        The counts are not a vector of integers from 0 to 2**53.
    """
    if isinstance(counts, Profile):
        return counts, lambda ranks: ranks
    array, smallest, largest = checked_integers(counts, "counts")
    spread = largest - smallest
    if spread < len(array) // 8:
        return _counted(array, largest, spread, once)
    return _sorted(array if once else array.copy(), largest)


def _counted(counts: NDArray[Any], largest: int, spread: int, once: bool) -> tuple[Profile, LookUp]:
    """`ranked` for counts of a small range."""
    d, values = len(counts), spread + 1
    # before[i, v] items with deficit v come before the i-th part. Parts are at least so large
    # that this table is small.
    parts = _parts(d, max(_PART, 4 * values))
    before = np.zeros((len(parts) + 1, values), np.int64)
    deficits = np.empty(0 if once else d, np.min_scalar_type(spread))

    def read(part: slice) -> NDArray[Any]:
        return deficits_below(largest, counts[part]) if once else deficits[part]

    for i, part in enumerate(parts):
        if not once:
            deficits[part] = deficits_below(largest, counts[part])
        np.add(before[i], np.bincount(read(part), minlength=values), out=before[i + 1])
    present = np.flatnonzero(before[-1])
    bounds = np.concatenate(([0], np.cumsum(before[-1, present])))
    profile = Profile.of(largest, present, bounds)

    def find(wanted: Integers, places: Integers) -> Integers:
        items = np.empty(len(wanted), np.int64)
        part_of = (before[1:, wanted] <= places).sum(axis=0)
        codes = np.zeros(values, np.min_scalar_type(len(wanted)))  # 0: not wanted from this part
        for i in np.unique(part_of):
            mine = np.flatnonzero(part_of == i)
            sought, which = np.unique(wanted[mine], return_inverse=True)
            codes[sought] = np.arange(1, len(sought) + 1)
            here = codes.take(read(parts[i]))
            codes[sought] = 0
            ends = np.cumsum(before[i + 1, sought] - before[i, sought])
            near = _ordered(here, ends[-1])
            shifts = ends - before[i + 1, sought]
            items[mine] = parts[i].start + near[places[mine] + shifts[which]]
        return items

    return profile, _Items(profile, read, find)


def _sorted(counts: NDArray[Any], largest: int) -> tuple[Profile, LookUp]:
    """`ranked` for counts of any range."""
    d, parts = len(counts), _parts(len(counts), _PART)
    deficits = deficits_below(largest, counts)
    deficits.sort()
    # Where few of many counts are equal, bounds would be a further copy and say next to nothing.
    runs = [deficits[part.start : part.stop + 1] for part in parts]
    number = sum(np.count_nonzero(run[1:] != run[:-1]) for run in runs)
    if d < _MANY or 4 * number < d:
        changes = [
            part.start + 1 + np.flatnonzero(run[1:] != run[:-1])
            for part, run in zip(parts, runs, strict=True)
        ]
        bounds = np.concatenate(([0], *changes, [d]))
        profile = Profile.of(largest, deficits[bounds[:-1]], bounds)
    else:
        profile = Profile.of(largest, deficits)

    def read(part: slice) -> NDArray[Any]:
        return deficits_below(largest, counts[part])

    def slots(deficits: Integers) -> Integers:
        """Where each deficit stands in a table of 2**16: its hash, by multiplication."""
        return (deficits * 0x61C8864680B583EB >> 47) & 0xFFFF

    def find(wanted: Integers, places: Integers) -> Integers:
        items, before = np.empty(len(wanted), np.int64), np.zeros(len(wanted), np.int64)
        may_be_wanted = np.zeros(2**16, bool)
        may_be_wanted[slots(wanted)] = True
        for part in parts:
            here = read(part)
            near = np.flatnonzero(may_be_wanted.take(slots(here)))
            near = near[np.argsort(here[near], kind="stable")]
            first, end = (here[near].searchsorted(wanted, side) for side in ("left", "right"))
            mine = np.flatnonzero((before <= places) & (places < before + end - first))
            items[mine] = part.start + near[first[mine] + places[mine] - before[mine]]
            before += end - first
        return items

    return profile, _Items(profile, read, find)


class _Items:
    """The items of ranks, found one draw at a time or, from the second on, looked up.

    read(part): the deficits of the items in this slice of the input.
    find(wanted, places): of the items with each wanted deficit, the one at this place.
    """

    def __init__(self, profile: Profile, read: Read, find: Find) -> None:
        self.profile = profile
        self.ways: tuple[Read, Find] | None = (read, find)
        self.asked = False
        self.look_up: LookUp | None = None

    def __call__(self, ranks: Integers) -> Integers:
        # Taken first: another thread that draws may let go of them meanwhile.
        ways = self.ways
        if ways and (self.asked or len(ranks) > _PART // 16):
            self.look_up = _order(ways[0], self.profile.d, self.profile.spread)
            self.ways = None
        self.asked = True
        if ways is None or self.look_up is not None:
            assert self.look_up is not None  # which is there before the ways are gone
            return self.look_up(ranks)
        wanted = self.profile.largest - self.profile.counts_at(ranks)
        return ways[1](wanted, ranks - self.profile.at_least(self.profile.largest - wanted + 1))


def _ordered(codes: NDArray[Any], number: int) -> Integers:
    """Where the `number` codes above 0 stand, in the order of the codes."""
    if 4 * number > len(codes):
        return np.argsort(codes, kind="stable")[-number:]
    near = np.flatnonzero(codes != 0)
    return near[np.argsort(codes[near], kind="stable")]


def _order(read: Read, d: int, spread: int) -> LookUp:
    """A function that gives the items of ranks, from all items in the order of their ranks."""
    bits = (d - 1).bit_length()
    narrow = _narrowest(spread, bits)
    if narrow is None:
        return np.argsort(read(slice(None)), kind="stable").__getitem__
    # Sorting (deficit, item) packed in one integer is several times faster than argsort, and the
    # narrower the integer the better.
    keys: NDArray[Any] = np.arange(d, dtype=narrow)
    for part in _parts(d, _PART):
        keys[part] |= read(part).astype(np.dtype(narrow)) << bits
    keys.sort()
    return lambda ranks: keys[ranks].astype(np.int64) & ((1 << bits) - 1)


def _narrowest(spread: int, bits: int) -> type[np.uint32] | type[np.int64] | None:
    """The integers that hold deficits up to `spread` with this many bits below, if any do."""
    size = spread.bit_length() + bits
    return np.uint32 if size <= 32 else np.int64 if size <= 63 else None


def _parts(d: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, d)) for start in range(0, d, size)]
