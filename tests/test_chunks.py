"""Work cut into other pieces, or kept as a profile, stays the same work."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import yaml

import mechanisms
from tests.bench_billion import DISTINCT, ITEMS, NAMES, billion
from workflow.scripts.aggregate import error_table, read_parts
from workflow.scripts.plan import Plan
from workflow.scripts.run_trials import run_trials, write_trials
from workflow.scripts.tables import write_table

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))

# ---------------------------------------------------------------- ten thousand trials in chunks


def tables(folder, trials_per_job):
    """results/trials.csv and results/errors.csv of 10,000 trials, done in jobs of this size."""
    tiny = mechanisms.Profile([30, 12, 11, 4, 0], [1, 1, 2, 3, 5])
    plan = Plan(
        CONFIG
        | {"mechanisms": ["joint"], "k": [3], "trials": 10_000, "trials_per_job": trials_per_job},
        ROOT,
    )
    parts = [part for part in plan.parts() if part["dataset"] == plan.datasets[0]]
    for part in parts:
        numbers = range(part["first"], part["last"] + 1)
        part |= {kind: folder / f"{part['first']}.{kind}" for kind in ("trials", "checksum")}
        names = [part[key] for key in ("dataset", "mechanism", "epsilon", "k")]
        rows = run_trials(tiny, *names, numbers, plan["seed"], **plan.privacy("joint"))
        write_trials(part["trials"], part["checksum"], rows)
    trials = read_parts(parts)
    write_table(trials, folder / "trials.csv")
    write_table(error_table(trials), folder / "errors.csv")
    return len(parts), [(folder / name).read_bytes() for name in ("trials.csv", "errors.csv")]


def test_results_do_not_depend_on_how_trials_are_cut_into_jobs(tmp_path):
    jobs, results = tables(tmp_path / "whole", 10_000)
    assert jobs == 1
    assert results[0].count(b"\n") == 10_001
    assert len(set(results[0].split(b"\n"))) == 10_002
    for size, expected in ((5000, 2), (997, 11)):
        jobs, same = tables(tmp_path / str(size), size)
        assert jobs == expected
        assert same == results


# ---------------------------------------------------------------- a billion items

K = 100


@pytest.fixture(scope="module")
def profile():
    made = billion()
    assert made.d == ITEMS
    assert len(made.counts) == DISTINCT
    return made


@pytest.mark.parametrize("name", NAMES)
def test_a_billion_items_need_memory_for_the_profile_only(name, profile):
    tracemalloc.start()
    try:
        ranks = mechanisms.get(name).select(profile, K, rng=np.random.default_rng(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ranks.shape == (K,)
    assert len(set(ranks.tolist())) == K
    assert ranks.min() >= 0
    assert ranks.max() < ITEMS
    assert peak < 100 * DISTINCT  # bytes; one number for each item would be 8,000


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"gamma"}))  # its noise grows with d
def test_the_largest_of_a_billion_counts_win_when_privacy_is_weak(name, profile):
    ranks = mechanisms.get(name).select(profile, K, epsilon=100.0, rng=np.random.default_rng(2))
    assert np.array_equal(profile.counts_at(ranks), profile.counts_at(np.arange(K)))
