"""Describe the datasets of a run: size, origin, counts near the top, gaps and histograms."""

import numpy as np

from workflow.scripts.common import write_csv
from workflow.scripts.data.profiles import read_facts, read_profile, top

BINS_PER_DECADE = 10
COLUMNS = ["dataset", "title", "source", "status", "users", "d", "total", "largest", "sha256"]
# In words for people: what the counts of a dataset are, by its `status` in the config, and
# how often a user counts for an item; the privacy guarantee assumes once.
STATUS = {
    "real": "real",
    "real-head": "real head",
    "from-figure": "read from a figure",
    "stand-in": "stand-in",
}
USERS = {"once": "once", "any": "may count more than once", "unknown": "not known"}


def rows_of_datasets(profiles, facts, ks):
    """A row for each dataset: its facts, then c_K, the K-th largest count, for each K."""
    yield COLUMNS + [f"c_{k}" for k in ks]
    for profile, about in zip(profiles, facts, strict=True):
        known = about | {"users": USERS[about["users"]]}
        largest = top(*profile, max(ks)).tolist()
        ranks = [largest[k - 1] if k <= len(largest) else "" for k in ks]
        yield [known[key] for key in COLUMNS] + ranks


def rows_of_gaps(profiles, facts, ks, beyond=5):
    """c_k and c_k - c_{k+1} for every k up to the largest configured one and a few more."""
    yield ["dataset", "k", "count", "gap"]
    for profile, about in zip(profiles, facts, strict=True):
        largest = top(*profile, max(ks) + beyond + 1)
        steps = zip(largest.tolist(), (-np.diff(largest)).tolist(), strict=False)
        for k, (count, gap) in enumerate(steps, start=1):
            yield [about["dataset"], k, count, gap]


def rows_of_histograms(profiles, facts):
    """How many items have a count in low <= count < high; empty bins within the range, too."""
    yield ["dataset", "low", "high", "items"]
    for (counts, items), about in zip(profiles, facts, strict=True):
        edges = bin_edges(int(counts[0]))
        in_bin, _ = np.histogram(counts, edges, weights=items)
        first = np.flatnonzero(in_bin)[0]
        for low, high, n in list(zip(edges, edges[1:], in_bin.tolist(), strict=False))[first:]:
            yield [about["dataset"], low, high, int(n)]


def bin_edges(largest):
    """0, 1, then whole numbers close to equal steps of the logarithm, until past `largest`."""
    edges, step = [0, 1], 0
    while edges[-1] <= largest:
        step += 1
        edge = round(10 ** (step / BINS_PER_DECADE))
        if edge > edges[-1]:
            edges.append(edge)
    return edges


def describe(files, about, ks, table, gaps, histograms):
    """Write the three tables; `files` has the profile and the facts of each dataset."""
    files = [(read_profile(counts, known), read_facts(known)) for counts, known in files]
    profiles, facts = zip(*files, strict=True)
    facts = [known | about[known["dataset"]] for known in facts]
    write_csv(table, rows_of_datasets(profiles, facts, ks))
    write_csv(gaps, rows_of_gaps(profiles, facts, ks))
    write_csv(histograms, rows_of_histograms(profiles, facts))
