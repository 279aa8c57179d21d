"""What one job of trials costs: `python -m benchmarks.jobs`.

Runs the trials of a job on Foods, each job in a fresh process. Memory is its peak, Python and NumPy
included.
"""

from benchmarks import apart, embedded, peak_mb, spent
from tools import show
from workflow.scripts.trials.cells import run_cells

NAMES = (
    "joint", "fast_joint", "pnf_joint", "pnf_peel", "cdp_peel", "gamma", "laplace", "joint_alg1",
)  # fmt: skip
TRIALS = (50, 1000, 10_000)


def measure(name, k, trials):
    """Seconds and peak memory of a job with this many trials."""
    start = spent()
    setting = {"mechanism": name}
    run_cells(embedded("foods"), "foods", name, "1", [k], range(1, trials + 1), 0, setting)
    return spent() - start, peak_mb()


def rows():
    for name in NAMES:
        for k in (5, 195):
            # The first process to touch much memory pays for it, in seconds of the system.
            _, *found = (apart(measure, name, k, trials) for trials in (1, *TRIALS))
            times = [f"{seconds:.2f} s" for seconds, _ in found]
            yield [f"`{name}`", str(k), *times, f"{max(peak for _, peak in found):,.0f} MB"]


if __name__ == "__main__":
    show(["mechanism", "k", *(f"{trials:,} trials" for trials in TRIALS), "peak memory"], rows())
