"""Draws of `joint` and of the published Algorithm 1, to compare their distributions.

Of each draw its largest signed loss is kept, max_r (c_r - c_{s_r}), on which its probability
depends. That all sequences of one loss are equally likely is tested by enumerating them.
"""

import itertools

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.common import write_csv
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.cells import generator, prepared

HEADER = ("dataset", "epsilon", "k", "mechanism", "draw", "loss")


def write_agreement(path, files, *, datasets, ks, epsilon, draws, seed, settings):
    """Write the draws of both samplers on each dataset at each k up to its number of items.

    `files` has the profile and the facts of each dataset, `settings` has each mechanism's setting.
    """
    rows = [HEADER]
    for dataset, paths in zip(datasets, files, strict=True):
        profile = mechanisms.Profile(*read_profile(*paths))
        possible = [k for k in ks if k <= profile.d]
        for k, (name, setting) in itertools.product(possible, settings.items()):
            draw = prepared(profile, k, epsilon, setting, name, dataset)
            rng = generator(seed, "agreement", dataset, name, epsilon, k)
            true = profile.counts_at(np.arange(k))
            losses = ((true - profile.counts_at(draw(rng))).max() for _ in range(draws))
            rows += [(dataset, epsilon, k, name, *row) for row in enumerate(losses, start=1)]
    write_csv(path, rows)
