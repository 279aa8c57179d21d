"""What one job of trials costs: `python -m benchmarks.jobs`. A benchmark, not a test.

Runs the trials of a job on Foods, each job in a fresh process. Seconds are those of the
processor, so other work on the machine matters little; memory is the peak that the system
reports, Python and NumPy included.
"""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor

from dp_topk import mechanisms
from tools import show
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.cells import run_cells

NAMES = (
    "joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "gamma", "laplace", "joint_alg1",
)  # fmt: skip
TRIALS = (50, 1000, 10_000)


def measure(name, k, trials):
    """Processor seconds and peak memory in MB of a job with this many trials."""
    start = time.process_time()
    profile = mechanisms.Profile(*read_profile("data/embedded/foods.csv"))
    run_cells(profile, "foods", name, "1", [k], range(1, trials + 1), 0, {"mechanism": name})
    seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def rows():
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for name in NAMES:
            for k in (5, 195):
                # The first process to touch much memory pays for it, in seconds of the system.
                jobs = [processes.submit(measure, name, k, trials) for trials in (1, *TRIALS)]
                _, *found = (job.result() for job in jobs)
                times = [f"{seconds:.2f} s" for seconds, _ in found]
                yield [f"`{name}`", str(k), *times, f"{max(peak for _, peak in found):,.0f} MB"]


if __name__ == "__main__":
    heads = [f"{trials:,} trials" for trials in TRIALS]
    show(["mechanism", "k", *heads, "peak memory"], rows())
