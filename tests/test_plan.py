"""What follows from a config, and from the project's files."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import mechanisms
from workflow.scripts.plan import Plan, imported_files, memory_mb
from workflow.scripts.profiles import write_facts, write_profile

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def plan(**changes):
    return Plan(CONFIG | changes, ROOT)


def test_one_job_for_each_dataset_mechanism_epsilon_and_k():
    parts = plan().parts()
    assert len(parts) == 6 * 6 * 1 * 20
    assert len({tuple(part.values()) for part in parts}) == len(parts)
    assert {(part["first"], part["last"]) for part in parts} == {(1, 50)}


@pytest.mark.parametrize("size", [1, 7, 50, 51])
def test_chunks_cover_every_trial_once(size):
    parts = plan(trials_per_job=size, k=[5], mechanisms=["joint"]).parts()
    books = [part for part in parts if part["dataset"] == "books"]
    trials = [t for part in books for t in range(part["first"], part["last"] + 1)]
    assert trials == list(range(1, 51))


def test_delta_matters_to_approximate_mechanisms_only():
    assert plan().privacy("joint") == {"neighbors": "add-remove"}
    assert plan().privacy("joint", "cdp_peel") == {"neighbors": "add-remove", "delta": 1e-6}


def test_a_mechanism_depends_on_its_own_files_only():
    for name in mechanisms.names():
        files = imported_files(ROOT, "mechanisms", f"mechanisms.{name}")
        assert f"mechanisms/{name}.py" in files
        assert {"mechanisms/__init__.py", "mechanisms/_profile.py"} <= files
    joint = imported_files(ROOT, "mechanisms", "mechanisms.joint")
    assert "mechanisms/_sequences.py" in joint
    assert "mechanisms/_peeling.py" not in joint
    fast_joint = imported_files(ROOT, "mechanisms", "mechanisms.fast_joint")
    assert fast_joint == joint | {"mechanisms/fast_joint.py"}


def test_relative_imports_are_followed(tmp_path):
    package = tmp_path / "mechanisms"
    package.mkdir()
    for name, text in {
        "__init__": "from . import _base",
        "_base": "",
        "_noise": "",
        "toy": "from ._noise import x\nfrom . import _deep",
        "_deep": "import mechanisms._far",
        "_far": "",
        "other": "",
    }.items():
        (package / f"{name}.py").write_text(text)
    files = imported_files(tmp_path, "mechanisms.toy")
    assert {Path(file).stem for file in files} >= {"toy", "_noise", "_deep", "_far"}
    assert "mechanisms/other.py" not in files


def test_every_file_of_the_samplers_is_known_to_be_used():
    files = imported_files(ROOT, *(f"mechanisms.{name}" for name in mechanisms.names()))
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "mechanisms").glob("*.py")}
    assert files | {"mechanisms/__init__.py"} == there


def test_digest_is_about_what_changes_errors():
    assert plan().digest() == plan(trials_per_job=7).digest()
    changes = ({"seed": 1}, {"trials": 51}, {"k": [5]}, {"delta": 1e-5}, {"mechanisms": ["joint"]})
    assert len({plan(**change).digest() for change in ({}, *changes)}) == 6


def test_a_downloaded_original_is_real_whatever_the_config_says():
    assert plan().about()["foods"] == {"title": "Foods", "status": "stand-in"}
    assert plan(data="download").about()["foods"] == {"title": "Foods", "status": "real"}


def test_memory_of_the_published_algorithm_grows_with_d_and_k(tmp_path):
    facts = tmp_path / "toy.json"
    about = {"dataset": "toy", "source": "embedded"}
    profile = np.array([7, 1]), np.array([1, 166048])
    write_profile(tmp_path / "toy.csv", *profile)
    write_facts(facts, *profile, **about)
    assert memory_mb(tmp_path / "toy.csv", facts, "joint", 195) == 500
    assert 2000 < memory_mb(tmp_path / "toy.csv", facts, "joint_alg1", 195) < 3000
    assert memory_mb(tmp_path / "toy.csv", facts, "joint", 5, written_out=True) > 500
    facts.write_text("")  # the job will say what is wrong with it
    assert memory_mb(tmp_path / "toy.csv", facts, "joint", 195) == 500


def test_figures_follow_the_config():
    names = set(plan().figures())
    assert {"figure-1-gaps-and-errors", "figure-7-pnf-joint", "datasets/books"} <= names
    assert "error-against-epsilon" not in names
    assert "error-against-epsilon" in plan(epsilons=[1, 2]).figures()
    assert "figure-7-pnf-joint" not in plan(mechanisms=["joint", "gamma"]).figures()
    shown = plan(mechanisms=["joint", "fast_joint", "gamma"]).figures()
    assert shown["figure-1-gaps-and-errors"]["shows"]["mechanisms"] == ["joint", "fast_joint"]
    only = plan(mechanisms=["gamma"]).figures()["figure-1-gaps-and-errors"]
    assert only["shows"]["mechanisms"] == ["gamma"]
