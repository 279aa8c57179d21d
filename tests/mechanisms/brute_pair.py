"""Pair by brute force: sequences counted one by one, and the bound looked up state by state.

Nothing here is shared with the sampler but the tables of a built `Level`, which `bound` reads by
their description alone.
"""

import functools
import math


def leader(chosen):
    """The smallest rank not chosen."""
    rank = 0
    while rank in chosen:
        rank += 1
    return rank


def choices(within, chosen):
    """The ranks that may come next when these are chosen: unchosen ones of the first t(leader)."""
    return [rank for rank in range(within[leader(chosen)]) if rank not in chosen]


def states(within):
    """Every set of ranks that the first places of an allowed sequence can hold, by their number."""
    layers = [{frozenset()}]
    for _ in within:
        layers.append({chosen | {x} for chosen in layers[-1] for x in choices(within, chosen)})
    return layers


def count(within):
    """M(v): the number of allowed sequences, as an integer, for windows of a dozen items.

    Ranks below the leader are all chosen, and those from k on are alike, so a state is the leader,
    the ranks chosen between it and k, and the number of the others.
    """
    k = len(within)

    @functools.cache
    def completions(first, between, others):
        if first + between.bit_count() + others == k:
            return 1
        end = min(within[first], k)
        total = 0
        for rank in range(first + 1, end):
            if not between >> (rank - first) & 1:
                total += completions(first, between | 1 << (rank - first), others)
        outside = within[first] - end - others
        if outside > 0:
            total += outside * completions(first, between, others + 1)
        step = 1
        while between >> step & 1:
            step += 1
        return total + completions(first + step, between >> step & ~1, others)

    for first in reversed(range(k)):  # so that the recursion stays shallow
        completions(first, 0, 0)
    return completions(0, 0, 0)


def bound(level, chosen):
    """log g of a set of chosen ranks, from the tables of a level that is built."""
    n = len(chosen)
    joint = sum(math.log(level.within[r] - r) for r in range(n, level.k))
    first = leader(chosen)
    if first >= level.inner:
        return joint
    q, far, outer = level.near[first], level.far[first], level.outer[first]
    bits = sum(1 << x for x in range(q + 1) if first + x in chosen)
    beyond = [rank for rank in chosen if first + q < rank < level.inner]
    others = sum(rank >= level.inner for rank in chosen)
    assert len(beyond) <= far
    assert others <= outer
    entry = level.tables[first][(bits * (far + 1) + len(beyond)) * (outer + 1) + others]
    weights = sum(math.log(level.weights[rank]) for rank in beyond)
    log_entry = math.log(entry) if entry else -math.inf
    return joint + log_entry + level.scales[first] + weights
