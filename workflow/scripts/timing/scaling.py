"""Time of one `select` call against the number of items and against k, on generated counts."""

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.results.tables import write_quartiles
from workflow.scripts.timing.on_dataset import seconds_of_select
from workflow.scripts.trials.cells import generator


def generated_counts(d, seed):
    """Counts of d items in no order, heavy-tailed as those of real data."""
    rng = generator(seed, "scaling", d)
    return np.minimum(rng.pareto(1.0, d) + 1, 1e6).astype(np.int64)


def time_sizes(sweeps, seed):
    """Yield (mechanism, sweep, d, k, seconds) of what the config has under `scaling`.

    The first call of each is a warm-up and not counted. Mechanisms that look at every pair of an
    item and a place are left out where there are too many pairs.
    """
    grid = [("d", d, sweeps["k_for_items"]) for d in sweeps["items"]]
    grid += [("k", sweeps["items_for_k"], k) for k in sweeps["ks"]]
    d_of_counts, counts = None, None
    for sweep, d, k in grid:
        if d != d_of_counts:
            d_of_counts, counts = d, generated_counts(d, seed)
        few = d * k <= sweeps["published_max_pairs"]
        for name in [n for n in sweeps["mechanisms"] if few or not mechanisms.get(n).every_pair]:
            for repeat in range(sweeps["repeats"] + 1):
                rng, where = generator(seed, "scaling", name, d, k, repeat), f"{d:,} items"
                given = {"mechanism": name, "epsilon": 1}
                seconds = seconds_of_select(name, where, counts, k, rng, **given)
                if repeat:
                    yield name, sweep, d, k, seconds
            print(f"{name}: d = {d:,}, k = {k}: {seconds:.4f} s", flush=True)


def write_scaling(path, sweeps, seed):
    """Write the quartiles of each group of calls."""
    write_quartiles(path, ["mechanism", "sweep", "d", "k"], time_sizes(sweeps, seed), "calls")
