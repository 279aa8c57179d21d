"""Profiles as files: equal profiles are equal bytes, and a damaged file is named, not read."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.scripts.common import InputError
from workflow.scripts.data.profiles import (
    LARGEST_COUNT,
    profile_of,
    read_facts,
    read_profile,
    size,
    top,
    total,
    write_facts,
    write_profile,
)

ABOUT = {"dataset": "pets", "source": "file", "users": "once"}
VALUES = [7, 0, 3, 7, 3, 7, 1]
TEXT = "count,items\n7,3\n3,2\n1,1\n0,1\n"


@pytest.fixture
def pets(tmp_path):
    """A profile and its facts, as the pipeline writes them."""
    paths = tmp_path / "pets.csv", tmp_path / "pets.json"
    profile = profile_of(VALUES)
    write_profile(paths[0], *profile)
    write_facts(paths[1], *profile, **ABOUT)
    return paths


def test_the_file_is_plain(pets):
    assert pets[0].read_text() == TEXT


def test_what_is_written_is_read(pets):
    counts, items = read_profile(*pets)
    assert counts.dtype == items.dtype == np.int64
    assert np.repeat(counts, items).tolist() == sorted(VALUES, reverse=True)


def test_facts_say_what_the_profile_is(pets):
    expected = ABOUT | {"d": 7, "total": 28, "largest": 7}
    assert read_facts(pets[1]) == expected | {"sha256": hashlib.sha256(TEXT.encode()).hexdigest()}


@given(st.lists(st.integers(0, 50) | st.integers(0, LARGEST_COUNT), min_size=1), st.integers(1, 60))
def test_a_profile_keeps_every_count(values, n):
    counts, items = profile_of(values)
    ordered = sorted(values, reverse=True)
    assert np.repeat(counts, items).tolist() == ordered
    assert (np.diff(counts) < 0).all()
    assert (size(items), total(counts, items)) == (len(values), sum(values))
    assert top(counts, items, n).tolist() == ordered[:n]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1))
def test_repeated_counts_are_added_up(pairs):
    counts, items = profile_of(*zip(*pairs, strict=True))
    expected = profile_of([count for count, n in pairs for _ in range(n)])
    assert np.array_equal(counts, expected[0])
    assert np.array_equal(items, expected[1])


DAMAGES = {
    "empty": "",
    "only a header": "count,items\n",
    "no header": "7,3\n3,2\n",
    "other header": "counts,items\n7,3\n",
    "header in other case": "Count,Items\n7,3\n",
    "byte-order mark": "\ufeff" + TEXT,
    "Windows line ends": TEXT.replace("\n", "\r\n"),
    "last line end missing": TEXT[:-1],
    "row cut": TEXT[:-3],
    "row cut at the comma": TEXT[:-2],
    "unsorted": "count,items\n3,2\n7,3\n",
    "count twice": "count,items\n7,3\n7,3\n",
    "third column": "count,items\n7,3,1\n",
    "one column": "count,items\n7\n",
    "no items": "count,items\n7,0\n",
    "negative": "count,items\n7,3\n-1,3\n",
    "fraction": "count,items\n7.5,3\n",
    "not a number": "count,items\nnan,3\n",
    "separators": 'count,items\n"7,000",3\n',
    "blank": "count,items\n7, 3\n",
    "leading zero": "count,items\n07,3\n",
    "empty line": "count,items\n7,3\n\n3,2\n",
    "empty line at the end": TEXT + "\n",
    "over 2^53": f"count,items\n{LARGEST_COUNT + 1},3\n",
    "more digits than an int64": "count,items\n99999999999999999999,3\n",
    "too many items": f"count,items\n7,{LARGEST_COUNT}\n3,{LARGEST_COUNT}\n",
    "zeros": "\0" * len(TEXT),
    "other digits": "count,items\n٧,3\n",
}


@pytest.mark.parametrize("text", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_profile_is_named(tmp_path, text):
    path = tmp_path / "pets.csv"
    path.write_bytes(text.encode())
    with pytest.raises(InputError) as error:
        read_profile(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_the_line_of_the_damage_is_named(tmp_path):
    path = tmp_path / "pets.csv"
    for text, line in [("7,3\n3;2\n", 3), ("7,3\n3,2\n3,1\n", 4), ("7,3\n3,2\n1", 4)]:
        path.write_text("count,items\n" + text)
        with pytest.raises(InputError, match=f"line {line} "):
            read_profile(path)


def test_with_its_facts_every_damage_is_noticed(pets):
    """Every prefix, every missing row and every changed digit."""
    path, facts = pets
    whole = path.read_bytes()
    rows = whole.splitlines(keepends=True)
    damaged = [whole[:n] for n in range(len(whole))]
    damaged += [b"".join(rows[:n] + rows[n + 1 :]) for n in range(len(rows))]
    damaged += [whole[:n] + b"9" + whole[n + 1 :] for n in range(len(whole))]
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"pets\.csv"):
            read_profile(path, facts)
    path.write_bytes(whole)
    read_profile(path, facts)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"sha256": "0"}', "\0\0"])
def test_damaged_facts_are_named(pets, text):
    path, facts = pets
    facts.write_text(text)
    with pytest.raises(InputError, match=r"pets\.json is cut short or altered"):
        read_profile(path, facts)


def test_facts_of_another_profile_are_noticed(pets):
    path, facts = pets
    facts.write_text(json.dumps(json.loads(facts.read_text()) | {"sha256": "0" * 64}))
    with pytest.raises(InputError, match="delete both"):
        read_profile(path, facts)


def test_the_largest_count_is_exact(tmp_path):
    write_profile(tmp_path / "a.csv", *profile_of([LARGEST_COUNT, LARGEST_COUNT - 1, 1]))
    assert read_profile(tmp_path / "a.csv")[0].tolist() == [LARGEST_COUNT, LARGEST_COUNT - 1, 1]
