"""The metrics of a selection: what they are called, how they are shown, how they are computed.

Definition 2.2 of the paper has the errors; `loss`, on which Joint's distribution depends, and
`recall` are recorded beside them.
"""

from typing import NamedTuple

import numpy as np


class Metric(NamedTuple):
    """How people see a metric: the head of a panel, the label of an axis, and what it is."""

    title: str
    axis: str
    about: str

    @property
    def padded(self):
        """Whether it is drawn with 1 added, on a logarithmic axis, as in the paper."""
        return self.axis.endswith(" + 1")


METRICS = {
    "loss": Metric(
        "Largest loss",
        "loss + 1",
        "The largest amount by which a chosen item falls short of the item that belongs in "
        "its place. Joint's distribution depends on this number alone.",
    ),
    "linf": Metric(
        "Largest error",
        r"$\ell_\infty$ error + 1",
        "The largest difference, at any place, between the count of the chosen item and the "
        "count that belongs there.",
    ),
    "l1": Metric(
        "Sum of errors",
        r"$\ell_1$ error + 1",
        "The differences between the counts of the chosen items and those that belong in their "
        "places, summed over all k places.",
    ),
    "k_relative": Metric(
        "k-relative error",
        r"$k$-relative error + 1",
        "By how much the smallest chosen count falls short of the k-th largest count. It is "
        "0 for every correct set, whatever its order.",
    ),
    "recall": Metric(
        "Recall",
        "recall",
        "The share of the k places that are filled with an item of a true top k.",
    ),
    # It counts from 1: that is the paper's index, which counts from 0, padded.
    "linf_index": Metric(
        "Index of largest error",
        r"$\ell_\infty$ error index",
        "The place in the sequence, counted from 1, at which the largest error occurs.",
    ),
    "returned": Metric(
        "Items returned",
        "items returned",
        "How many items came out, of mechanisms that may give fewer than k. In their other "
        "metrics a missing item is a miss, and fills its place with a count of 0.",
    ),
}


def measured(true, selected, output="sequence"):
    """All METRICS of a selection, from the true top-k counts and the counts of its items.

    What depends on an order is None for a set; `returned` is None where it is always k.
    """
    k, found = len(true), len(selected)
    # Items with as large a count as the k-th are of a true top k; those filled in never are.
    recall = np.count_nonzero(selected >= true[-1]) / k
    returned = found if output.startswith("partial") else None
    selected = np.pad(selected, (0, k - found))
    # Never negative: at most k - 1 items have a larger count than c_k.
    k_relative = int(true[-1] - selected.min())
    if output.endswith("set"):
        return None, None, None, k_relative, recall, None, returned
    difference = true - selected
    # As in the published code, that of the largest signed difference, and the first of several.
    worst = int(difference.argmax())
    distance = np.abs(difference)
    errors = map(int, (difference[worst], distance.max(), distance.sum()))
    return *errors, k_relative, recall, worst + 1, returned
