"""Time of one `select` call: sorting the counts, preparing and drawing.

Each call gets the full vector of counts, unsorted, as a user would have it. One warm-up call per
mechanism and k is not counted; long calls need only one per mechanism.
"""

import time

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.results.tables import CELL, write_quartiles, write_table
from workflow.scripts.trials.cells import generator

# A call that takes longer than this is timed FEW times: what disturbs a call for milliseconds
# hardly matters there, and the published algorithms take seconds.
LONG = 0.25
FEW = 2


def seconds_of_select(name, where, counts, k, rng, *, mechanism, epsilon, **setting):
    """Seconds that one call takes. `name` is what the config calls the mechanism."""
    select = mechanisms.get(mechanism).select
    start = time.perf_counter()
    try:
        select(counts, k, rng=rng, epsilon=float(epsilon), **setting)
    except (ValueError, mechanisms.Unavailable) as error:
        raise InputError(f"timing {name} on {where}: {error}") from None
    return time.perf_counter() - start


def time_mechanisms(counts, dataset, ks_of, trials, epsilon, seed, settings):
    """Yield (dataset, mechanism, epsilon, k, trial, seconds); ks_of: {mechanism: list of k}.

    Trials go round the mechanisms, so that a slow spell of the machine does not fall on one.
    Each k larger than the number of items is left out.
    """
    counts = generator(seed, dataset, "order of items").permutation(counts)
    warm = set()
    for k in sorted({k for ks in ks_of.values() for k in ks if k <= len(counts)}):
        timed = {name: 0 for name, ks in ks_of.items() if k in ks}
        wanted = dict.fromkeys(timed, trials)
        for call in range(trials + 1):
            for name in [name for name in timed if timed[name] < wanted[name]]:
                rng = generator(seed, dataset, name, epsilon, k, "timing", call)
                given = {"epsilon": epsilon, **settings[name]}
                seconds = seconds_of_select(name, dataset, counts, k, rng, **given)
                is_long = seconds > LONG
                if is_long:
                    wanted[name] = min(FEW, trials)
                if call or (is_long and name in warm):
                    timed[name] += 1
                    yield dataset, name, epsilon, k, timed[name], seconds
                warm.add(name)
        print(f"k = {k}: {', '.join(timed)}", flush=True)


def write_timing(counts, facts, *, timing, summary, **what):
    """Time the mechanisms on the profile `counts`; write a row per call, and the quartiles."""
    calls = list(time_mechanisms(np.repeat(*read_profile(counts, facts)), **what))
    write_table(timing, [*CELL, "trial", "seconds"], calls)
    write_quartiles(summary, CELL, calls, "trials")
