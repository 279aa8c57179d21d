"""Draws of `joint` and of the published Algorithm 1, to compare their distributions.

Kept of a draw are its largest signed loss, max_r (c_r - c_{s_r}), on which its probability
depends, and its largest absolute one, the ℓ∞ error. (That all sequences of one loss are equally
likely is for the test suite, which enumerates them.)
"""

import csv

import numpy as np

import mechanisms
from workflow.scripts.common import logged, written
from workflow.scripts.draws import generator, prepared
from workflow.scripts.profiles import read_profile

HEADER = ("dataset", "epsilon", "k", "mechanism", "draw", "loss", "linf")


def losses(profile, dataset, epsilon, k, mechanism, draws, seed, **privacy):
    """Yield a row for each draw: its largest signed loss and its largest absolute one."""
    draw = prepared(mechanism, profile, k, dataset, epsilon=float(epsilon), **privacy)
    rng = generator(seed, "agreement", dataset, mechanism, epsilon, k)
    true = profile.counts_at(np.arange(k))
    for number in range(1, draws + 1):
        loss = true - profile.counts_at(draw(rng))
        yield dataset, epsilon, k, mechanism, number, loss.max(), np.abs(loss).max()


def write_agreement(path, profiles, ks, epsilon, draws, seed, **privacy):
    """Write the draws of both samplers on each dataset (name -> Profile) at each k."""
    with written(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for dataset, profile in profiles.items():
            for k in ks:
                for mechanism in ("joint", "joint_alg1"):
                    writer.writerows(
                        losses(profile, dataset, epsilon, k, mechanism, draws, seed, **privacy)
                    )


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        given = snakemake.params
        files = zip(snakemake.input.counts, snakemake.input.facts, strict=True)
        profiles = {
            dataset: mechanisms.Profile(*read_profile(*pair))
            for dataset, pair in zip(given.datasets, files, strict=True)
        }
        write_agreement(
            snakemake.output[0],
            profiles,
            given.k,
            given.epsilon,
            given.draws,
            given.seed,
            **given.privacy,
        )
