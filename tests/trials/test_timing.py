"""What is timed, and how often; the clock itself is replaced."""

import csv

import numpy as np
import pytest

from workflow.scripts.common import InputError
from workflow.scripts.timing import calls as timing

SETTING = {"neighbors": "add-remove"}


@pytest.fixture
def calls(monkeypatch):
    """Every call as (mechanism, k); joint takes a moment, Algorithm 1 a second."""
    made = []

    def seconds(name, where, counts, k, rng, **given):
        made.append((name, k))
        return 1.0 if name == "joint_alg1" else 0.001

    monkeypatch.setattr(timing, "seconds_of_select", seconds)
    return made


def timed(ks_of, trials=5, d=10):
    settings = {name: SETTING | {"mechanism": name} for name in ks_of}
    return timing.time_mechanisms(np.arange(d), "pets", ks_of, trials, "1", 2022, settings)


def test_a_warm_up_call_is_not_counted(calls):
    times = timed({"joint": [3]})
    assert calls == [("joint", 3)] * 6
    assert times == {("pets", "joint", "1", 3): [0.001] * 5}


def test_long_calls_are_timed_twice_and_warmed_up_once(calls):
    times = timed({"joint_alg1": [3, 4]})
    assert times == {("pets", "joint_alg1", "1", k): [1.0] * 2 for k in (3, 4)}
    assert calls == [("joint_alg1", 3)] * 3 + [("joint_alg1", 4)] * 2


def test_mechanisms_take_turns(calls):
    timed({"joint": [3], "pnf_peel": [3]}, trials=2)
    assert calls == [("joint", 3), ("pnf_peel", 3)] * 3


def test_a_k_larger_than_the_number_of_items_is_not_timed(calls):
    assert {k for *_, k in timed({"joint": [3, 10, 11]})} == {3, 10}


SWEEPS = {
    "mechanisms": ["joint", "joint_alg1", "cdp_peel_alg3"], "items": [100, 1000], "k_for_items": 5,
    "ks": [2, 6], "items_for_k": 100, "published_max_pairs": 500, "repeats": 1,
}  # fmt: skip


def test_published_algorithms_are_left_out_where_there_are_too_many_pairs(calls, tmp_path):
    timing.write_scaling(tmp_path / "scaling.csv", SWEEPS, 2022)
    rows = list(csv.reader((tmp_path / "scaling.csv").read_text().splitlines()))
    both = {("d", "100", "5"), ("k", "100", "2")}
    fast = {*both, ("d", "1000", "5"), ("k", "100", "6")}
    for name, sizes in {"joint": fast, "joint_alg1": both, "cdp_peel_alg3": fast}.items():
        assert {tuple(size) for timed, *size, _, _, _, _ in rows if timed == name} == sizes


def test_scaling_writes_quartiles_of_the_calls_after_the_warm_up(calls, tmp_path):
    sweeps = {"mechanisms": ["joint"], "items": [100], "ks": [2], "items_for_k": 50, "repeats": 3}
    timing.write_scaling(tmp_path / "scaling.csv", SWEEPS | sweeps, 2022)
    assert calls == [("joint", 5)] * 4 + [("joint", 2)] * 4
    assert (tmp_path / "scaling.csv").read_text().splitlines() == [
        "mechanism,sweep,d,k,q25,median,q75,calls",
        "joint,d,100,5,0.001,0.001,0.001,3",
        "joint,k,50,2,0.001,0.001,0.001,3",
    ]


def test_what_a_mechanism_refuses_is_said_in_a_sentence(tmp_path):
    sweeps = SWEEPS | {"ks": [500], "published_max_pairs": 1e6}
    with pytest.raises(InputError, match=r"timing joint on 100 items: k is 500; it must be"):
        timing.write_scaling(tmp_path / "scaling.csv", sweeps, 2022)
