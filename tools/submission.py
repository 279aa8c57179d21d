"""Submit a mechanism to the leaderboard by the digests of its trials, or repeat some of them.

    python -m tools.submission NAME        after `make field`: write submissions/NAME.sha256
    python -m tools.submission --repeat    run some jobs of every submission again: the same bytes?

Each line is the digest of what one job of `make field` wrote: the trials on a dataset at an
epsilon. Generators are keyed by names, so a job gives the same bytes alone and in the field.
"""

import random
import tempfile
from pathlib import Path

from tools import ROOT
from workflow.scripts.common import InputError, made, program, read_digests, sha256
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_config, read_yaml
from workflow.scripts.results.manifest import write_digests
from workflow.scripts.trials.cells import write_cells

SUBMISSIONS = ROOT / "submissions"
SAMPLE = 4  # jobs of each submission


def field():
    """The plan of `make field`."""
    overlay = read_yaml(ROOT / "workflow/field.yaml")
    return Plan(root=ROOT, **read_config(ROOT / "config.yaml", overlay))


def jobs(plan, name):
    """The jobs of a mechanism: {the file that one writes: (dataset, job)}."""
    if name not in plan["mechanisms"]:
        raise InputError(f"{name} is not in workflow/field.yaml: add it to `mechanisms` there")
    datasets = plan.dataset_names
    return {
        job["cells"]: (d, job) for d in datasets for job in plan.jobs(d) if job["mechanism"] == name
    }


def submit(plan, name, run=Path("field"), folder=SUBMISSIONS):
    """Write the digests of all jobs of a mechanism, from the run in a folder."""
    digests = {path: sha256(made(run / path, "field")) for path in jobs(plan, name)}
    write_digests(folder / f"{name}.sha256", digests)


def repeat(plan, name, folder=SUBMISSIONS, sample=SAMPLE):
    """Run some jobs again, which nobody can predict: {its file: whether it has the digest}."""
    digests, wanted = read_digests(folder / f"{name}.sha256"), jobs(plan, name)
    if digests.keys() != wanted.keys():
        raise InputError(
            f"submissions/{name}.sha256 does not list the jobs of `make field`: write it again"
        )
    chosen = random.SystemRandom().sample(list(wanted), min(sample, len(wanted)))
    return {path: repeated(plan, *wanted[path]) == digests[path] for path in chosen}


def repeated(plan, dataset, job):
    """The digest of what a job writes now."""
    with tempfile.TemporaryDirectory() as folder:
        cells = Path(folder, "cells.csv")
        write_cells(
            plan.origin(dataset)["raw"],
            facts=None,
            cells=cells,
            missing=Path(folder, "missing.csv"),
            dataset=dataset,
            name=job["mechanism"],
            epsilon=job["epsilon"],
            ks=job["ks"],
            trials=range(job["first"], job["last"] + 1),
            seed=plan["seed"],
            setting=plan.setting(job["mechanism"]),
        )
        return sha256(cells)


def main(name=None):
    """Submit the mechanism that is named, or repeat all that were submitted; 1 if one differs."""
    if name is None:
        raise InputError("give the name of a mechanism, or --repeat")
    if name != "--repeat":
        return submit(field(), name)
    plan, differs = field(), 0
    for path in sorted(SUBMISSIONS.glob("*.sha256")):
        for job, same in repeat(plan, path.stem).items():
            print(f"{'same' if same else 'differs'}  {job}", flush=True)
            differs |= not same
    return differs


if __name__ == "__main__":
    program(main)
