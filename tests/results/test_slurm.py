"""The small config through the Snakemake profile for clusters, on a real SLURM of one node."""

import importlib.util
import tempfile

import pytest

from tests.copies import ROOT, TINY, Project
from tests.results import slurm

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


def test_a_cluster_gives_the_same_bytes_as_this_machine(tmp_path, finished):
    # Inside a submission every job starts Snakemake again, so the test makes do with fewer jobs.
    project = Project(tmp_path / "cluster", {**TINY, "mechanisms": ["joint"], "trials": 1})
    profile = ("--workflow-profile", ROOT / "profiles" / "slurm", *FOR_ONE_NODE)
    targets = ("results/errors.csv", "results/timing.csv")
    # Not in tmp_path: the name of a socket must be short.
    with tempfile.TemporaryDirectory() as folder, slurm.cluster(folder) as environment:
        log = project.finishes(*targets, *profile, cores=1, **environment)

    # 2 jobs of trials in a group, and the timing; everything else ran as a local rule
    assert log.count("has been submitted with SLURM jobid") == 2
    made, expected = project.lasting(), finished.lasting()
    trials = [name for name in made if "epsilon=" in name]
    assert len(trials) == 2 * 2
    assert [made[name] for name in trials] == [expected[name] for name in trials]
