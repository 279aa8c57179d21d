"""Draw from a billion items: `python -m benchmarks.billion`.

The counts are never written out, only their profile: a million distinct counts and how many items
have each. Each mechanism runs in a fresh process; Python and NumPy alone take about 30 MB of its
peak memory.
"""

import numpy as np

from benchmarks import apart, peak_mb, seconds
from dp_topk import mechanisms
from tools import show

ITEMS, DISTINCT = 10**9, 10**6

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
    """Seconds to prepare and of the first draw, and the process's peak memory."""
    rng, profile, draws = np.random.default_rng(0), billion(), []
    prepare = mechanisms.get(name).prepare
    times = seconds(
        lambda: draws.append(prepare(profile, k, 1.0)), lambda: draws.pop()(rng), repeats=9
    )
    return *times, peak_mb()


def rows():
    for name in NAMES:
        for k in (10, 1000):
            prepare, draw, peak = apart(measure, name, k)
            times = f"{1e3 * prepare:.1f} ms", f"{1e3 * draw:.2f} ms"
            yield [f"`{name}`", f"{k:,}", *times, f"{peak:.0f} MB"]


if __name__ == "__main__":
    head = f"d = {ITEMS:,}, {DISTINCT:,} distinct counts"
    show([head, "k", "prepare", "a draw", "peak memory"], rows())
