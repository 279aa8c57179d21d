"""After a change, a run makes what depends on it: all of it, and nothing else."""

import os
import re

import pytest

from tests.copies import ERRORS, TINY, Project


@pytest.fixture(scope="module")
def copied(finished, tmp_path_factory):
    """A copy for all tests of this module; whatever they change in it, they change back."""
    project = finished.copy(tmp_path_factory.mktemp("reruns") / "project")
    (project.root / "pets.csv").write_text("pet,votes\n" + "cat,3\n" * 10, encoding="utf-8")
    return project


@pytest.fixture
def after(copied):
    """The files that a run would make after a change of the config, or of a file."""

    def pending(file=None, **config):
        copied.config = {**TINY, **config}
        if file:
            path = copied.root / file
            before, times = path.read_bytes(), path.stat()
            path.write_bytes(before + b"# changed\n")
        files = copied.pending()
        if file:
            path.write_bytes(before)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert not files or files >= SUMS
        assert ("results/config.yaml" in files) == bool(config)
        pages = {file for file in files if re.fullmatch(r"results/.*\.html", file)}
        return files - SUMS - {"results/config.yaml"} - pages

    return pending


def trials(
    dataset="games", mechanisms=TINY["mechanisms"], epsilon=0.01, ks=TINY["ks"], numbers=(1, 2)
):
    """Files of trials."""
    return {
        f"results/trials/{dataset}/{mechanism}/epsilon={epsilon}_ks={k}-{k}_trials={n}-{n}{ending}"
        for mechanism in mechanisms
        for k in ks
        for n in numbers
        for ending in (".csv", ".missing.csv")
    }


def tables_of(dataset=None):
    """The tables of all trials, or of those of a dataset."""
    ending = f"/{dataset}.csv" if dataset else ".csv"
    return {f"results/{table}{ending}" for table in ("trials", "errors", "missing")}


def figures(*names):
    return {f"figures/{name}.{ending}" for name in names for ending in ("png", "pdf", "html")}


# What sums up everything is made again after every change.
SUMS = {"results/claims.csv", "results/claims.md", "results/manifest.json"}

COUNTS = {"data/counts/games.csv", "data/counts/games.json"}
DESCRIPTIONS = {"results/datasets.csv", "results/gaps.csv", "results/histograms.csv"}
TIMING = {"results/timing.csv", "results/timing_summary.csv"}
AGREEMENT = {"results/agreement.csv"}
# Figures that wait for the same tables are drawn together.
PAPER = figures(
    "figure-1-gaps-and-errors", "figure-2-linf-index", "figure-4-histograms",
    "figure-5-k-relative", "figure-6-all-mechanisms",
)  # fmt: skip
PAGE = figures("datasets/games")
FROM_TRIALS = tables_of("games") | tables_of() | PAPER | PAGE
FROM_TIMING = figures("figure-3-time")
EVERYTHING = trials() | COUNTS | DESCRIPTIONS | TIMING | AGREEMENT | FROM_TRIALS | FROM_TIMING


def test_a_second_run_does_nothing(after, copied):
    assert after() == set()
    assert "Nothing to be done" in copied.finishes()


def test_a_mechanism_repeats_its_own_trials(after):
    repeated = trials(mechanisms=["cdp_peel"])
    assert after("mechanisms/cdp_peel.py") == repeated | FROM_TRIALS


def test_a_timed_mechanism_is_timed_again_too(after):
    repeated = trials(mechanisms=["joint"]) | TIMING | AGREEMENT
    assert after("mechanisms/_sequences.py") == repeated | FROM_TRIALS | FROM_TIMING


def test_a_metric_repeats_all_trials(after):
    repeated = after("workflow/scripts/trials/metrics.py")
    assert repeated >= trials() | FROM_TRIALS
    assert not repeated & (COUNTS | DESCRIPTIONS)


@pytest.mark.parametrize("file", ["requirements.lock", "workflow/scripts/data/derive.py"])
def test_the_environment_and_the_derivation_of_counts_repeat_everything(after, file):
    assert after(file) == EVERYTHING


def test_the_seed_repeats_all_that_is_random(after):
    assert after(seed=1) == trials() | TIMING | AGREEMENT | FROM_TRIALS | FROM_TIMING


def test_delta_repeats_the_approximate_mechanisms(after):
    assert after(delta=1e-5) == trials(mechanisms=["cdp_peel"]) | FROM_TRIALS


def test_a_new_k_adds_trials_and_timing(after):
    new = trials(ks=[7]) | TIMING | DESCRIPTIONS
    assert after(ks=[2, 5, 7]) == new | FROM_TRIALS | FROM_TIMING


def test_a_new_epsilon_adds_trials(after):
    new = trials(epsilon=1) | figures("error-against-epsilon")
    assert after(epsilons=[0.01, 1]) == new | FROM_TRIALS


def test_a_new_dataset_leaves_the_others_alone(after):
    pets = {"title": "Pets", "source": "file", "file": "pets.csv", "counts": {"column": "votes"}}
    new = trials("pets") | {"data/counts/pets.csv", "data/counts/pets.json"} | DESCRIPTIONS
    new |= tables_of("pets") | tables_of() | figures("datasets/pets") | PAPER
    assert after(datasets={**TINY["datasets"], "pets": pets}) == new


def test_a_title_repeats_descriptions_and_figures(after):
    repeated = after(datasets={**TINY["datasets"], "games": {"title": "Play"}})
    assert repeated == DESCRIPTIONS | PAPER | PAGE | FROM_TIMING


def test_more_trials_keep_those_that_are_there(after):
    assert after(trials=3) == trials(numbers=[3]) | FROM_TRIALS


@pytest.mark.slow
def test_neither_cores_nor_the_size_of_jobs_change_a_byte(tmp_path, finished):
    project = Project(tmp_path / "project", {**TINY, "cells_per_job": "all", "trials_per_job": 2})
    project.finishes(*ERRORS, cores=1)
    made, expected = project.lasting(), finished.lasting()
    whole = {name for name in expected if "epsilon=" not in name}
    assert len(whole) > 8
    assert {name: made[name] for name in whole} == {name: expected[name] for name in whole}
