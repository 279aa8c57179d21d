"""The cells of one job: counts in, errors out.

A cell is (dataset, mechanism, epsilon, k) with its trials; a job runs the cells of one dataset,
mechanism and epsilon, because starting a process costs ten times what a cell costs. The
generator of a trial is keyed by names, so its result depends on nothing else: not on the number
of cores, the order of jobs, how trials are cut into jobs, or the rest of the config.
"""

import csv
import hashlib
from pathlib import Path

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.common import InputError, altered, intact, write_csv
from workflow.scripts.data.profiles import read_profile
from workflow.scripts.trials.metrics import METRICS, measured

HEADER = ["epsilon", "k", "trial", *METRICS]
MISSING = ["epsilon", "k", "reason"]  # cells that were not run


def generator(seed, *names):
    """A random generator that depends only on the root seed and these names."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))


def prepared(counts, k, epsilon, setting, name, dataset):
    """`draw` of a mechanism; an InputError says what it refuses.

    setting: the `mechanism`, and the other arguments of its `prepare` (`Plan.setting`).
    name: of the mechanism with these settings, in the config.
    """
    given = dict(setting)
    try:
        return mechanisms.get(given.pop("mechanism")).prepare(counts, k, float(epsilon), **given)
    except ValueError as error:
        raise InputError(f"{name} on {dataset} with k = {k}: {error}") from None


def run_cell(profile, dataset, name, epsilon, k, trials, seed, setting):
    """Yield (trial, *metrics) for each of the trials, which are numbered from 1."""
    draw = prepared(profile, k, epsilon, setting, name, dataset)
    output = mechanisms.get(setting["mechanism"]).output
    true = profile.counts_at(np.arange(k))
    for trial in trials:
        ranks = draw(generator(seed, dataset, name, epsilon, k, trial))
        yield trial, *measured(true, profile.counts_at(ranks), output)


def run_cells(profile, dataset, name, epsilon, ks, trials, seed, setting):
    """Rows of all cells, and of those that could not be run, with the reason."""
    rows, missing = [], []
    for k in ks:
        try:
            if k > profile.d:
                raise mechanisms.Unavailable(f"{dataset} has only {profile.d} items")
            cell = run_cell(profile, dataset, name, epsilon, k, trials, seed, setting)
            rows += [(epsilon, k, *row) for row in cell]
        except mechanisms.Unavailable as reason:
            missing.append((epsilon, k, str(reason)))
    return rows, missing


def write_cells(counts, facts, *, cells, missing, dataset, name, epsilon, **job):
    """Run the cells of one job on the profile `counts`, and write both tables."""
    profile = mechanisms.Profile(*read_profile(counts, facts))
    rows, left_out = run_cells(profile, dataset, name, epsilon, **job)
    for _, k, reason in left_out:
        print(f"warning: {name} on {dataset} with k = {k} is left out: {reason}")
    write_csv(missing, [MISSING, *left_out])
    write_csv(cells, [HEADER, *rows])


def read_cells(cells, missing, ks, trials):
    """The rows that a job wrote, as lists of texts: {k: rows}, {k: reason}.

    A file that does not hold what it should is refused by name.
    """
    reasons = {int(k): reason for _, k, reason in _read(missing, MISSING)}
    ran, rows, size = [k for k in ks if k not in reasons], _read(cells, HEADER), len(trials)
    if [row[1:3] for row in rows] != [[str(k), str(trial)] for k in ran for trial in trials]:
        raise InputError(
            f"{cells} does not hold the trials {trials[0]} to {trials[-1]} of each k (cut short "
            "or altered): delete it and run again"
        )
    return {k: rows[i * size : (i + 1) * size] for i, k in enumerate(ran)}, reasons


def _read(path, header):
    lines = Path(intact(path)).read_text(encoding="utf-8").splitlines()
    rows = list(csv.reader(lines))
    if rows[:1] != [header] or any(len(row) != len(header) for row in rows):
        raise altered(path)
    return rows[1:]
