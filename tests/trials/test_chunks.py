"""Work cut into other pieces, or kept as a profile, stays the same work."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmarks.billion import DISTINCT, ITEMS, NAMES, billion
from dp_topk import mechanisms
from workflow.scripts.config.plan import Plan
from workflow.scripts.data.profiles import write_facts, write_profile
from workflow.scripts.trials.cells import write_cells
from workflow.scripts.trials.errors import write_errors

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))

# ---------------------------------------------------------------- the same work in other pieces


def tables(folder, **cut):
    """results/trials.csv and results/errors.csv of 400 trials, done in jobs of this size."""
    folder.mkdir()
    profile = np.array([30, 12, 11, 4, 0]), np.array([1, 1, 2, 3, 5])
    write_profile(folder / "tiny.csv", *profile)
    write_facts(folder / "tiny.json", *profile, dataset="tiny", source="file")
    plan = Plan(CONFIG | {"mechanisms": ["joint"], "ks": [3, 1], "trials": 200} | cut, ROOT)
    jobs = plan.jobs("tiny")
    for job in jobs:
        job |= {kind: folder / job[kind] for kind in ("cells", "missing")}
        write_cells(
            folder / "tiny.csv",
            folder / "tiny.json",
            cells=job["cells"],
            missing=job["missing"],
            dataset="tiny",
            name="joint",
            epsilon=job["epsilon"],
            ks=job["ks"],
            trials=range(job["first"], job["last"] + 1),
            seed=plan["seed"],
            setting=plan.setting("joint"),
        )
    made = {name: folder / f"{name}.csv" for name in ("trials", "errors", "missing")}
    write_errors("tiny", jobs, **made)
    return len(jobs), [path.read_bytes() for path in made.values()]


def test_results_do_not_depend_on_how_the_work_is_cut_into_jobs(tmp_path):
    jobs, results = tables(tmp_path / "whole", trials_per_job=200)
    assert jobs == 1
    assert results[0].count(b"\n") == 401
    assert len(set(results[0].split(b"\n"))) == 402
    for number, (cut, expected) in enumerate(
        [
            ({"trials_per_job": 100}, 2),
            ({"trials_per_job": 97, "cells_per_job": 1}, 6),
            ({"trials_per_job": 200, "cells_per_job": 1}, 2),
        ]
    ):
        jobs, same = tables(tmp_path / str(number), **cut)
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
        ranks = mechanisms.get(name).select(profile, K, 1.0, rng=np.random.default_rng(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ranks.shape == (K,)
    assert len(set(ranks.tolist())) == K
    assert ranks.min() >= 0
    assert ranks.max() < ITEMS
    assert peak < 100 * DISTINCT  # bytes; one number for each item would be 8,000


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"gamma", "gaussian"}))  # grow with d
def test_the_largest_of_a_billion_counts_win_when_privacy_is_weak(name, profile):
    ranks = mechanisms.get(name).select(profile, K, epsilon=100.0, rng=np.random.default_rng(2))
    ranks = np.sort(ranks) if mechanisms.get(name).output.endswith("set") else ranks
    assert np.array_equal(profile.counts_at(ranks), profile.counts_at(np.arange(K)))
