"""All trials in one table, and the median and quartiles of each error."""

import numpy as np
import pandas as pd

from workflow.scripts import metrics
from workflow.scripts.common import logged
from workflow.scripts.run_trials import read_trials
from workflow.scripts.tables import CELL, summary, write_table


def error_table(trials):
    """Tidy table of the errors: a row for each dataset, mechanism, epsilon, k and metric."""
    long = trials.melt([*CELL, "trial"], list(metrics.NAMES), "metric", "error")
    table = summary(long, [*CELL, "metric"], "error")
    order = {name: i for i, name in enumerate(metrics.NAMES)}
    cell = table.groupby(CELL, sort=False).ngroup()
    return table.iloc[np.lexsort((table["metric"].map(order), cell))]


def read_parts(parts):
    """The trials of all parts; a part is a dict of the four names, the trials and the files."""
    rows = [
        (part["dataset"], part["mechanism"], part["epsilon"], part["k"], *row)
        for part in parts
        for row in read_trials(
            part["trials"], part["checksum"], range(part["first"], part["last"] + 1)
        )
    ]
    return pd.DataFrame(rows, columns=[*CELL, "trial", *metrics.NAMES])


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        files = zip(snakemake.input.trials, snakemake.input.checksums, strict=True)
        parts = [
            dict(part, trials=trials, checksum=checksum)
            for part, (trials, checksum) in zip(snakemake.params.parts, files, strict=True)
        ]
        trials = read_parts(parts)
        write_table(trials, snakemake.output.trials)
        write_table(error_table(trials), snakemake.output.errors)
