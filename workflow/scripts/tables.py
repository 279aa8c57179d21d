"""Tables of results: quartiles by group, and CSV files that read well."""

import csv

import numpy as np
import pandas as pd

from workflow.scripts.common import written

CELL = ["dataset", "mechanism", "epsilon", "k"]


def quartiles(values):
    """q25, median, q75 by linear interpolation between order statistics, NumPy's default."""
    return dict(zip(("q25", "median", "q75"), np.quantile(values, [0.25, 0.5, 0.75]), strict=True))


def summary(table, by, column):
    """One row of quartiles for each group of rows, in the order in which the groups appear."""
    rows = []
    for key, group in table.groupby(by, sort=False):
        values = group[column].to_numpy()
        rows.append({**dict(zip(by, key, strict=True)), **quartiles(values), "trials": len(values)})
    return pd.DataFrame(rows)


def write_table(table, path):
    """CSV without index column; whole numbers are written as such."""
    with written(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(map(_plain, row) for row in table.itertuples(index=False, name=None))


def _plain(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value
