"""Time of one `select` call against the number of items and against k, on generated counts."""

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.results.tables import QUARTILES, summarised, write_table
from workflow.scripts.timing.on_dataset import seconds_of_select
from workflow.scripts.trials.cells import generator

SWEEP = ["mechanism", "sweep", "d", "k"]


def generated_counts(d, seed):
    """Counts of d items in no order, heavy-tailed as those of real data."""
    rng = generator(seed, "scaling", d)
    return np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)


def sizes(names, ds, k_for_items, ks, items_for_k, most_pairs):
    """(sweep, d, k, mechanism) of all that is timed, where d k is not too much for it."""
    grid = [("d", d, k_for_items) for d in ds] + [("k", items_for_k, k) for k in ks]
    for sweep, d, k in grid:
        for name in names:
            if d * k <= most_pairs or not mechanisms.get(name).every_pair:
                yield sweep, d, k, name


def time_sizes(sizes, repeats, seed):
    """Yield (mechanism, sweep, d, k, seconds), one warm-up call for each not counted."""
    d_of_counts, counts = None, None
    for sweep, d, k, name in sizes:
        if d != d_of_counts:
            d_of_counts, counts = d, generated_counts(d, seed)
        mechanism = mechanisms.get(name)
        for repeat in range(repeats + 1):
            rng = generator(seed, "scaling", name, d, k, repeat)
            seconds = seconds_of_select(mechanism, counts, k, rng, epsilon=1.0)
            if repeat:
                yield name, sweep, d, k, seconds
        print(f"{name}: d = {d:,}, k = {k}: {seconds:.4f} s", flush=True)


def write_scaling(path, sweeps, seed):
    """Time what the config asks for under `scaling`; write the quartiles of each."""
    todo = sizes(
        sweeps["mechanisms"], sweeps["items"], sweeps["k_for_items"], sweeps["ks"],
        sweeps["items_for_k"], sweeps["published_max_pairs"],
    )  # fmt: skip
    calls = time_sizes(todo, sweeps["repeats"], seed)
    rows = summarised(calls, by=len(SWEEP), value=-1)
    write_table(path, [*SWEEP, *QUARTILES, "calls"], rows)
