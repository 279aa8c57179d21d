"""What a job needs, for clusters and for `--resources`."""

import os

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.data.profiles import read_facts


def memory_mb(counts, facts, mechanism, k, written_out=False):
    """Memory that a job needs, from what is known of its counts and its mechanism.

    On a cluster two Snakemake processes wait beside the job; that is the first term. Profiles
    take some 85 bytes for each distinct count, which is about 10 bytes of the file. Written
    out, d counts are held a few times.
    """
    try:
        d = read_facts(facts)["d"]
    except InputError:
        d = 0  # the job says what is wrong with the file
    counts_held = 12 * os.path.getsize(counts) + 50 * (d if written_out else 0)
    return 500 + (counts_held + mechanisms.get(mechanism).extra_memory(d, int(k))) // 10**6


def trial_minutes(mechanism, ks, first, last):
    """Minutes that the cells of a job take at most."""
    preparing = sum(map(mechanisms.get(mechanism).extra_seconds, ks)) // 60
    return 2 + int(preparing) + (int(last) - int(first) + 1) * sum(ks) // 200_000
