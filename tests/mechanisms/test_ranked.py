"""Items of ranks, found a few at a time or all at once, are those of a stable sort."""

import numpy as np
import pytest

from dp_topk.mechanisms import _ranked
from dp_topk.mechanisms._ranked import ranked

RNG = np.random.default_rng(1)
MANY = 300_000  # items, in more than one part

VECTORS = {
    "one item": np.array([4]),
    "all equal": np.full(50_000, 3),
    "few distinct": RNG.integers(0, 500, MANY),
    "few distinct, far from zero": 2**53 - RNG.integers(0, 500, MANY),
    "one item above many ties": np.where(np.arange(MANY) == 77_777, 30_000, 0),
    "a long tail": np.minimum(RNG.pareto(1.0, MANY) + 1, 3e4).astype(np.int64),
    "small type": RNG.integers(0, 200, MANY).astype(np.uint8),
    "unsigned": RNG.integers(0, 2**53, 70_000).astype(np.uint64),
    "all distinct": RNG.permutation(70_000) * 10**10,
    "wide, often equal": RNG.integers(0, 40, 70_000) * 10**14,
    "wide, mostly zero": np.where(RNG.random(70_000) < 0.9, 0, RNG.integers(0, 10**15, 70_000)),
    "too wide to pack": RNG.integers(0, 2**53, 70_000),
}
vectors = pytest.mark.parametrize("counts", VECTORS.values(), ids=VECTORS)


def by_sorting(counts):
    return np.argsort(-counts.astype(np.int64), kind="stable")


@vectors
@pytest.mark.parametrize("once", [False, True])
def test_items_of_a_draw_are_found(counts, once):
    order, d = by_sorting(counts), len(counts)
    for k in {1, min(d, 195), min(d, 5000)}:
        profile, items_of = ranked(counts, once=once)
        ranks = np.random.default_rng(k).choice(d, k, replace=False)
        assert (items_of(ranks) == order[ranks]).all()
        assert (profile.counts_at(ranks) == counts[order[ranks]]).all()


@vectors
def test_further_draws_find_them_too_and_a_changed_input_does_not_matter(counts):
    order, counts = by_sorting(counts), counts.copy()
    _, items_of = ranked(counts)
    counts[:] = 1
    for seed in range(3):
        ranks = np.random.default_rng(seed).integers(0, len(counts), 100)
        assert (items_of(ranks) == order[ranks]).all()


@vectors
def test_the_profile_is_that_of_the_counts(counts):
    distinct, items = np.unique(counts.astype(np.int64), return_counts=True)
    profile, _ = ranked(counts)
    assert (profile.counts == distinct[::-1]).all()
    assert (profile.items == items[::-1]).all()
    asked = np.append(distinct[:: max(1, len(distinct) // 50)], [0, distinct[-1] + 1])
    descending = np.sort(counts.astype(np.int64))[::-1]
    expected = np.searchsorted(-descending, -asked, side="right")
    assert (profile.at_least(asked) == expected).all()


def test_an_entry_an_item_is_a_profile_too(monkeypatch):
    """Many counts of which few are equal are not grouped."""
    counts = np.append(RNG.permutation(5000) * 10**9, [0, 0, 10**9])
    grouped, _ = ranked(counts)
    monkeypatch.setattr(_ranked, "_MANY", 1000)
    profile, items_of = ranked(counts)
    assert len(profile.deficits) == len(counts) > len(grouped.deficits)
    ranks = np.arange(len(counts))
    assert (profile.counts_at(ranks) == grouped.counts_at(ranks)).all()
    asked = counts[:100] + np.array([[-1], [0], [1]])
    assert (profile.at_least(asked) == grouped.at_least(asked)).all()
    assert (profile.items == 1).all()
    assert (items_of(ranks[:200]) == by_sorting(counts)[:200]).all()


@pytest.mark.parametrize("spread", [0, 1, 2**14, 2**31, 2**40, 2**53])
@pytest.mark.parametrize("bits", [0, 1, 18, 32, 33, 40])
def test_packed_integers_have_room(spread, bits):
    """The largest deficit above the largest item number, for which there need be no vector."""
    narrow = _ranked._narrowest(spread, bits)
    largest = (spread << bits) + (1 << bits) - 1
    assert (largest > np.iinfo(np.int64).max) == (narrow is None)
    assert narrow is None or largest <= np.iinfo(narrow).max


def test_threads_may_share_what_was_prepared():
    """A thread that finds its items while another one sorts them still finds them."""
    counts = np.random.default_rng(5).integers(0, 50, 200)
    profile, items = ranked(counts)
    expected = np.argsort(-counts, kind="stable")
    read, find = items.ways

    def interrupted(wanted, places):
        items(np.arange(3))  # what another thread does meanwhile
        assert items.ways is None
        return find(wanted, places)

    items.ways = read, interrupted
    assert items(np.arange(7)).tolist() == expected[:7].tolist()

    profile, items = ranked(counts)
    counts_at = profile.counts_at

    def let_go(ranks):
        profile.counts_at = counts_at
        items(np.arange(3))
        return counts_at(ranks)

    profile.counts_at = let_go
    assert items(np.arange(7)).tolist() == expected[:7].tolist()
