"""Parquet files as tables; pyarrow is asked for only where there is one."""

import contextlib

from workflow.scripts.common import InputError
from workflow.scripts.data.table import Table


class ParquetTable(Table):
    """The rows of a Parquet file; of its columns, only those that are needed are read."""

    def __init__(self, file, name, needed):
        try:
            from pyarrow import ArrowException
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise InputError(
                f"{name} is a Parquet file: install the extra `parquet` (pip install pyarrow), "
                "or save the table as CSV"
            ) from None
        self._damage = ArrowException
        self._done = 0
        with self._sentence_if_damaged(name):
            self._file = ParquetFile(file)
            super().__init__(name, self._file.schema_arrow.names)
        for column in needed:
            self.index(column)
        super().__init__(name, needed)

    def place(self):
        """Which row was read last."""
        return f"row {self._done}"

    def __iter__(self):
        with self._sentence_if_damaged(self.name):
            for batch in self._file.iter_batches(1 << 16, columns=self.columns):
                fields = (map(_as_text, batch.column(name).to_pylist()) for name in self.columns)
                for row in zip(*fields, strict=True):
                    self._done += 1
                    yield row

    @contextlib.contextmanager
    def _sentence_if_damaged(self, name):
        try:
            yield
        except (self._damage, OSError) as error:
            if getattr(error, "errno", None):
                raise
            reason = str(error).partition("\n")[0][:100]
            raise InputError(f"{name} is not a usable Parquet file ({reason})") from None


def _as_text(value):
    """A value of a Parquet file as it would stand in a CSV."""
    if value is None:
        return ""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
