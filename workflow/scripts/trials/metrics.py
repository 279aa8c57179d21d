"""The metrics of a selection: what they are called, how they are shown, how they are computed.

Definition 2.2 of the paper has the errors; `loss`, on which Joint's distribution depends, and
`recall` are recorded beside them.
"""

from typing import NamedTuple

import numpy as np


class Metric(NamedTuple):
    """How people see a metric.

    title: heads a panel.
    axis: labels an axis.
    padded: drawn with 1 added, on a logarithmic axis, as in the paper.
    sequences_only: depends on the order of the items, which a set does not have.
    about: what it is, in a sentence or two.
    """

    title: str
    axis: str
    padded: bool
    sequences_only: bool
    about: str = ""


METRICS = {
    "loss": Metric(
        "Largest loss",
        "loss + 1",
        True,
        True,
        "The largest amount by which a chosen item falls short of the item that belongs in "
        "its place. Joint's distribution depends on this number alone.",
    ),
    "linf": Metric(
        "Largest error",
        r"$\ell_\infty$ error + 1",
        True,
        True,
        "The largest difference, at any place, between the count of the chosen item and the "
        "count that belongs there.",
    ),
    "l1": Metric(
        "Sum of errors",
        r"$\ell_1$ error + 1",
        True,
        True,
        "The differences between the counts of the chosen items and those that belong in their "
        "places, summed over all k places.",
    ),
    "k_relative": Metric(
        "k-relative error",
        r"$k$-relative error + 1",
        True,
        False,
        "By how much the smallest chosen count falls short of the k-th largest count. It is "
        "0 for every correct set, whatever its order.",
    ),
    "recall": Metric(
        "Recall",
        "recall",
        False,
        False,
        "The share of the k places that are filled with an item of a true top k.",
    ),
    # It counts from 1: that is the paper's index, which counts from 0, padded.
    "linf_index": Metric(
        "Index of largest error",
        r"$\ell_\infty$ error index",
        False,
        True,
        "The place in the sequence, counted from 1, at which the largest error occurs.",
    ),
    "returned": Metric(
        "Items returned",
        "items returned",
        False,
        False,
        "How many items came out, of mechanisms that may give fewer than k. In their other "
        "metrics a missing item is a miss, and fills its place with a count of 0.",
    ),
}


def measured(true, selected, output="sequence"):
    """All METRICS of a selection, from the true top-k counts and the counts of its items.

    A selection of fewer than k items is filled up with items of count 0, which belong to no
    true top k.

    loss: the largest c_r - c_{s_r}; never negative, since no item has more than c_1.
    linf: the largest |c_r - c_{s_r}|.
    l1: the sum of all |c_r - c_{s_r}|.
    k_relative: the largest c_k - c_{s_r}. It is never negative for k distinct items: at most
        k - 1 items have a larger count than c_k, so one of the k has at most c_k.
    recall: of k places, the share with an item of a true top k, one with a count of at least c_k.
    linf_index: the 1-based place of the largest c_r - c_{s_r}, the first of several. As in the
        published code, it is the largest signed difference that is looked for.
    returned: the number of items.

    Without an order, what depends on it is None; `returned` is None where it is always k.
    """
    k, found = len(true), len(selected)
    recall = np.count_nonzero(selected >= true[-1]) / k
    returned = found if output.startswith("partial") else None
    selected = np.pad(selected, (0, k - found))
    k_relative = int(true[-1] - selected.min())
    if output.endswith("set"):
        return None, None, None, k_relative, recall, None, returned
    difference = true - selected
    worst = int(difference.argmax())
    distance = np.abs(difference)
    return (
        int(difference[worst]),
        int(distance.max()),
        int(distance.sum()),
        k_relative,
        recall,
        worst + 1,
        returned,
    )
