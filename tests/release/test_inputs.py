"""What a release takes: counts as people have them, with names or without; and what it refuses."""

import importlib
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dp_topk import release

NAMES = ["fig", "apple", "plum", "pear"]
COUNTS = [3, 12, 9, 5]
BEST = ["apple", "plum"]
SURE = 10**9  # an epsilon at which the best comes out


class Missing(Exception):
    """A package that is not installed."""


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Missing(name) from None


def rows():
    """An item for each of its users."""
    return list(np.repeat(NAMES, COUNTS))


NAMED = {
    "a dict": lambda: dict(zip(NAMES, COUNTS, strict=True)),
    "a Counter": lambda: Counter(rows()),
    "NumPy's integers": lambda: dict(zip(NAMES, np.array(COUNTS, np.uint16), strict=True)),
    "a pair of lists": lambda: (NAMES, COUNTS),
    "a pair of arrays": lambda: (np.array(NAMES), np.array(COUNTS)),
    "a Series": lambda: package("pandas").Series(COUNTS, NAMES),
    "a Series that allows for missing values": lambda: package("pandas").Series(
        COUNTS, NAMES, "Int64"
    ),
    "value_counts of pandas": lambda: package("pandas").Series(rows()).value_counts(),
    "size of pandas": lambda: package("pandas").DataFrame({"item": rows()}).groupby("item").size(),
    "a frame of pandas": lambda: package("pandas").DataFrame({"item": NAMES, "users": COUNTS}),
    "a frame of Polars": lambda: package("polars").DataFrame({"item": NAMES, "users": COUNTS}),
    "value_counts of Polars": lambda: package("polars").Series("item", rows()).value_counts(),
    "a table of Arrow": lambda: package("pyarrow").table({"item": NAMES, "users": COUNTS}),
    "a batch of Arrow": lambda: package("pyarrow").RecordBatch.from_pydict(
        {"item": NAMES, "users": COUNTS}
    ),
    "value_counts of Arrow": lambda: package("pyarrow").array(rows()).value_counts(),
}
NUMBERS = {
    "a list": lambda: COUNTS,
    "a tuple": lambda: tuple(COUNTS),
    "an array": lambda: np.array(COUNTS, np.uint8),
    "a column of Polars": lambda: package("polars").Series("users", COUNTS),
    "an array of Arrow": lambda: package("pyarrow").array(COUNTS),
    "a column of Arrow": lambda: package("pyarrow").chunked_array([COUNTS[:1], COUNTS[1:]]),
}


def given(make):
    """The counts, or a test that is skipped because the package is not installed."""
    try:
        return make()
    except Missing as package:
        pytest.skip(f"{package} is not installed")


def everything(counts):
    """What all functions give for two items, where epsilon leaves nothing to chance."""
    return {
        "top_k": release.top_k(counts, 2, SURE),
        "top_k with delta": release.top_k(counts, 2, SURE, delta="1e-9"),
        "top_k_set": sorted(release.top_k_set(counts, 2, SURE)),
        "top_k_unknown": release.top_k_unknown(counts, 2, SURE, "1e-9"),
        "whole": release.top_k_unknown(counts, 2, SURE, "1e-9", whole=True),
        "as_set": sorted(release.top_k_unknown(counts, 2, SURE, "1e-9", whole=True, as_set=True)),
        "noisy_top_k": [row.item for row in release.noisy_top_k(counts, 2, SURE, max_items=4)],
    }


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
def test_names_come_out_where_names_went_in(make):
    counts = given(make)
    results = everything(counts)
    assert results == dict.fromkeys(results, BEST)
    noisy = release.noisy_counts(counts, SURE, sensitivity=4)
    assert {row.item: row.count for row in noisy} == dict(zip(NAMES, COUNTS, strict=True))


@pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS)
def test_indices_come_out_where_numbers_went_in(make):
    counts = given(make)
    results = everything(counts)
    assert results == {name: [1, 2] for name in results}
    noisy = release.noisy_counts(counts, SURE, sensitivity=4)
    assert [(row.item, row.count) for row in noisy] == list(enumerate(COUNTS))


def test_any_name_that_python_can_tell_from_others():
    counts = {"a": 9, 7: 8, b"c": 5, ("b", 1): 6, 2.5: 7}
    best = ["a", 7, 2.5, ("b", 1), b"c"]
    assert release.top_k(counts, 5, SURE) == best
    assert [row.item for row in release.noisy_top_k(counts, 5, SURE, max_items=5)] == best


REFUSED = {
    "NaN; every item needs an integer count": [
        lambda: {"a": 3, "b": float("nan")},
        lambda: package("pandas").Series([3, None], ["a", "b"]),
        lambda: package("pandas").Series([3, None], ["a", "b"], "UInt8"),
        lambda: package("polars").DataFrame({"item": ["a", "b"], "users": [3, None]}),
        lambda: package("pyarrow").array([3, None]),
    ],
    "must be integers": [
        lambda: {"a": 3, "b": 2.0},
        lambda: {"a": 3, "b": None},
        lambda: {"a": "3", "b": "2"},
        lambda: {"a": True, "b": False},
        lambda: package("polars").Series([3.0, 2.0]),
        lambda: package("pyarrow").table({"item": ["a", "b"], "users": ["3", "2"]}),
    ],
    "must not be negative": [lambda: {"a": 3, "b": -1}, lambda: [3, -1]],
    "must lie between 0 and 2**53; not all of these do": [
        lambda: [2**63, 1],  # doubles for NumPy
        lambda: {"a": 2**64, "b": -1},  # objects
    ],
    "1-D array": [
        lambda: None,
        lambda: 5,
        lambda: np.array(5),
        lambda: "abc",
        lambda: iter([3, 2]),
        lambda: [[3], [2]],
    ],
    "one column; give two": [lambda: package("pandas").DataFrame({"users": COUNTS})],
    "3 columns; give two": [
        lambda: (NAMES, COUNTS, COUNTS),
        lambda: package("pyarrow").table({"item": NAMES, "users": COUNTS, "price": COUNTS}),
    ],
    "2 names of items, but 4 counts": [lambda: (["a", "b"], COUNTS)],
    "an item twice": [
        lambda: (["a", "a"], [3, 2]),
        lambda: package("pandas").Series([3, 2], ["a", "a"]),
    ],
    "by a list or a mapping": [lambda: ([["a"], ["b"]], [3, 2])],
    "an item without a name": [
        lambda: {"a": 3, None: 2},
        lambda: {"a": 3, float("nan"): 2},
        lambda: package("pandas").Series([3, 2], ["a", package("pandas").NA]),
        lambda: package("polars").DataFrame({"item": ["a", None], "users": [3, 2]}),
        lambda: package("pyarrow").table({"item": ["a", None], "users": [3, 2]}),
        lambda: (np.ma.array(["a", "b"], mask=[0, 1]), [3, 2]),
    ],
    "masked values": [
        lambda: np.ma.array([3, 2], mask=[0, 1]),
        lambda: (["a", "b"], np.ma.array([3, 2], mask=[0, 1])),
    ],
}
CALLS = [
    lambda counts, **more: release.top_k(counts, 2, 1, **more),
    lambda counts, **more: release.top_k(counts, 2, 1, delta="1e-9", **more),
    lambda counts, **more: release.top_k_set(counts, 2, 1, **more),
    lambda counts, **more: release.top_k_unknown(counts, 2, 1, "1e-9", **more),
    lambda counts, **more: release.noisy_counts(counts, 1, sensitivity=2, **more),
    lambda counts, **more: release.noisy_top_k(counts, 2, 1, max_items=2, **more),
]


def refusal(call, *arguments, **options):
    """The sentence with which a call is refused."""
    with pytest.raises(ValueError, match=r"\.$") as refused:
        call(*arguments, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("about", "make"), [(about, make) for about, cases in REFUSED.items() for make in cases]
)
def test_what_are_no_counts_is_refused_by_all_in_one_sentence(about, make):
    for call in CALLS:
        assert about in refusal(call, given(make))


@pytest.mark.parametrize("call", CALLS)
def test_randbits_is_a_function(call):
    for randbits in (None, 7):
        assert f"randbits is {randbits}" in refusal(call, COUNTS, randbits=randbits)


@pytest.mark.parametrize("call", [*CALLS[:3], *CALLS[4:]])
def test_a_public_list_has_items(call):
    assert "empty" in refusal(call, {})


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"k": 5}, "k is 5"),
        ({"k": 0}, "k is 0"),
        ({"max_items": 0}, "max_items is 0; it must be an integer of at least 1"),
        ({"max_items": 1.5}, "max_items is 1.5"),
        ({"max_items": True}, "max_items is True"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"neighbors": "substitute"}, "neighbors is 'substitute'"),
    ],
)
def test_bad_arguments_of_noisy_top_k(options, about):
    arguments = {"counts": COUNTS, "k": 2, "epsilon": 1, "max_items": 2} | options
    assert about in refusal(release.noisy_top_k, **arguments)


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"sensitivity": 0}, "sensitivity is 0; it must be a finite number above 0"),
        ({"sensitivity": None}, "sensitivity is None"),
        ({"epsilon": "much"}, "epsilon is 'much'"),
    ],
)
def test_bad_arguments_of_noisy_counts(options, about):
    arguments = {"counts": COUNTS, "epsilon": 1, "sensitivity": 2} | options
    assert about in refusal(release.noisy_counts, **arguments)


@pytest.mark.parametrize("whole", [False, True])
def test_whether_a_limit_is_refused_does_not_depend_on_the_counts(whole):
    for limit in (2**53 + 1, 10**30):
        options = {"limit": limit, "whole": whole}
        assert "limit is" in refusal(release.top_k_unknown, [3], 1, 1, "0.1", **options)
    for counts in ([], [3]):
        release.top_k_unknown(counts, 1, 1, "0.1", limit=2**53, whole=whole)


def test_a_delta_that_is_none_is_refused():
    for delta in (1, "1.5", -0.1, None, True, "x", Fraction(3, 2)):
        message = refusal(release.top_k, COUNTS, 2, 1, delta=delta)
        assert message.startswith(f"delta is {delta!r}"), message


def test_what_decides_about_privacy_is_given_by_name():
    for call in (release.top_k, release.top_k_set):
        with pytest.raises(TypeError, match=re.escape("takes 3 positional arguments")):
            call(COUNTS, 2, 1, "1e-9")
        with pytest.raises(TypeError, match="epsilon"):
            call(COUNTS, 2)
