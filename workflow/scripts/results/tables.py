"""Tables of results: quartiles by group, and CSV files that read well."""

from itertools import chain

import numpy as np

from workflow.scripts.common import intact, write_csv, written

CELL = ["dataset", "mechanism", "epsilon", "k"]
QUARTILES = ["q25", "median", "q75"]


def quartiles(values):
    """q25, median and q75 by linear interpolation between order statistics, NumPy's default."""
    return np.quantile(values, [0.25, 0.5, 0.75]).tolist()


def write_table(path, header, rows):
    """CSV with one header row; whole numbers are written as such."""
    write_csv(path, chain([header], map(_plain, rows)))


def _plain(row):
    return [int(x) if isinstance(x, float) and x.is_integer() else x for x in row]


def write_quartiles(path, names, groups, size):
    """Write the quartiles of {group: values}.

    names: of the fields of a group. size: what the number of values is called.
    """
    rows = ((*group, *quartiles(values), len(values)) for group, values in groups.items())
    write_table(path, [*names, *QUARTILES, size], rows)


def concatenate(path, parts):
    """One table of several that have the same header."""
    with written(path, "wb") as whole:
        for number, part in enumerate(parts):
            with open(intact(part), "rb") as file:
                header = file.readline()
                whole.write(b"" if number else header)
                whole.writelines(file)
