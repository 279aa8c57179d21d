"""Benchmark of exact releases: processor time to prepare and to draw on Foods, d = 166,049.

python -m benchmarks.release
"""

import time

from dp_topk import release
from dp_topk.release._outputs import Sequences, Sets
from tests.mechanisms.test_real_profiles import descending_counts


def milliseconds(action, times):
    seconds = []
    for _ in range(times):
        start = time.process_time()
        action()
        seconds.append(time.process_time() - start)
    return 1000 * sorted(seconds)[times // 2]


def bench_draws():
    counts = descending_counts("foods")
    print("| median, ε = 1 | k | one release | next draw |")
    print("|---|---:|---:|---:|")
    for name, outputs in [("sequence", Sequences), ("set", Sets)]:
        for k in (5, 95, 195):
            once, again = times(outputs, counts, k)
            print(f"| {name} | {k} | {once:.1f} ms | {again:.2f} ms |")


def times(outputs, counts, k):
    draw = release.prepare(outputs, counts, k, 1)
    return (
        milliseconds(lambda: release.prepare(outputs, counts, k, 1)(), 21),
        milliseconds(draw, 101),
    )


if __name__ == "__main__":
    bench_draws()
