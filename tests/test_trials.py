"""Trials, their errors and their summary."""

import itertools

import numpy as np
import pandas as pd
import pytest

import mechanisms
from workflow.scripts import metrics
from workflow.scripts.aggregate import error_table, read_parts
from workflow.scripts.common import InputError
from workflow.scripts.draws import generator
from workflow.scripts.run_trials import read_trials, run_trials, write_trials
from workflow.scripts.tables import write_table

COUNTS = [100, 40, 40, 7, 1, 0]
PROFILE = mechanisms.Profile([100, 40, 7, 1, 0], [1, 2, 1, 1, 1])


def rows(**changes):
    given = {
        "dataset": "toy",
        "mechanism": "pnf_peel",
        "epsilon": "0.05",
        "k": 3,
        "trials": range(1, 41),
        "seed": 7,
    }
    return list(run_trials(PROFILE, **(given | changes)))


def test_errors_are_those_of_the_definition():
    true = np.array(sorted(COUNTS, reverse=True)[:3])
    for sequence in itertools.permutations(COUNTS, 3):
        distance = [abs(a - b) for a, b in zip(true, sequence, strict=True)]
        assert metrics.errors(true, np.array(sequence)) == (
            max(distance),
            sum(distance),
            max(true[-1] - count for count in sequence),
            distance.index(max(distance)) + 1,
        )


def test_k_relative_error_is_never_negative_and_the_smallest_of_the_three():
    # At most k - 1 items have a count above c_k, so one of k distinct items has at most c_k.
    for k in range(1, len(COUNTS) + 1):
        true = np.array(sorted(COUNTS, reverse=True)[:k])
        for items in itertools.permutations(range(len(COUNTS)), k):
            linf, l1, k_relative, _ = metrics.errors(true, np.array([COUNTS[i] for i in items]))
            assert 0 <= k_relative <= linf <= l1


def test_trials_depend_on_their_names_and_on_nothing_else():
    all_at_once = rows()
    assert all_at_once == rows(trials=range(1, 18)) + rows(trials=range(18, 41))
    assert all_at_once[4:6] == rows(trials=range(5, 7))
    for change in ({"dataset": "toys"}, {"seed": 8}, {"epsilon": "0.050"}):
        assert rows(**change) != all_at_once


def test_names_are_not_confused_with_each_other():
    names = [("a", "b/c"), ("a/b", "c"), ("a", "b", "c"), ("a", "bc")]
    first = {generator(1, *each).integers(2**63) for each in names}
    # Names hold no slash (the schema sees to that); the two that differ by one are alike.
    assert len(first) == 2


def test_a_mechanism_that_refuses_is_answered_with_a_sentence():
    with pytest.raises(InputError, match="pnf_peel on toy with k = 7: k is 7; it must be"):
        rows(k=7)


def test_with_a_large_epsilon_the_true_counts_come_out():
    for name in set(mechanisms.SHIPPED) - {"gamma"}:
        assert {row[1:4] for row in rows(mechanism=name, epsilon="1000")} == {(0, 0, 0)}


@pytest.fixture
def written_trials(tmp_path):
    files = {"trials": tmp_path / "t.csv", "checksum": tmp_path / "t.sha256"}
    write_trials(files["trials"], files["checksum"], rows())
    return files


def test_trials_are_read_as_they_were_written(written_trials):
    assert [tuple(row) for row in read_trials(*written_trials.values(), range(1, 41))] == rows()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-1],
        lambda text: text[: text.rindex("\n", 0, -1) + 1],
        lambda text: text.replace("trial,linf", "trial,l2"),
        lambda text: (
            text[:60] + str((int(text[60]) + 1) % 10 if text[60].isdigit() else 1) + text[61:]
        ),
        lambda text: "",
    ],
    ids=["cut", "a row too few", "other header", "other digit", "empty"],
)
def test_damaged_trials_are_refused_by_name(written_trials, damage):
    path = written_trials["trials"]
    path.write_text(damage(path.read_text()))
    with pytest.raises(InputError, match=r"t\.csv is not the file that .*t\.sha256 describes"):
        read_trials(*written_trials.values(), range(1, 41))


def test_a_damaged_checksum_is_refused_by_name(written_trials):
    written_trials["checksum"].write_text("")
    with pytest.raises(InputError, match=r"t\.csv is not the file"):
        read_trials(*written_trials.values(), range(1, 41))


def test_other_trials_are_refused_by_name(written_trials):
    with pytest.raises(InputError, match=r"t\.csv does not hold the trials 1 to 50"):
        read_trials(*written_trials.values(), range(1, 51))


def test_the_summary_is_numpys_default_quantile(written_trials, tmp_path):
    part = {"dataset": "toy", "mechanism": "pnf_peel", "epsilon": "0.05", "k": 3}
    trials = read_parts([part | {"first": 1, "last": 40} | written_trials])
    table = error_table(trials)
    assert list(table["metric"]) == list(metrics.NAMES)
    for _, row in table.iterrows():
        expected = np.percentile(trials[row["metric"]], [25, 50, 75])
        assert [row["q25"], row["median"], row["q75"]] == expected.tolist()
        assert row["trials"] == 40
    write_table(table, tmp_path / "errors.csv")
    text = (tmp_path / "errors.csv").read_text()
    assert text.startswith(
        "dataset,mechanism,epsilon,k,metric,q25,median,q75,trials\ntoy,pnf_peel,"
    )
    assert ".0," not in text
    again = pd.read_csv(tmp_path / "errors.csv")
    assert np.array_equal(again["median"], table["median"])
