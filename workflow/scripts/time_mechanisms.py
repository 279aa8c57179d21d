"""Time of one `select` call: sorting the counts, preparing and drawing.

Each call gets the full vector of counts, in an order that is not sorted, as a user would have
it. One warm-up call per mechanism and k is not counted.
"""

import time

import numpy as np
import pandas as pd

import mechanisms
from workflow.scripts.common import InputError, logged
from workflow.scripts.draws import generator
from workflow.scripts.profiles import read_profile
from workflow.scripts.tables import CELL, summary, write_table


def seconds_of_select(mechanism, counts, k, rng, **privacy):
    """Seconds that one call takes."""
    start = time.perf_counter()
    mechanism.select(counts, k, rng=rng, **privacy)
    return time.perf_counter() - start


def time_mechanisms(counts, dataset, plan, trials, epsilon, seed, **privacy):
    """Yield (dataset, mechanism, epsilon, k, trial, seconds); plan: mechanism -> list of k.

    Trials go round the mechanisms, so that a slow spell of the machine does not fall on one.
    """
    counts = generator(seed, dataset, "order of items").permutation(counts)
    timed = {name: mechanisms.get(name) for name in plan}
    for k in sorted({k for ks in plan.values() for k in ks}):
        names = [name for name, ks in plan.items() if k in ks]
        for trial in range(trials + 1):  # the first is the warm-up
            for name in names:
                rng = generator(seed, dataset, name, epsilon, k, "timing", trial)
                try:
                    seconds = seconds_of_select(
                        timed[name], counts, k, rng, epsilon=float(epsilon), **privacy
                    )
                except ValueError as error:
                    raise InputError(f"timing {name} on {dataset}: {error}") from None
                if trial:
                    yield dataset, name, epsilon, k, trial, seconds
        print(f"k = {k}: {', '.join(names)}", flush=True)


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        given = snakemake.params
        counts = np.repeat(*read_profile(snakemake.input.counts, snakemake.input.facts))
        rows = time_mechanisms(
            counts, given.dataset, given.plan, given.trials, given.epsilon, given.seed,
            **given.privacy,
        )  # fmt: skip
        timing = pd.DataFrame(rows, columns=[*CELL, "trial", "seconds"])
        write_table(timing, snakemake.output.timing)
        write_table(summary(timing, CELL, "seconds"), snakemake.output.summary)
