"""Time of one `select` call against the number of items and against k, on generated counts."""

import time

import numpy as np
import pandas as pd

import mechanisms
from workflow.scripts.common import logged
from workflow.scripts.draws import generator
from workflow.scripts.tables import write_table


def generated_counts(d, seed):
    """Counts of d items in no order, heavy-tailed as those of real data."""
    rng = generator(seed, "scaling", d)
    return np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)


def cells(names, ds, k_for_items, ks, items_for_k, most_cells):
    """(sweep, d, k, mechanism) of all that is timed; the published way only as far as it goes."""
    grid = [("d", d, k_for_items) for d in ds] + [("k", items_for_k, k) for k in ks]
    for sweep, d, k in grid:
        for name in names:
            if name != "joint_alg1" or d * k <= most_cells:
                yield sweep, d, k, name


def time_cells(cells, repeats, seed):
    """Yield (mechanism, sweep, d, k, repeat, seconds), one warm-up call for each not counted."""
    d_of_counts, counts = None, None
    for sweep, d, k, name in cells:
        if d != d_of_counts:
            d_of_counts, counts = d, generated_counts(d, seed)
        mechanism = mechanisms.get(name)
        for repeat in range(repeats + 1):
            rng = generator(seed, "scaling", name, d, k, repeat)
            start = time.perf_counter()
            mechanism.select(counts, k, rng=rng)
            seconds = time.perf_counter() - start
            if repeat:
                yield name, sweep, d, k, repeat, seconds
        print(f"{name}: d = {d:,}, k = {k}: {seconds:.4f} s", flush=True)


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        plan = snakemake.params.plan
        todo = cells(
            plan["mechanisms"], plan["items"], plan["k_for_items"], plan["k"],
            plan["items_for_k"], plan["joint_alg1_max_cells"],
        )  # fmt: skip
        table = pd.DataFrame(
            time_cells(todo, plan["repeats"], snakemake.params.seed),
            columns=["mechanism", "sweep", "d", "k", "repeat", "seconds"],
        )
        write_table(table, snakemake.output[0])
