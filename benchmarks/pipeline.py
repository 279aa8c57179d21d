"""What the pipeline costs on top of the work it does: `make bench-pipeline`.

Runs everything of config.yaml in an empty folder, then nothing, then a sweep of 7,200 cells.

`python -m benchmarks.pipeline field` runs nothing: it adds up what the logs of the last `make
field` say.
"""

import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN

from benchmarks import embedded, peak_mb, spent
from tools import ROOT, show
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_yaml
from workflow.scripts.trials.cells import run_cells

TOOK = re.compile(r"^began at [\d.]+, took [\d.]+ s, ([\d.]+) s of the processor", re.M)
STAGES = {
    "counts": "counts/*",
    "trials": "trials/**/*",
    "timing": "timing",
    "tables": "errors*/**/*",
    "agreement and claims": "[acp][glo]*",
    "figures": "figures/**/*",
}
SWEEP = (
    "--config",
    "epsilons=[0.1,0.25,0.5,1,2,4]",
    "mechanisms=[joint,pnf_peel,cdp_peel,laplace,gamma,pnf_joint,fast_joint,oneshot_exp,rdp_peel,"
    "gaussian]",
)


def snakemake(folder, *arguments):
    """Run Snakemake there; processor seconds, and the largest memory of any process in MB."""
    command = [Path(sys.executable).with_name("snakemake"), "--cores", "2", "--quiet", "all"]
    command += ["--snakefile", ROOT / "Snakefile", "--directory", folder, *arguments]
    quiet = subprocess.DEVNULL  # a dry run is never quiet by itself
    before = spent(RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=quiet, stderr=quiet)
    return spent(RUSAGE_CHILDREN) - before, peak_mb(RUSAGE_CHILDREN)


def jobs(folder, pattern):
    """The processor seconds of each job whose log this names."""
    logs = (log for log in (folder / "logs").glob(f"{pattern}.log") if log.is_file())
    return [float(TOOK.search(log.read_text(encoding="utf-8"))[1]) for log in logs]


def bare_cells():
    """Processor seconds of all cells of config.yaml in this one process."""
    plan = Plan(read_yaml(ROOT / "config.yaml"), ROOT)
    profiles = {name: embedded(name) for name in plan.dataset_names}
    trials, seed = range(1, plan["trials"] + 1), plan["seed"]
    start = spent()
    for dataset, profile in profiles.items():
        for name, setting in plan.settings(*plan["mechanisms"]).items():
            for epsilon in plan.epsilons_of(name):
                run_cells(profile, dataset, name, epsilon, plan["ks"], trials, seed, setting)
    return spent() - start


def sweep():
    """Six epsilons, ten mechanisms, six datasets, twenty k."""
    with tempfile.TemporaryDirectory() as folder:
        planning, _ = snakemake(folder, "--dry-run", *SWEEP)
        seconds, most = snakemake(folder, "--until", "errors", *SWEEP)
    yield "a sweep of 7,200 cells, 50 trials each", f"{seconds:.0f} s"
    yield "planning it", f"{planning:.1f} s"
    yield "the largest process of the sweep", f"{most:.0f} MB"


def default_run():
    """All of config.yaml, and then nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield "all of `config.yaml`, from nothing", f"{snakemake(folder)[0]:.0f} s"
        found = {stage: jobs(folder, pattern) for stage, pattern in STAGES.items()}
        for stage, seconds in found.items():
            yield f"of it {stage}, {len(seconds)} jobs", f"{sum(seconds):.1f} s"
        bare = bare_cells()
        yield "the cells of the trials in one process", f"{bare:.1f} s"
        trials = f"{sum(found['trials']) / bare:.2f} times"
        yield "the jobs of the trials, compared with that", trials
        yield "a run with nothing to do", f"{snakemake(folder)[0]:.1f} s"


def last_field():
    """The jobs of the last `make field`."""
    all_jobs, of_pair = (jobs(ROOT / "field", each) for each in ("**/*", "trials/*/pair/*"))
    if not all_jobs:
        sys.exit("There are no logs in field/: run `make field` first.")
    yield f"the {len(all_jobs)} jobs of `make field`", f"{sum(all_jobs) / 60:.1f} min"
    yield "of it the trials of Pair, at two epsilons", f"{sum(of_pair) / 60:.1f} min"


if __name__ == "__main__":
    # The sweep first, since the peak of memory is that of all processes so far.
    rows = last_field() if sys.argv[1:] == ["field"] else itertools.chain(sweep(), default_run())
    show(["what", "processor time"], rows)
