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
    cells, reasons = {}, {}
    for job in jobs:
        names = dataset, job["mechanism"], job["epsilon"]
        numbers = range(job["first"], job["last"] + 1)
        ran, not_run = read_cells(job["cells"], job["missing"], job["ks"], numbers)
        for k, rows in ran.items():
            cells.setdefault((*names, k), []).extend(rows)
        reasons |= {(*names, k): reason for k, reason in not_run.items()}
    columns = slice(None if partial else -1)
    rows = ((*cell[:2], *row)[columns] for cell, rows in cells.items() for row in rows)
    write_table(trials, ["dataset", "mechanism", *HEADER][columns], rows)
    write_table(errors, [*CELL, "metric", *QUARTILES, "trials"], error_rows(cells))
    rows = ((*cell, reason) for cell, reason in reasons.items())
    write_table(missing, ["dataset", "mechanism", *MISSING], rows)


def error_rows(cells):
    """Yield (dataset, mechanism, epsilon, k, metric, q25, median, q75, trials) of each cell."""
    for cell, rows in cells.items():
        _, _, _, *columns = zip(*rows, strict=True)
        for metric, values in zip(METRICS, columns, strict=True):
            if values[0] != "":  # a set has no errors that depend on an order, for one
                yield *cell, metric, *quartiles(np.array(values, float)), len(values)
