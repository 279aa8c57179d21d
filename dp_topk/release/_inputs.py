"""What people have: counts with or without names, and numbers as they are written."""

import contextlib
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

import numpy as np

PLAIN = re.compile(r"\d+/\d+|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
EXACT = Context(prec=1000, traps=[Inexact])

Names = Callable[[Sequence[int]], list[Any]]


def exact(number: Any, name: str = "epsilon") -> Fraction:
    """A number above 0 as a Fraction: what is written, not the double next to it.

    Parameters
    ----------
    number : str, Fraction, Decimal, int or float
        Text has plain digits: "0.1", "1e-3" or "1/3". A float means the number that Python prints
        for it, so 0.1 is one tenth.
    name : str
        What an error calls it.

    Returns
    -------
    Fraction
        The number that is written.

    Raises
    ------
    ValueError
        It is not a finite number above 0, or not between 1e-400 and 1e400.
    """
    value: Fraction | None = Fraction(0)
    try:
        text = str(number)  # which Python refuses for numbers of thousands of digits
        if PLAIN.fullmatch(text):
            # Looked at first, so that 10 ** 1000000000 is not computed.
            size = 0 if "/" in text else Decimal(text).adjusted()
            value = Fraction(text) if abs(size) <= 400 else None
    except (ArithmeticError, ValueError):
        pass
    if value is None:
        raise ValueError(f"{name} is {number!r}; it must lie between 1e-400 and 1e400.")
    if value <= 0:
        raise ValueError(f"{name} is {number!r}; it must be a finite number above 0.")
    return value


def exact_delta(delta: Any) -> Fraction:
    """delta as a Fraction: 0, or a number between 0 and 1 as it is written."""
    if not isinstance(delta, bool) and str(delta) in ("0", "0.0"):
        return Fraction(0)
    with contextlib.suppress(ValueError):
        if (value := exact(delta, "delta")) < 1:
            return value
    raise ValueError(f"delta is {delta!r}; it must be 0 or a number between 0 and 1.")


def written(number: Fraction) -> str:
    """A number in decimals if it has finitely many, and not too many, else as a ratio."""
    try:
        decimal = EXACT.divide(Decimal(number.numerator), Decimal(number.denominator))
    except Inexact:
        return str(number)
    plain = f"{decimal:f}"
    return plain if len(plain) <= 20 else str(decimal.normalize(EXACT)).lower()


def named(counts: Any) -> tuple[Any, Names]:
    """The counts, and a function that gives the names of items by their positions.

    counts: as the docstring of `release` describes them; columns may come as a pair, too.
    """
    if isinstance(counts, Mapping):
        table: list[Any] | None = [list(counts), list(counts.values())]
    else:
        table = columns(counts)
    if table is None:
        return integers(counts), list
    if len(table) != 2:
        has = "one column" if len(table) == 1 else f"{len(table)} columns"
        raise ValueError(f"counts has {has}; give two, the items and how many users each has.")
    items, values = as_list(table[0]), integers(table[1])
    if len(items) != len(values):
        raise ValueError(
            f"counts has {len(items)} names of items, but {len(values)} counts; give one for each."
        )
    try:
        distinct = set(items)
        missing = None in distinct or any(map(operator.ne, items, items))  # as NaN is
    except TypeError:  # of what cannot be in a set, and of pandas' NA
        missing = True
    if missing:
        raise ValueError(
            "counts has an item without a name, or named by a list or a mapping; a name must be "
            "text, a number or a tuple."
        )
    if len(distinct) < len(items):
        raise ValueError("counts names an item twice; add up its users, each of them once.")
    return values, lambda positions: [items[position] for position in positions]


def columns(table: Any) -> list[Any] | None:
    """The columns of a table, if it is one."""
    if hasattr(table, "iloc"):  # pandas
        if table.ndim == 1:
            return [table.index, table]
        return [table.iloc[:, place] for place in range(table.shape[1])]
    if hasattr(table, "get_columns"):  # Polars
        return list(table.get_columns())
    if hasattr(table, "column_names"):  # Arrow
        return list(table.columns)
    if hasattr(table, "flatten") and hasattr(getattr(table, "type", None), "num_fields"):
        # A column of Arrow; a struct, as `value_counts` gives, is a table.
        return list(table.flatten()) if table.type.num_fields else None
    if isinstance(table, tuple) and any(hasattr(column, "__len__") for column in table):
        return list(table)
    return None


def as_list(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def integers(column: Any) -> Any:
    """A column as NumPy has it. pandas' integers that allow for missing values become plain."""
    if np.ma.is_masked(column):
        raise ValueError("counts has masked values; every item needs an integer count.")
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind in ("i", "u") and hasattr(column, "to_numpy") and not column.isna().any():
        return column.to_numpy(dtype=np.int64 if kind == "i" else np.uint64)
    return column


def order_of_names(name: Any) -> tuple[str, int, str]:
    """Where a name stands among others. It depends on the name alone, not on what others are."""
    return type(name).__qualname__, name if isinstance(name, int) else 0, str(name)


def at_least(minimum: int, name: str, value: Any) -> int:
    """An argument as an integer, if it is one and not below the minimum."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < minimum:
        raise ValueError(f"{name} is {value!r}; it must be an integer of at least {minimum}.")
    return number
