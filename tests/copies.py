"""Throw-away copies of the project in which tests run Snakemake."""

import contextlib
import shutil
import subprocess
from pathlib import Path

import yaml

from tests.started import ROOT, Started

# All that a run, or a test of what was added to the copy, reads.
NEEDED = (
    "Snakefile", "config.yaml", "requirements.lock", "pyproject.toml",
    "mechanisms", "dp_topk", "workflow", "profiles/default", "data/embedded", "tests",
)  # fmt: skip

# Laid over tests/config.yaml: every rule still has work, but not much. With an epsilon this
# small, no two trials are the same.
TINY = {
    "ks": [2, 5],
    "epsilons": [0.01],
    "trials": 2,
    "cells_per_job": 1,
    "trials_per_job": 1,
    "mechanisms": ["joint", "cdp_peel"],
    "timing": {
        "trials": 1,
        "mechanisms": dict.fromkeys(("pnf_peel", "cdp_peel", "pnf_peel_alg2", "cdp_peel_alg3")),
    },
    "datasets": {"books": None},
}

# Arguments for the part of a run that has no times and no pictures, and what it makes.
ERRORS = ("--until", "errors", "datasets")
LASTING = (
    "data/counts/*", "results/trials/*/*/*", "results/trials/*.csv", "results/errors/*",
    "results/missing/*", "results/trials.csv", "results/errors.csv", "results/missing.csv",
    "results/datasets.csv", "results/gaps.csv", "results/histograms.csv",
)  # fmt: skip

# A mechanism that waits for the test. Like all of these toys, it gives the right answer.
SLOW = """
import time
from pathlib import Path

label, guarantee = "Slow", "pure"


def prepare(profile, k, epsilon, delta, neighbors):
    Path("begun").touch()
    deadline = time.monotonic() + 60
    while not Path("go-on").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return lambda rng: rng.permutation(k)
"""


class Project:
    """A copy of the project; `config` is laid over config.yaml and tests/config.yaml."""

    def __init__(self, root, config=None):
        self.root = Path(root)
        self.config = config or {}
        if not (self.root / "Snakefile").exists():
            for name in NEEDED:
                self._take(name)

    def _take(self, name):
        source, target = ROOT / name, self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns(".*")
            shutil.copytree(source, target, symlinks=True, ignore=ignored)
        else:
            shutil.copy2(source, target)

    def copy(self, root, config=None):
        """A copy of all of it, with the times of files: a run in it finds it up to date."""
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root, config or self.config)

    def start(self, *arguments, cores=2, cwd=None, **environment):
        """Start Snakemake with these arguments."""
        if "--configfile" not in arguments:
            overlay = self.root / "tests" / "overlay.yaml"
            overlay.write_text(yaml.safe_dump(self.config), encoding="utf-8")
            arguments = (*arguments, "--configfile", self.root / "tests" / "config.yaml", overlay)
        arguments = (*arguments, "--cores", cores, "--nocolor")
        return Started([str(each) for each in arguments], cwd or self.root, environment)

    def run(self, *arguments, **options):
        """Run Snakemake to its end: its exit code and all that it printed."""
        return self.start(*arguments, **options).ended()

    def finishes(self, *arguments, **options):
        """Run Snakemake, which must succeed; what it printed."""
        code, printed = self.run(*arguments, **options)
        assert code == 0, printed
        return printed

    def unlock(self):
        """What `snakemake --unlock` does, in no time."""
        shutil.rmtree(self.root / ".snakemake" / "locks", ignore_errors=True)

    def resumes(self, *arguments, **options):
        """Run Snakemake after a run that was cut off."""
        self.unlock()
        return self.finishes(*arguments, **options)

    def fails(self, *arguments, **options):
        """Run Snakemake, which must fail without a traceback on the terminal; what it printed."""
        code, printed = self.run(*arguments, **options)
        assert code == 1, printed
        assert "Traceback" not in printed, printed
        return printed

    def pending(self):
        """Files that a run would make now."""
        table = self.finishes("--summary")
        rows = [line.split("\t") for line in table.splitlines() if line.count("\t") == 5]
        assert rows, table
        return {row[0] for row in rows if row[5] == "update pending"}

    def lasting(self, folder=None):
        """Contents of the files that are the same after every run of this config."""
        folder = folder or self.root
        paths = (path for pattern in LASTING for path in folder.glob(pattern))
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}

    def unfinished(self):
        """Files that were being written when something stopped it."""
        folders = (self.root / name for name in ("data/counts", "results", "figures"))
        return [path for folder in folders for path in folder.rglob(".*")]


@contextlib.contextmanager
def mounted(folder, options):
    """Mount an empty file system in memory there; PermissionError where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    try:
        answer = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise PermissionError("there is no `mount`") from None
    if answer.returncode:
        raise PermissionError(answer.stderr.strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
