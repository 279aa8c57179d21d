"""Open a table, whatever file it stands in.

No row is ever guessed at: one that does not fit ends the reading with the file, the line and
the value. Columns and values are compared exactly; blanks around a number do not matter, and
12.0 and 12.00 are 12.
"""

import contextlib

from workflow.scripts.data.formats import unpacked
from workflow.scripts.data.parquet import ParquetTable
from workflow.scripts.data.text import open_text


@contextlib.contextmanager
def open_table(file, name, how):
    """The table in an open (binary) file, called `name` in errors.

    `how` is the `counts` part of the config: it names the columns, and perhaps the delimiter.
    """
    needed = _needed_columns(how)
    with unpacked(file, name) as content:
        if content.peek(4).startswith(b"PAR1"):
            yield ParquetTable(content, name, needed)
        else:
            about = {key: how.get(key) for key in ("delimiter", "names", "absorb")}
            with open_text(content, name, needed, **about) as table:
                yield table


def _needed_columns(how):
    """All columns that are read."""
    named = [how.get(key) for key in ("column", "rows_per", "item", "distinct")]
    if how.get("profile"):
        named += ["count", "items"]
    return list(dict.fromkeys(filter(None, [*named, *(how.get("where") or ())])))
