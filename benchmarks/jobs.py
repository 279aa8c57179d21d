"""What one job of trials costs: `python -m benchmarks.jobs`. A benchmark, not a test.

Runs the trials of a job on Foods, each job in a fresh process. Seconds are those of the
processor, so that other work on the machine matters little; memory is the peak that the system
reports, Python and NumPy included.
"""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor

from dp_topk import mechanisms
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.cells import run_cell

NAMES = (
    "joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "gamma", "laplace", "joint_alg1",
)  # fmt: skip


def measure(name, k, trials):
    """Processor seconds and peak memory in MB of a job with this many trials."""
    start = time.process_time()
    profile = mechanisms.Profile(*read_profile("data/embedded/foods.csv"))
    for _ in run_cell(profile, "foods", name, "1", k, range(1, trials + 1), 0, {"mechanism": name}):
        pass
    seconds = time.process_time() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main():
    print("One job of trials on Foods: processor seconds, and peak memory in MB")
    print(f"{'mechanism':<12}{'k':>5}{'50 trials':>11}{'1,000':>8}{'10,000':>9}{'MB':>8}")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for name in NAMES:
            for k in (5, 195):
                # The first process to touch much memory pays for it, in seconds of the system.
                processes.submit(measure, name, k, 1).result()
                a, b, c = (
                    processes.submit(measure, name, k, trials).result()
                    for trials in (50, 1000, 10_000)
                )
                peak = max(a[1], b[1], c[1])
                print(f"{name:<12}{k:>5}{a[0]:>11.2f}{b[0]:>8.2f}{c[0]:>9.2f}{peak:>8.0f}")


if __name__ == "__main__":
    main()
