"""Results tables as named columns.

Pandas takes as long to import as a figure takes to draw, and these tables are small.
"""

import csv

import numpy as np

from workflow.scripts.common import intact

# By name, because a dataset may be called `nan`.
TEXT = {
    "dataset", "mechanism", "metric", "sweep", "reason", "guarantee", "output", "winner",
    "tied_with",
}  # fmt: skip


class Table(dict):
    """{column: array}, all of one length; a column is text or floats."""

    @classmethod
    def of(cls, rows):
        """From rows of fields, the first of which has the names of the columns."""
        header, *rows = rows
        columns = zip(*rows, strict=True) if rows else [()] * len(header)
        return cls(
            (name, np.array(column, dtype=str if name in TEXT else float))
            for name, column in zip(header, columns, strict=True)
        )

    @property
    def size(self):
        """The number of rows."""
        return len(next(iter(self.values())))

    def where(self, chosen):
        """The chosen rows: a mask, or row numbers in the wanted order."""
        return Table((name, column[chosen]) for name, column in self.items())

    def rows(self, *columns):
        """The rows as tuples of the values of some columns."""
        return zip(*(self[column].tolist() for column in columns), strict=True)

    def at(self, **values):
        """The rows in which each named column has the given value, or one of the given list."""
        chosen = np.ones(self.size, dtype=bool)
        for column, value in values.items():
            chosen &= np.isin(self[column], value)
        return self.where(chosen)


def read(path):
    """A CSV file with a header line, as a Table."""
    with open(intact(path), encoding="utf-8", newline="") as file:
        return Table.of(csv.reader(file))
