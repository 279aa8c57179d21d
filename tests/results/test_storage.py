"""Without a shared file system: all files in a storage, every job in a folder of its own."""

import importlib.util
import os
import shutil
import subprocess

import pytest

from tests.copies import TINY, Project
from tests.started import SNAKEMAKE

NEEDED = ("snakemake_storage_plugin_fs", "snakemake_executor_plugin_cluster_generic")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
missing += [program for program in ("git", "rsync") if shutil.which(program) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}"),
]

# Runs a job in an empty folder, whose name is its id.
SUBMIT = """\
#!/bin/sh
folder=$(mktemp -d "$(dirname "$0")/node.XXXX")
cp "$1" "$folder/job.sh"
cd "$folder"
{ sh job.sh; echo $? > code; } > printed 2>&1 &
echo "$folder"
"""
STATUS = """\
#!/bin/sh
if [ ! -e "$1/code" ]; then echo running
elif [ "$(cat "$1/code")" = 0 ]; then echo success
else echo failed
fi
"""


def test_a_storage_has_the_same_bytes_as_a_shared_file_system(tmp_path, finished):
    project = Project(tmp_path / "project", {**TINY, "ks": [2], "trials": 1})
    for command in (["init", "--quiet"], ["add", "--all"]):  # Snakemake deploys what git knows
        subprocess.run(["git", *command], cwd=project.root, check=True)
    for name, text in (("submit", SUBMIT), ("status", STATUS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    project.finishes(
        *("results/errors.csv", "--shared-fs-usage", "none", "--job-deploy-sources", "--jobs", "2"),
        *("--default-storage-provider", "fs", "--default-storage-prefix", tmp_path / "storage"),
        *("--executor", "cluster-generic", "--cluster-generic-submit-cmd", tmp_path / "submit"),
        *("--cluster-generic-status-cmd", tmp_path / "status"),
        *("--seconds-between-status-checks", "1"),
        cores=1,
        PATH=f"{SNAKEMAKE.parent}{os.pathsep}{os.environ['PATH']}",  # jobs call it `python`
    )
    made, expected = project.lasting(tmp_path / "storage"), finished.lasting()
    trials = [name for name in made if "epsilon=" in name]
    assert len(list(tmp_path.glob("node.*"))) == 2
    assert len(trials) == 4
    assert [made[name] for name in trials] == [expected[name] for name in trials]
    assert not (project.root / "results").exists()
