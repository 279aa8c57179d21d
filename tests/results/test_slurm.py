"""The small config through the Snakemake profile for clusters, on a real SLURM of one node."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.results import slurm

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "profiles" / "slurm"
TARGETS = ("results/errors.csv", "results/timing.csv")

# Inside a submission every job starts Snakemake again, so the test makes do with fewer jobs.
FEWER_JOBS = """\
mechanisms: [joint, cdp_peel]
ks: [2, 5]
trials: 2
cells_per_job: 1
datasets: {books: null}
"""

# What a cluster of one node with two cores needs in addition to the profile.
FOR_ONE_NODE = (
    "--slurm-init-seconds-before-status-checks=1",
    "--group-components=trials=2",
)

plugin_missing = importlib.util.find_spec("snakemake_executor_plugin_slurm") is None

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(slurm.missing() is not None, reason=str(slurm.missing())),
    pytest.mark.skipif(plugin_missing, reason="not installed: make setup EXTRAS=slurm"),
]


def run(folder, environment, *arguments):
    """Run Snakemake in the folder; return what it printed."""
    folder.mkdir()
    (folder / "fewer.yaml").write_text(FEWER_JOBS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile"),
            *("--configfile", ROOT / "tests" / "config.yaml", "fewer.yaml"),
            *(*arguments, "--", *TARGETS),
        ],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-10_000:]
    return done.stdout


def error_files(folder):
    """All files of a run that must not depend on where it ran."""
    results = folder / "results"
    files = [*(results / "trials").rglob("*.*"), results / "trials.csv", results / "errors.csv"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_a_cluster_gives_the_same_bytes_as_this_machine(tmp_path):
    # Not in tmp_path: the name of a socket must be short.
    with tempfile.TemporaryDirectory() as folder, slurm.cluster(folder) as environment:
        log = run(tmp_path / "cluster", environment, "--workflow-profile", PROFILE, *FOR_ONE_NODE)
    run(tmp_path / "here", dict(os.environ), "--cores", "2")

    # 4 jobs of trials in two groups, and the timing; everything else ran as a local rule
    assert log.count("has been submitted with SLURM jobid") == 3
    there, here = error_files(tmp_path / "cluster"), error_files(tmp_path / "here")
    assert len(here) == 2 * 4 + 1 + 2
    assert there == here
