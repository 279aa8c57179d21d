"""What a job needs, for clusters and for `--resources`."""

import os

from workflow.scripts.common import InputError
from workflow.scripts.data.profiles import read_facts


def memory_mb(counts, facts, mechanism, k, written_out=False):
    """Memory that a job needs, from what is known of its counts.

    On a cluster two Snakemake processes wait beside the job; that is the first term. Profiles
    take some 85 bytes for each distinct count, which is about 10 bytes of the file. Written
    out, d counts are held a few times. The published algorithm also sorts d k numbers, and
    Pair may fill tables of up to 500 MB.
    """
    try:
        d = read_facts(facts)["d"]
    except InputError:
        d = 0  # the job says what is wrong with the file
    utilities = d * int(k) if mechanism == "joint_alg1" else 0
    items = d if written_out else 0
    tables = 500 if mechanism == "pair" else 0
    return 500 + tables + (12 * os.path.getsize(counts) + 50 * items + 50 * utilities) // 10**6


def trial_minutes(mechanism, ks, first, last):
    """Minutes that the cells of a job take at most; Pair may prepare half a minute for each."""
    preparing = len(ks) if mechanism == "pair" else 0
    return 2 + preparing + (int(last) - int(first) + 1) * sum(ks) // 200_000
