"""Draw from a billion items: `python -m benchmarks.billion`. A benchmark, not a test.

The counts are never written out, only their profile: a million distinct counts and how many
items have each. Each mechanism runs in a fresh process, whose peak memory is what the system
reports (Python and NumPy alone take about 30 MB of it).
"""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from dp_topk import mechanisms

ITEMS, DISTINCT = 10**9, 10**6
REPEATS = 9

# The published algorithms write out all items, and the first holds 48 bytes for each of d times k
# entries: 48 TB at k = 1000.
NAMES = [name for name in mechanisms.names() if mechanisms.get(name).published_of is None]


def billion():
    """A profile with few items at the top, gaps that grow towards it, and a long tail."""
    place = np.arange(DISTINCT, 0, -1)
    counts = (place**1.5).astype(np.int64)
    share = 1.0 / place**2
    items = 1 + ((ITEMS - DISTINCT) * (share / share.sum())).astype(np.int64)
    items[-1] += ITEMS - items.sum()
    return mechanisms.Profile(counts, items)


def measure(name, k):
    """Processor seconds to prepare and of a draw (medians), and the process's peak memory in MB."""
    rng, profile, mechanism = np.random.default_rng(0), billion(), mechanisms.get(name)
    # The first call of a process loads parts of NumPy, whatever the size of the profile.
    mechanism.select(mechanisms.Profile([3, 2, 0], [1, 1, 9]), 2, 1.0, rng=rng)
    prepare, draws = [], []
    for _ in range(REPEATS):
        start = time.process_time()
        draw = mechanism.prepare(profile, k, 1.0)
        prepare.append(time.process_time() - start)
        start = time.process_time()
        draw(rng)
        draws.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return float(np.median(prepare)), float(np.median(draws)), peak


def main():
    print(f"| d = {ITEMS:,}, {DISTINCT:,} distinct counts | k | prepare | a draw | peak memory |")
    print("|---|---:|---:|---:|---:|")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as processes:
        for name in NAMES:
            for k in (10, 1000):
                prepare, draw, peak = processes.submit(measure, name, k).result()
                times = f"{1e3 * prepare:.1f} ms | {1e3 * draw:.2f} ms"
                print(f"| `{name}` | {k:,} | {times} | {peak:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
