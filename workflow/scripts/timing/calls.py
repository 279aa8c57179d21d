"""Time of one `select` call: sorting the counts, preparing and drawing.

Each call gets the full vector of counts, unsorted, as a user would have it. One warm-up call per
mechanism and k is not counted; on a dataset, long calls need only one per mechanism.
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
    """{(dataset, mechanism, epsilon, k): seconds of calls}; ks_of: {mechanism: list of k}.

    Trials go round the mechanisms, so that a slow spell of the machine does not fall on one.
    Each k larger than the number of items is left out.
    """
    counts = generator(seed, dataset, "order of items").permutation(counts)
    times, warm = {}, set()
    for k in sorted({k for ks in ks_of.values() for k in ks if k <= len(counts)}):
        wanted = {name: trials for name, ks in ks_of.items() if k in ks}
        timed = {name: times.setdefault((dataset, name, epsilon, k), []) for name in wanted}
        for call in range(trials + 1):
            for name in [name for name in wanted if len(timed[name]) < wanted[name]]:
                rng = generator(seed, dataset, name, epsilon, k, "timing", call)
                given = {"epsilon": epsilon, **settings[name]}
                seconds = seconds_of_select(name, dataset, counts, k, rng, **given)
                is_long = seconds > LONG
                if is_long:
                    wanted[name] = min(FEW, trials)
                if call or (is_long and name in warm):
                    timed[name].append(seconds)
                warm.add(name)
        print(f"k = {k}: {', '.join(wanted)}", flush=True)
    return times


def write_timing(counts, facts, *, timing, summary, **what):
    """Time the mechanisms on the profile `counts`; write a row per call, and the quartiles."""
    times = time_mechanisms(np.repeat(*read_profile(counts, facts)), **what)
    calls = ((*cell, *call) for cell, calls in times.items() for call in enumerate(calls, start=1))
    write_table(timing, [*CELL, "trial", "seconds"], calls)
    write_quartiles(summary, CELL, times, "trials")


def write_scaling(path, sweeps, seed):
    """Time calls on generated counts, as the config says under `scaling`; write the quartiles.

    Mechanisms that look at every pair of an item and a place are left out where there are too
    many pairs.
    """
    grid = [("d", d, sweeps["k_for_items"]) for d in sweeps["items"]]
    grid += [("k", sweeps["items_for_k"], k) for k in sweeps["ks"]]
    times, counts = {}, ()
    for sweep, d, k in grid:
        if d != len(counts):  # heavy-tailed as those of real data, in no order
            counts = generator(seed, "scaling", d).pareto(1.0, d) + 1
            counts = np.minimum(counts, 1e6).astype(np.int64)
        few = d * k <= sweeps["published_max_pairs"]
        for name in [n for n in sweeps["mechanisms"] if few or not mechanisms.get(n).every_pair]:
            given = {"where": f"{d:,} items", "mechanism": name, "epsilon": 1}
            rngs = (generator(seed, "scaling", name, d, k, n) for n in range(sweeps["repeats"] + 1))
            calls = [seconds_of_select(name, counts=counts, k=k, rng=rng, **given) for rng in rngs]
            times[name, sweep, d, k] = calls[1:]
            print(f"{name}: d = {d:,}, k = {k}: {calls[-1]:.4f} s", flush=True)
    write_quartiles(path, ["mechanism", "sweep", "d", "k"], times, "calls")
