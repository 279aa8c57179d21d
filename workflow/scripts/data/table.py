"""What all tables have in common: columns, and fields that may hold counts."""

import difflib
import re

from workflow.scripts.common import InputError
from workflow.scripts.data.profiles import LARGEST_COUNT


class Table:
    """Rows, every one with a field of text for every column; subclasses read them."""

    def __init__(self, name, columns):
        self.name, self.columns = name, columns

    def index(self, column):
        """The position of a column."""
        if (times := self.columns.count(column)) == 1:
            return self.columns.index(column)
        if times:
            raise InputError(
                f"{self.name} has {times} columns called {column!r}: rename all but one"
            )
        plain = {name.strip().lower(): name for name in self.columns}
        near = difflib.get_close_matches(column.strip().lower(), plain, 1)
        listed = ", ".join(repr(name[:40]) for name in self.columns[:20])
        hint = f"did you mean {plain[near[0]]!r}?" if near else f"it has {listed}"
        if len(self.columns) == 1 and not near:
            hint += " only; if something else parts its columns, say so as `delimiter`"
        raise InputError(f"{self.name} has no column {column!r}; {hint}")

    def number(self, text, column):
        """A count in the row read last."""
        digits = text.strip()
        if not (digits.isascii() and digits.isdigit()):
            whole = re.fullmatch(r"([0-9]+)\.0{1,2}", digits)
            digits = whole[1] if whole else ""
        if digits and len(digits) < 100 and (value := int(digits)) <= LARGEST_COUNT:
            return value
        thousand = re.fullmatch(r"[0-9]+\.0{3,}", text.strip()[:40])
        raise self.error(
            f"{column!r} is {text[:40]!r}, but must be a whole number from 0 to {LARGEST_COUNT} "
            f"(2^53) without separators{' (1.000 may be a thousand)' if thousand else ''}"
        )

    def error(self, what):
        """An error about the row read last."""
        return InputError(f"{self.name}, {self.place()}: {what}")
