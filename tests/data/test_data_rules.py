"""Downloads and counts as Snakemake runs them: originals are never lost, mistakes come first."""

import hashlib
import os
import re

import pytest

from tests.copies import ROOT, TINY, Project
from tests.data.faulty_server import FaultyServer, whole
from workflow.scripts.config.code import imported_files

PETS = b"pet;votes\ncat;3\ndog;12.00\ncow;3\n"
COUNTED = "count,items\n12,1\n3,2\n"
NOBODY = "http://127.0.0.1:9/pets.csv"  # the port nobody listens on


def download(url, **more):
    """A dataset that is downloaded."""
    known = {"url": url, "page": "https://example.org/pets", "filename": "pets.csv"}
    entry = {"title": "Pets", "source": "download", "counts": {"column": "votes"}}
    return entry | {"download": known | more}


def project_with(folder, **datasets):
    return Project(folder, {**TINY, "datasets": {**TINY["datasets"], **datasets}})


def counted(project, name="pets"):
    return (project.root / "data" / "counts" / f"{name}.csv").read_text(encoding="utf-8")


@pytest.fixture
def server():
    with FaultyServer() as running:
        yield running


def test_an_edit_to_the_downloader_is_no_reason_to_count_again():
    files = imported_files(ROOT, "workflow.scripts.data.rule_counts")
    folder = "workflow/scripts/data"
    assert {f"{folder}/{name}.py" for name in ("derive", "originals")} <= files
    assert not files & {f"{folder}/{name}.py" for name in ("download",)}


@pytest.mark.slow
def test_hosts_that_cannot_be_reached_fail_together_and_cost_only_their_datasets(tmp_path):
    elsewhere = download("https://no-such-host.invalid/pets.csv")
    datasets = {"pets": download(NOBODY), "cats": elsewhere, "cows": download([NOBODY])}
    project = project_with(tmp_path, **datasets)
    names = [*datasets, "games"]
    printed = project.fails(*(f"data/counts/{name}.csv" for name in names), "--keep-going", cores=1)
    for name in datasets:
        assert printed.count(f"error: {name}: pets.csv cannot be downloaded") == 1
        assert f"put it into data/raw/{name}/" in printed
    assert "Cannot restore" not in printed
    assert counted(project, "games")


@pytest.mark.slow
def test_no_run_deletes_an_original(tmp_path, server):
    """Downloaded or put there by hand, right or wrong, also when the rule is forced to run."""
    sha256 = hashlib.sha256(PETS).hexdigest()
    url = server.at("/pets.csv", whole(PETS))
    project = project_with(tmp_path, pets=download(url, sha256=sha256))
    folder = tmp_path / "data" / "raw" / "pets"
    project.finishes("data/counts/pets.csv")
    assert counted(project) == COUNTED
    assert len(server.requests) == 1

    project.finishes("data/counts/pets.csv", "--forcerun", "download")
    assert len(server.requests) == 1
    (folder / "pets.csv").write_bytes(b"by hand")
    printed = project.fails("data/counts/pets.csv", "--forcerun", "download")
    assert "data/raw/pets/pets.csv is not the expected original" in printed
    assert "Cannot restore" not in printed
    assert (folder / "pets.csv").read_bytes() == b"by hand"

    (folder / "pets.csv").rename(folder / "wrong.csv")
    (folder / "renamed.csv").write_bytes(PETS)
    project.finishes("data/counts/pets.csv", "--forcerun", "download")
    assert len(server.requests) == 1
    assert sorted(os.listdir(folder)) == ["renamed.csv", "verified", "wrong.csv"]


@pytest.mark.slow
def test_an_original_that_was_exchanged_is_counted_again(tmp_path, server):
    project = project_with(tmp_path, pets=download(server.at("/pets.csv", whole(PETS))))
    project.finishes("data/counts/pets.csv")
    original = tmp_path / "data" / "raw" / "pets" / "pets.csv"
    original.write_bytes(PETS + b"hen;12\n")
    project.finishes("data/counts/pets.csv")
    assert counted(project) == "count,items\n12,2\n3,2\n"
    assert "Nothing to be done" in project.finishes("data/counts/pets.csv")


@pytest.mark.slow
def test_counts_come_before_everything_else(tmp_path):
    """A run of one job at a time: every dataset is opened before the first trial."""
    pets = {"title": "Pets", "source": "file", "file": "pets.csv", "counts": {"column": "votes"}}
    project = project_with(tmp_path, pets=pets)
    project.config |= {"mechanisms": ["joint"], "trials": 1, "cells_per_job": 10}
    (tmp_path / "pets.csv").write_bytes(PETS)
    printed = project.finishes("results/errors.csv", cores=1)
    jobs = re.findall(r"^Job \d+: (\w+)", printed, re.MULTILINE)
    counts = jobs.count("Counting")
    assert 1 < counts < len(jobs)
    assert set(jobs[:counts]) == {"Counting"}
    assert "warning: pets has 3 items" in (tmp_path / "logs/counts/pets.log").read_text()

    project.config = {**project.config, "ks": [2]}
    assert "Nothing to be done" in project.finishes("data/counts/pets.csv")

    (tmp_path / "pets.csv").write_bytes(b"pet;votes\ncat;3\n")
    printed = project.fails("data/counts/pets.csv")
    assert "error: pets has 1 item, fewer than the smallest k, 2; set `ks: [1]`" in printed
