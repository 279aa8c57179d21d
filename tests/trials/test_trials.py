"""Trials, their errors and their summary."""

import csv
import itertools

import numpy as np
import pytest

from dp_topk import mechanisms
from workflow.scripts.common import InputError, write_csv
from workflow.scripts.data.profiles import write_facts, write_profile
from workflow.scripts.trials.cells import (
    HEADER,
    MISSING,
    generator,
    read_cells,
    run_cell,
    run_cells,
    write_cells,
)
from workflow.scripts.trials.errors import write_errors
from workflow.scripts.trials.metrics import METRICS, measured

COUNTS = [100, 40, 40, 7, 1, 0]
PROFILE = mechanisms.Profile([100, 40, 7, 1, 0], [1, 2, 1, 1, 1])


def rows(mechanism="pnf_peel", **changes):
    given = {
        "dataset": "toy",
        "name": mechanism,
        "epsilon": "0.05",
        "k": 3,
        "trials": range(1, 41),
        "seed": 7,
        "setting": {"mechanism": mechanism},
    }
    return list(run_cell(PROFILE, **(given | changes)))


# ------------------------------------------------------------------ metrics


def test_metrics_are_those_of_the_definition():
    true = np.array(sorted(COUNTS, reverse=True)[:3])
    for sequence in itertools.permutations(COUNTS, 3):
        difference = [int(a) - b for a, b in zip(true, sequence, strict=True)]
        expected = {
            "loss": max(difference),
            "linf": max(map(abs, difference)),
            "l1": sum(map(abs, difference)),
            "k_relative": max(true[-1] - count for count in sequence),
            "recall": sum(count >= true[-1] for count in sequence) / 3,
            "linf_index": difference.index(max(difference)) + 1,
            "returned": None,
        }
        assert dict(zip(METRICS, measured(true, np.array(sequence)), strict=True)) == expected


def test_the_index_is_that_of_the_largest_signed_difference():
    # The largest absolute difference, 90, is at the third place.
    true, selected = np.array([100, 95, 10]), np.array([95, 10, 100])
    assert dict(zip(METRICS, measured(true, selected), strict=True)) == {
        "loss": 85,
        "linf": 90,
        "l1": 180,
        "k_relative": 0,
        "recall": 1.0,
        "linf_index": 2,
        "returned": None,
    }


def test_a_set_has_no_errors_that_depend_on_an_order():
    true, selected = np.array([9, 8, 7]), np.array([3, 9, 8])
    found = dict(zip(METRICS, measured(true, selected, "set"), strict=True))
    without = {name for name, value in found.items() if value is None}
    assert without == {"loss", "linf", "l1", "linf_index", "returned"}
    assert (found["k_relative"], found["recall"]) == (4, 2 / 3)


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        ([], (9, 9, 24, 7, 0, 1, 0)),
        ([8], (8, 8, 16, 7, 1 / 3, 2, 1)),
        ([9, 3], (7, 7, 12, 7, 1 / 3, 3, 2)),
        ([7, 8, 9], (2, 2, 4, 0, 1, 1, 3)),
    ],
)
def test_places_without_an_item_have_a_count_of_0_and_are_missed(selected, expected):
    true, selected = np.array([9, 8, 7]), np.array(selected, int)
    assert measured(true, selected, "partial sequence") == pytest.approx(expected)
    of_set = measured(true, selected, "partial set")
    assert of_set == (None, None, None, *expected[3:5], None, expected[-1])


def test_a_missing_item_is_missed_where_the_true_top_k_has_items_without_users():
    assert measured(np.array([9, 0, 0]), np.array([9]), "partial set")[3:5] == (0, 1 / 3)


def test_k_relative_error_is_never_negative_and_the_smallest_of_the_three():
    # At most k - 1 items have a count above c_k, so one of k distinct items has at most c_k.
    for k in range(1, len(COUNTS) + 1):
        true = np.array(sorted(COUNTS, reverse=True)[:k])
        for items in itertools.permutations(range(len(COUNTS)), k):
            found = measured(true, np.array([COUNTS[i] for i in items]))
            found = dict(zip(METRICS, found, strict=True))
            assert 0 <= found["k_relative"] <= found["loss"] <= found["linf"] <= found["l1"]


# ------------------------------------------------------------------ cells


def test_trials_depend_on_their_names_and_on_nothing_else():
    all_at_once = rows()
    assert all_at_once == rows(trials=range(1, 18)) + rows(trials=range(18, 41))
    assert all_at_once[4:6] == rows(trials=range(5, 7))
    for change in ({"dataset": "toys"}, {"seed": 8}, {"epsilon": "0.050"}, {"name": "peel"}):
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
    for name in set(mechanisms.names()) - {"gamma"}:
        found = {row[4:6] for row in rows(mechanism=name, epsilon="1000")}
        assert found == {(0, 1.0)}, name


JOB = {
    "dataset": "toy",
    "name": "cdp_peel",
    "epsilon": "0.05",
    "ks": [2, 5],
    "trials": range(1, 6),
    "seed": 7,
    "setting": {"mechanism": "cdp_peel", "delta": 1e-6},
}


def test_a_job_runs_its_cells_as_if_each_were_alone():
    together, _ = run_cells(PROFILE, **JOB)
    apart = [run_cells(PROFILE, **(JOB | {"ks": [k]}))[0] for k in JOB["ks"]]
    assert together == [*apart[0], *apart[1]]
    assert [row[:3] for row in together] == [("0.05", k, t) for k in (2, 5) for t in range(1, 6)]


def test_k_larger_than_d_are_left_out_and_named():
    found, missing = run_cells(PROFILE, **(JOB | {"ks": [6, 7]}))
    assert {row[1] for row in found} == {6}
    assert missing == [("0.05", 7, "toy has only 6 items")]


def test_a_cell_that_a_mechanism_cannot_serve_is_named_and_the_others_are_run(monkeypatch):
    def prepare(self, counts, k, *args, **options):
        if k == 2:
            raise mechanisms.Unavailable("k is too small for me")
        return lambda rng: np.arange(k)

    monkeypatch.setattr(mechanisms.Mechanism, "prepare", prepare)
    found, missing = run_cells(PROFILE, **JOB)
    assert {row[1] for row in found} == {5}
    assert missing == [("0.05", 2, "k is too small for me")]


# ------------------------------------------------------------------ files


@pytest.fixture
def job(tmp_path):
    """A job that was run: its names and numbers, and the files that it made."""
    counts, facts = tmp_path / "toy.csv", tmp_path / "toy.json"
    write_profile(counts, PROFILE.counts, PROFILE.items)
    write_facts(facts, PROFILE.counts, PROFILE.items, dataset="toy", source="file")
    files = {"cells": tmp_path / "t.csv", "missing": tmp_path / "t.missing.csv"}
    write_cells(counts, facts, **files, **(JOB | {"ks": [2, 5, 7]}))
    numbers = {"mechanism": "cdp_peel", "epsilon": "0.05", "ks": [2, 5, 7], "first": 1, "last": 5}
    return numbers | files


def read(job, ks=(2, 5, 7), trials=range(1, 6)):
    return read_cells(job["cells"], job["missing"], ks, trials)


def test_cells_are_read_as_they_were_written(job):
    found, missing = read(job)
    expected, _ = run_cells(PROFILE, **JOB)
    assert [row for cell in found.values() for row in cell] == [
        ["" if field is None else str(field) for field in row] for row in expected
    ]
    assert missing == {7: "toy has only 6 items"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text[: text.rindex("\n", 0, -1) + 1],
        lambda text: text.replace("trial,loss", "trial,lost"),
        lambda text: text.replace("\n0.05,2,3,", "\n0.05,2,4,"),
        lambda text: text.replace("\n0.05,2,3,", "\n0.05,3,3,"),
        lambda text: text + text.splitlines(keepends=True)[-1],
        lambda text: "",
    ],
    ids=["cut", "a row too few", "other header", "other trial", "other k", "twice", "empty"],
)
def test_damaged_cells_are_refused_by_name(job, damage):
    text = job["cells"].read_text()
    assert damage(text) != text
    job["cells"].write_text(damage(text))
    with pytest.raises(InputError, match=r"t\.csv (is cut short|does not hold the trials 1 to 5)"):
        read(job)


def test_other_trials_and_other_cells_are_refused_by_name(job):
    with pytest.raises(InputError, match=r"t\.csv does not hold the trials 1 to 6"):
        read(job, trials=range(1, 7))
    for ks in ((2, 7), (2, 3, 5, 7)):
        with pytest.raises(InputError, match=r"t\.csv does not hold the trials"):
            read(job, ks=ks)


def test_the_summary_is_numpys_default_quantile(job, tmp_path):
    tables = {name: tmp_path / f"{name}.csv" for name in ("trials", "errors", "missing")}
    write_errors("toy", [job], **tables)
    text = {name: path.read_text() for name, path in tables.items()}
    assert text["errors"].startswith(
        "dataset,mechanism,epsilon,k,metric,q25,median,q75,trials\ntoy,cdp_peel,0.05,2,loss,"
    )
    assert ".0," not in text["errors"]
    assert text["missing"] == (
        "dataset,mechanism,epsilon,k,reason\ntoy,cdp_peel,0.05,7,toy has only 6 items\n"
    )
    trials = list(csv.DictReader(text["trials"].splitlines()))
    errors = list(csv.DictReader(text["errors"].splitlines()))
    assert [row["metric"] for row in errors] == [m for m in METRICS if m != "returned"] * 2
    assert "returned" not in trials[0]
    for row in errors:
        values = [float(trial[row["metric"]]) for trial in trials if trial["k"] == row["k"]]
        quartiles = [float(row[name]) for name in ("q25", "median", "q75")]
        assert quartiles == np.percentile(values, [25, 50, 75]).tolist()
        assert row["trials"] == "5"


def test_what_may_be_partial_says_how_many_items_came_out(job, tmp_path):
    job = job | {"mechanism": "limited_peel"}
    setting = {"mechanism": "limited_peel", "delta": 1e-6}
    given = JOB | {"name": "limited_peel", "ks": job["ks"], "setting": setting}
    rows, missing = run_cells(PROFILE, **given)
    write_csv(job["cells"], [HEADER, *rows])
    write_csv(job["missing"], [MISSING, *missing])
    tables = {name: tmp_path / f"{name}.csv" for name in ("trials", "errors", "missing")}
    write_errors("toy", [job], **tables, partial=True)
    trials = list(csv.DictReader(tables["trials"].read_text().splitlines()))
    errors = list(csv.DictReader(tables["errors"].read_text().splitlines()))
    assert [row["returned"] for row in trials] == [str(row[-1]) for row in rows]
    assert [row["metric"] for row in errors] == [*METRICS] * 2
