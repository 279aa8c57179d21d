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
    print("| mechanism | k | 50 trials | 1,000 trials | 10,000 trials | peak memory |")
    print("|---|---:|---:|---:|---:|---:|")
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
                times = " | ".join(f"{seconds:.2f} s" for seconds, _ in (a, b, c))
                print(f"| `{name}` | {k} | {times} | {peak:,.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
