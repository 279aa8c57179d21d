"""Draws of `joint` and of the published Algorithm 1, to compare their distributions.

Kept of a draw is its largest signed loss, max_r (c_r - c_{s_r}), on which its probability
depends. (That all sequences of one loss are equally likely is for the test suite, which
enumerates them.)
"""

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.common import write_csv
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.generators import generator, prepared

HEADER = ("dataset", "epsilon", "k", "mechanism", "draw", "loss")


def losses(profile, dataset, epsilon, k, mechanism, draws, seed, setting):
    """Yield a row for each draw: its largest signed loss."""
    draw = prepared(profile, k, epsilon, setting, mechanism, dataset)
    rng = generator(seed, "agreement", dataset, mechanism, epsilon, k)
    true = profile.counts_at(np.arange(k))
    for number in range(1, draws + 1):
        loss = true - profile.counts_at(draw(rng))
        yield dataset, epsilon, k, mechanism, number, loss.max()


def write_agreement(path, files, *, datasets, ks, epsilon, draws, seed, settings):
    """Write the draws of both samplers on each dataset at each k that it has the items for.

    `files` has the profile and the facts of each dataset; `settings` those of each mechanism.
    """
    profiles = {
        dataset: mechanisms.Profile(*read_profile(*pair))
        for dataset, pair in zip(datasets, files, strict=True)
    }
    rows = [HEADER]
    for dataset, profile in profiles.items():
        for k in (k for k in ks if k <= profile.d):
            for mechanism, setting in settings.items():
                rows += losses(profile, dataset, epsilon, k, mechanism, draws, seed, setting)
    write_csv(path, rows)
