"""What the pipeline costs beside the work it does: `make bench-pipeline`.

Runs everything of config.yaml in an empty folder, then nothing, then a sweep of 7,200 cells.
Processor seconds come from the logs of the jobs. The wall time of a stage is from the start of
its first job to the end of its last; stages overlap.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from dp_topk import mechanisms
from workflow.scripts.config.plan import Plan
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.cells import run_cells

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
TOOK = re.compile(r"^began at ([\d.]+), took ([\d.]+) s, ([\d.]+) s of the processor", re.M)
STAGES = {
    "counts": "counts/*",
    "trials": "trials/**/*",
    "timing": "timing",
    "tables": "errors*/**/*",
    "agreement and claims": "[acp][glo]*",
    "figures": "figures/**/*",
}
SWEEP = {
    "epsilons": [0.1, 0.25, 0.5, 1, 2, 4],
    "mechanisms": [
        "joint", "pnf_peel", "cdp_peel", "laplace", "gamma", "pnf_joint", "fast_joint",
        "oneshot_exp", "rdp_peel", "gaussian",
    ],
}  # fmt: skip


def snakemake(folder, *arguments, config=None):
    """Run Snakemake there; its wall time, and the largest memory of any process in MB."""
    command = [Path(sys.executable).with_name("snakemake"), "--cores", "2", "--quiet", "all"]
    overlay = folder / "overlay.yaml"
    overlay.write_text(yaml.safe_dump(config or {}), encoding="utf-8")
    command += ["--snakefile", ROOT / "Snakefile", "--directory", folder, *arguments]
    quiet = subprocess.DEVNULL  # a dry run is never quiet by itself
    start = time.monotonic()
    subprocess.run([*command, "--configfile", overlay], check=True, stdout=quiet, stderr=quiet)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    return time.monotonic() - start, most


def jobs(folder, pattern):
    """(began, seconds, processor seconds) of each job whose log this names."""
    logs = (log for log in (folder / "logs").glob(f"{pattern}.log") if log.is_file())
    found = (TOOK.search(log.read_text(encoding="utf-8")) for log in sorted(logs))
    return [tuple(map(float, line.groups())) for line in found]


def bare_cells():
    """Processor seconds of all cells of config.yaml in this one process."""
    plan = Plan(CONFIG, ROOT)
    profiles = {
        name: mechanisms.Profile(*read_profile(ROOT / f"data/embedded/{name}.csv"))
        for name in plan.dataset_names
    }
    start = time.process_time()
    for dataset, profile in profiles.items():
        for job in plan.jobs(dataset):
            numbers = range(job["first"], job["last"] + 1)
            run_cells(
                profile, dataset, job["mechanism"], job["epsilon"], job["ks"], numbers,
                plan["seed"], plan.setting(job["mechanism"]),
            )  # fmt: skip
    return time.process_time() - start


def sweep():
    """Six epsilons, ten mechanisms, six datasets, twenty k."""
    cells = 6 * 20 * len(SWEEP["epsilons"]) * len(SWEEP["mechanisms"])
    with tempfile.TemporaryDirectory() as name:
        graph, _ = snakemake(Path(name), "--dry-run", config=SWEEP)
        wall, most = snakemake(Path(name), "--until", "errors", config=SWEEP)
    print(
        f"A sweep of {cells:,} cells: {wall:.0f} s, of which the graph {graph:.1f}; "
        f"no process above {most:.0f} MB"
    )


def default_run():
    """All of config.yaml, and then nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wall, _ = snakemake(folder)
        print(f"All of config.yaml: {wall:.0f} s")
        print(f"{'stage':<22}{'jobs':>6}{'processor s':>13}{'wall s':>8}")
        for stage, pattern in STAGES.items():
            found = jobs(folder, pattern)
            if found:
                lasted = max(began + s for began, s, _ in found) - min(began for began, *_ in found)
                work = sum(processor for *_, processor in found)
                print(f"{stage:<22}{len(found):>6}{work:>13.1f}{lasted:>8.1f}")
        trials, bare = sum(job[2] for job in jobs(folder, STAGES["trials"])), bare_cells()
        print(
            f"Trial jobs {trials:.1f} processor seconds, the same cells in one process "
            f"{bare:.1f}: {trials / bare:.2f} times"
        )
        print(f"A run with nothing to do: {snakemake(folder)[0]:.1f} s")


if __name__ == "__main__":
    sweep()  # first, since the peak of memory is that of all processes so far
    default_run()
