"""All trials of a dataset in one table, and the median and quartiles of each error."""

import numpy as np

from workflow.scripts.results.tables import CELL, QUARTILES, quartiles, write_table
from workflow.scripts.trials.cells import HEADER, MISSING, read_cells
from workflow.scripts.trials.metrics import METRICS


def write_errors(dataset, jobs, trials, errors, missing, *, partial=False):
    """Write the three tables of a dataset from what the jobs of its trials made (`Plan.jobs`).

    partial: a mechanism of the run may give fewer than k items, so the trials have a column
        `returned`, the last of them.
    """
    rows, reasons = gathered(jobs)
    header = ["dataset", *_named(HEADER)]
    width = len(header) if partial else header.index("returned")
    write_table(trials, header[:width], ((dataset, *row)[:width] for row in rows))
    write_table(
        errors,
        [*CELL, "metric", *QUARTILES, "trials"],
        ((dataset, *row) for row in error_rows(rows)),
    )
    write_table(missing, ["dataset", *_named(MISSING)], ((dataset, *row) for row in reasons))


def _named(columns):
    return ["mechanism", *columns]


def gathered(jobs):
    """Rows (mechanism, *HEADER) in the order of the config, and rows (mechanism, *MISSING)."""
    cells, reasons = {}, {}
    for job in jobs:
        names = job["mechanism"], job["epsilon"]
        numbers = range(job["first"], job["last"] + 1)
        ran, not_run = read_cells(job["cells"], job["missing"], job["ks"], numbers)
        for k, rows in ran.items():
            cells.setdefault((*names, k), []).extend(rows)
        reasons |= {(*names, k): reason for k, reason in not_run.items()}
    rows = [(mechanism, *row) for (mechanism, _, _), cell in cells.items() for row in cell]
    return rows, [(*cell, reason) for cell, reason in reasons.items()]


def error_rows(rows):
    """Yield (mechanism, epsilon, k, metric, q25, median, q75, trials) of rows of trials."""
    cells = {}
    for mechanism, epsilon, k, _, *metrics in rows:
        cells.setdefault((mechanism, epsilon, k), []).append(metrics)
    for cell, trials in cells.items():
        for metric, values in zip(METRICS, zip(*trials, strict=True), strict=True):
            if values[0] != "":  # a set has no errors that depend on an order, for one
                yield *cell, metric, *quartiles(np.array(values, float)).tolist(), len(values)
