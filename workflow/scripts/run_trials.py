"""Trials of one mechanism on one dataset at one epsilon and k: counts in, errors out.

The generator of a trial is keyed by names, so a trial's result depends on nothing else: not on
the number of cores, the order of jobs, how trials are cut into jobs, or the rest of the config.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

import mechanisms
from workflow.scripts import metrics
from workflow.scripts.common import InputError, logged, written
from workflow.scripts.draws import generator, prepared
from workflow.scripts.profiles import read_profile

HEADER = ",".join(("trial", *metrics.NAMES))


def run_trials(profile, dataset, mechanism, epsilon, k, trials, seed, **privacy):
    """Yield (trial, *errors) for each of the trials, which are numbered from 1."""
    draw = prepared(mechanism, profile, k, dataset, epsilon=float(epsilon), **privacy)
    true = profile.counts_at(np.arange(k))
    for trial in trials:
        ranks = draw(generator(seed, dataset, mechanism, epsilon, k, trial))
        yield trial, *metrics.errors(true, profile.counts_at(ranks))


def write_trials(path, checksum, rows):
    """Write the rows as CSV, and beside it the file that `sha256sum --check` reads."""
    text = "".join(f"{line}\n" for line in (HEADER, *(",".join(map(str, r)) for r in rows)))
    digest = hashlib.sha256(text.encode()).hexdigest()
    with written(path) as file:
        file.write(text)
    with written(checksum) as file:
        file.write(f"{digest}  {Path(path).name}\n")


def read_trials(path, checksum, trials):
    """Rows of such a file as lists of integers; a file that is not whole is refused by name."""
    data = Path(path).read_bytes()
    recorded = Path(checksum).read_bytes().split(maxsplit=1)[:1]
    if [hashlib.sha256(data).hexdigest().encode()] != recorded:
        raise InputError(
            f"{path} is not the file that {checksum} describes (cut short or altered): "
            "delete both and run again"
        )
    header, *lines = data.decode().splitlines()
    rows = [[int(field) for field in line.split(",")] for line in lines]
    if header != HEADER or [row[0] for row in rows] != list(trials):
        raise InputError(f"{path} does not hold the trials {trials[0]} to {trials[-1]}: delete it")
    return rows


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        names, given = snakemake.wildcards, snakemake.params
        counts, items = read_profile(snakemake.input.counts, snakemake.input.facts)
        rows = run_trials(
            mechanisms.Profile(counts, items),
            names.dataset,
            names.mechanism,
            names.epsilon,
            int(names.k),
            range(int(names.first), int(names.last) + 1),
            given.seed,
            **given.privacy,
        )
        write_trials(snakemake.output.trials, snakemake.output.checksum, rows)
        print(f"numpy {np.__version__}, python {sys.version.split()[0]}")
