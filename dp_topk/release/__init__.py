"""Private top k for publication: exact draws, without floating point.

    from dp_topk import release

    votes = {"apple": 120, "pear": 98, "plum": 55, "fig": 41, "medlar": 3}

    release.top_k(votes, k=3, epsilon="0.1")              # 3 items, best first
    release.top_k_set(votes, k=3, epsilon="0.1")          # 3 items; their order means nothing
    release.top_k(votes, k=3, epsilon=1, delta="1e-6")    # peeling: better where gaps are small
    release.top_k_unknown(votes, 3, 1, "1e-6")            # no public list of items is needed
    release.noisy_counts(votes, 1, sensitivity=5)         # counts, with intervals
    release.noisy_top_k(votes, 3, 1, max_items=2)         # both, if a user has at most 2 items

The samplers of `mechanisms` round, and NumPy's generator can be predicted. These draw exactly from
the distributions that are written down, with integers, decimals rounded in a known direction and
the randomness of the operating system. docs/release.md says what is promised and what is not.

Counts are a mapping or a pandas Series of item to number of users, a table of two columns (items
and counts: pandas, Polars or Arrow), or numbers alone: a sequence, an array, or a column of Polars
or Arrow. Items come out by name where names went in, and as indices otherwise. All promises assume
that a user adds at most 1 to each count.

Every call spends epsilon again, even with the same arguments. How long it takes depends on the
counts and on the draw. Errors say which argument to change, and how.
"""

import secrets
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp_topk.mechanisms import (
    LARGEST_COUNT,
    Neighbors,
    Profile,
    checked_integers,
    checked_k,
    get,
    moves,
    ranked,
)

from ._inputs import Names, at_least, exact, exact_delta, named, order_of_names
from ._lottery import RandBits
from ._noise import NoisyCount, discrete_laplace, margin, with_intervals
from ._outputs import Left, Sequences, Sets
from ._peeling import epsilon_per_round, peel
from ._threshold import Threshold
from ._unknown import draw_unknown, limited

__all__ = ["NoisyCount", "epsilon_per_round", "exact"]
__all__ += ["noisy_counts", "noisy_top_k", "top_k", "top_k_set", "top_k_unknown"]

LIMIT = 5  # times k: how many items can come out where there is no list, by default


def top_k(
    counts: Any,
    k: int,
    epsilon: Any,
    *,
    delta: Any = 0,
    neighbors: Neighbors = "add-remove",
    randbits: RandBits = secrets.randbits,
) -> list[Any]:
    """k items of a public list, best first.

    With delta = 0 this is Joint, which is epsilon-DP: a sequence S of distinct items has
    probability proportional to e^(-epsilon loss(S) / 2), or e^(-epsilon loss(S) / 4) for swap
    neighbors, where loss(S) = max_r (c_r - c_{s_r}) and c_1 >= c_2 >= ... are the sorted counts.
    With a delta above 0 it is peeling, which is (epsilon, delta)-DP (`release._peeling`).

    Parameters
    ----------
    counts : mapping, Series, table or array-like
        The number of users of each item. If the list of items was taken from the data, and is not
        public, use `top_k_unknown`.
    k : int
        How many items, from 1 to the number of items.
    epsilon, delta : str, Fraction, Decimal, int or float
        Above 0, and from 0 to below 1, as they are written: "0.1" is one tenth, "1/3" a third, and
        a float is the number that Python prints for it.
    neighbors : {"add-remove", "swap"}
        What is protected: one user more or less, or one user in place of another.
    randbits : callable
        `randbits(n)` gives n random bits as an integer. Anything but the default is for tests.

    Returns
    -------
    list
        k names, or indices into counts that have no names.

    Raises
    ------
    ValueError
        counts is empty, holds anything but integers from 0 to 2**53, or lacks or repeats a name; or
        another argument is not as described.
    """
    delta = exact_delta(delta)
    if delta == 0:
        return prepare(Sequences, counts, k, epsilon, neighbors)(randbits)
    profile, names_of = known(counts)
    k, epsilon, drift = checked_k(k, profile.d), exact(epsilon), drift_of(neighbors)
    rate = epsilon_per_round(k, epsilon, delta) / drift
    return names_of(peel(Left(profile), k, rate, randbits))


def top_k_set(
    counts: Any,
    k: int,
    epsilon: Any,
    *,
    neighbors: Neighbors = "add-remove",
    randbits: RandBits = secrets.randbits,
) -> list[Any]:
    """k items of a public list as a set, in random order, which tells nothing.

    Canonical: as Joint of `top_k`, but the loss of a set S is how much the largest count outside S
    exceeds the smallest in S, or 0 if it does not. It is epsilon-DP.

    Parameters
    ----------
    counts, k, epsilon, neighbors, randbits
        As for `top_k`.

    Returns
    -------
    list
        As from `top_k`, in random order.

    Raises
    ------
    ValueError
        As from `top_k`.
    """
    return prepare(Sets, counts, k, epsilon, neighbors)(randbits)


def top_k_unknown(
    counts: Any,
    k: int,
    epsilon: Any,
    delta: Any,
    *,
    limit: int | None = None,
    whole: bool = False,
    as_set: bool = False,
    neighbors: Neighbors = "add-remove",
    randbits: RandBits = secrets.randbits,
) -> list[Any]:
    """Items that are safe to name, without a public list of items.

    It is (epsilon, delta)-DP, however many items a user has (`release._unknown`). Items with the
    count 0 make no difference.

    Parameters
    ----------
    counts, epsilon, neighbors, randbits
        As for `top_k`, but the items need not be public.
    k : int
        How many items at most. It may exceed the number of items.
    delta : str, Fraction, Decimal, int or float
        Above 0 and below 1, as it is written. One over the number of users is far too much.
    limit : int, optional
        How many items with the largest counts can come out: at least k, 5 k by default, and chosen
        without looking at the data. The larger, the more an item must stand out; the smaller, the
        more the next count after them matters.
    whole : bool
        All k items or none, with one epsilon for all places: for counts with clear gaps around the
        k-th. By default, as many items as are safe to name: for counts that come down gradually.
    as_set : bool
        With `whole`: as a set, in random order, like `top_k_set`.

    Returns
    -------
    list
        Items, best first. Fewer than k mean that no further item is safe to name, not that there
        are no more.

    Raises
    ------
    ValueError
        As from `top_k`, except that counts may be empty and k large; also if delta is 0, limit is
        below k, or as_set comes without whole.
    """
    k = at_least(1, "k", k)
    limit = LIMIT * k if limit is None else at_least(k, "limit", limit)
    if limit > LARGEST_COUNT:
        raise ValueError(f"limit is {limit}; it must not exceed 2**53.")
    epsilon, delta, drift = exact(epsilon), exact_delta(delta), drift_of(neighbors)
    if delta == 0:
        raise ValueError("delta is 0; an unknown domain needs a delta above 0, such as 1e-6.")
    if as_set and not whole:
        raise ValueError("as_set needs whole=True: a set comes out whole or not at all.")
    values, names_of = checked(counts, empty=True)
    outputs = (Sets if as_set else Sequences) if whole else None
    domain = limited(values, limit, names_of)
    return names_of(draw_unknown(outputs, domain, limit, k, epsilon, delta, drift, randbits))


def noisy_counts(
    counts: Any,
    epsilon: Any,
    *,
    sensitivity: Any,
    randbits: RandBits = secrets.randbits,
) -> list[NoisyCount]:
    """Counts with discrete Laplace noise of scale sensitivity / epsilon, and 95 % intervals.

    It is epsilon-DP if one user changes the counts by at most `sensitivity` in all
    (`release._noise`). The items, in the order of the input, must be public or have been released,
    for an epsilon that this one adds to.

    Parameters
    ----------
    counts, epsilon, randbits
        As for `top_k`.
    sensitivity : int
        The number of these counts; or c, where that is smaller and a user has at most c items
        (2 c for swap neighbors).

    Returns
    -------
    list of NoisyCount
        For each item, in the order of the input. Each interval holds the true count with a
        probability of 95 %.

    Raises
    ------
    ValueError
        As from `top_k`, or if sensitivity is not above 0.
    """
    rate = exact(epsilon) / exact(sensitivity, "sensitivity")
    values, names_of = checked(counts)
    noisy = values + discrete_laplace(len(values), rate, randbits)
    rows = zip(names_of(range(len(values))), noisy.tolist(), strict=True)
    return with_intervals(rows, margin(rate, Fraction(1, 20)))


def noisy_top_k(
    counts: Any,
    k: int,
    epsilon: Any,
    *,
    max_items: int,
    neighbors: Neighbors = "add-remove",
    randbits: RandBits = secrets.randbits,
) -> list[NoisyCount]:
    """k items of a public list and their noisy counts, from one noisy histogram.

    Every count gets discrete Laplace noise of scale max_items / epsilon, or 2 max_items / epsilon
    for swap neighbors; the k largest come out. It is epsilon-DP as a whole if a user has at most
    `max_items` items (`release._noise`).

    Parameters
    ----------
    counts, k, epsilon, neighbors, randbits
        As for `top_k`.
    max_items : int
        How many items a user has at most. Choose it without looking at the data, and see to it
        before you count, by a function of each user's rows alone.

    Returns
    -------
    list of NoisyCount
        Largest noisy count first. On average 95 % of the k intervals or more hold the true count.

    Raises
    ------
    ValueError
        As from `top_k`, or if max_items is not an integer of at least 1.
    """
    values, names_of = checked(counts)
    d = len(values)
    k, most = checked_k(k, d), at_least(1, "max_items", max_items)
    rate = exact(epsilon) / min(d, drift_of(neighbors) * most)
    noisy = values + discrete_laplace(d, rate, randbits)
    near = np.flatnonzero(noisy >= np.partition(noisy, d - k)[d - k])
    found = zip(names_of(near.tolist()), noisy[near].tolist(), strict=True)
    chosen = sorted(found, key=lambda one: (-one[1], order_of_names(one[0])))[:k]
    return with_intervals(chosen, margin(rate, Fraction(k, 20 * d)))


def prepare(
    outputs: type[Sequences] | type[Sets],
    counts: Any,
    k: int,
    epsilon: Any,
    neighbors: Neighbors = "add-remove",
) -> Callable[..., list[Any]]:
    """Do all the work of `top_k` or `top_k_set` that needs no randomness: `draw(randbits)`."""
    profile, names_of = known(counts)
    k, epsilon = checked_k(k, profile.d), exact(epsilon)
    threshold = Threshold(outputs(profile, k), epsilon / (2 * drift_of(neighbors)))

    def draw(randbits: RandBits = secrets.randbits) -> list[Any]:
        return names_of(threshold.draw(randbits))

    return draw


def known(counts: Any) -> tuple[Profile, Names]:
    """The profile of counts over a public list, and a function that names the items of ranks."""
    if isinstance(counts, Profile):
        return counts, list
    values, names_of = named(counts)
    profile, items_of = ranked(values)
    return profile, lambda ranks: names_of(items_of(np.asarray(ranks)).tolist())


def checked(counts: Any, *, empty: bool = False) -> tuple[NDArray[np.int64], Names]:
    """The counts as an array of integers, and a function that gives names by positions."""
    values, names_of = named(counts)
    scalar = getattr(values, "shape", None) == ()
    if not (empty and not scalar and hasattr(values, "__len__") and len(values) == 0):
        values, _, _ = checked_integers(values, "counts")
    return np.asarray(values).astype(np.int64), names_of


def drift_of(neighbors: Neighbors) -> int:
    """`moves` of a relation that exists."""
    get("joint").check_relation(neighbors)
    return moves(neighbors)
