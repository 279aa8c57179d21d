"""Where a run takes place, and who else is there, does not matter; or one sentence says why."""

import contextlib
import os
import shutil
import subprocess
import sys

import pytest

from tests.copies import ERRORS, ROOT, TINY, Project, mounted
from workflow.scripts.common import InputError, require_usable_places

# One job of trials. It makes the same file as in a run of many.
SHORT = {**TINY, "mechanisms": ["joint"], "ks": [2], "trials": 1}
TRIAL = "results/trials/games/joint/epsilon=0.01_ks=2-2_trials=1-1.csv"


def same(made, finished):
    """Whether a short run made what a long one makes."""
    expected = finished.lasting()
    return all(made[name] == expected[name] for name in (TRIAL, "data/counts/games.csv"))


def test_odd_paths_an_ancient_locale_and_another_install(tmp_path, finished):
    for package in ("dp_topk", "workflow"):
        (tmp_path / "old" / package).mkdir(parents=True)
        text = "raise ImportError('this is the wrong install')\n"
        (tmp_path / "old" / package / "__init__.py").write_text(text, encoding="utf-8")
    project, elsewhere = Project(tmp_path / "Büro, 'blanks' & 日本", SHORT), tmp_path / "else where"
    there = sorted(os.listdir(project.root))
    old = str(tmp_path / "old")
    project.finishes(*ERRORS, "--directory", elsewhere, LC_ALL="C", PYTHONPATH=old)
    assert same(project.lasting(elsewhere), finished)
    assert sorted(os.listdir(project.root)) == there


def test_a_locale_that_is_not_utf_8(tmp_path):
    title = "Jeux d'été"
    datasets = {**TINY["datasets"], "games": {"title": title}}
    project = Project(tmp_path, {**SHORT, "datasets": datasets})
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    project.finishes("results/datasets.csv", **ascii_only)
    assert title in (tmp_path / "results" / "datasets.csv").read_text(encoding="utf-8")


@contextlib.contextmanager
def read_only(folder):
    """Nobody can write in this (empty) folder, not even root."""
    if os.geteuid():
        folder.mkdir()
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    try:
        with mounted(folder, "ro"):
            yield
    except PermissionError as reason:
        pytest.skip(f"root may write everywhere, and cannot mount a file system: {reason}")


@pytest.mark.parametrize("folder", ["results", ".snakemake"])
def test_a_folder_that_cannot_be_written(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (
        read_only(tmp_path / folder),
        pytest.raises(InputError, match=f"{tmp_path / folder} cannot be written"),
    ):
        require_usable_places()


def test_a_blank_in_the_path_of_the_environment_is_refused_at_once(tmp_path, monkeypatch):
    """Snakemake puts the path of Python unquoted into the commands of jobs."""
    monkeypatch.setattr(sys, "executable", "/srv/my projects/.venv/bin/python")
    with pytest.raises(InputError, match=r"contains a space.*move the project"):
        require_usable_places()
    blank = tmp_path / "my projects"
    blank.mkdir()
    for name in ("Makefile", "requirements.lock"):
        shutil.copy(ROOT / name, blank)
    done = subprocess.run(["make", "setup"], cwd=blank, capture_output=True, text=True)
    assert done.returncode != 0
    assert "contains a space" in done.stdout
    assert not (blank / ".venv").exists()
