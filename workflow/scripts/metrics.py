"""The error of a selected sequence, as the paper defines it (Definition 2.2)."""

import numpy as np

NAMES = ("linf", "l1", "k_relative", "linf_index")


def errors(true, selected):
    """Errors of a sequence, from the true top-k counts and the counts of the items selected.

    linf: the largest |c_r - c_{s_r}|.
    l1: the sum of all |c_r - c_{s_r}|.
    k_relative: the largest c_k - c_{s_r}. It is never negative for k distinct items: at most
        k - 1 items have a larger count than c_k, so one of the k has at most c_k.
    linf_index: the 1-based place of the largest |c_r - c_{s_r}|, the first of several.
    """
    distance = np.abs(true - selected)
    worst = int(distance.argmax())
    return int(distance[worst]), int(distance.sum()), int(true[-1] - selected.min()), worst + 1
