"""A ledger: what was spent on a dataset, and a budget that no run can overspend.

    from dp_topk.release import ledger

    ledger.charge("ledger.jsonl", "purchases", "1", "1e-6", budget=("3", "1e-5"))  # then release

A file of one JSON object a line. Lines are only ever added, and a line is written and synced
before anything is drawn: a run that crashes has spent. The file is locked from reading what is left
to writing what is taken, so that two runs cannot both have the same remainder. Epsilons add up,
and so do deltas (basic composition), as fractions.

A budget belongs to a dataset, by name, and to one relation between neighbors: epsilons of
`add-remove` and of `swap` do not add up to an epsilon of either. It can be lowered, never raised.
"""

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from ._files import escaped, sync_folder, write_all
from ._inputs import exact, exact_delta, written


class LedgerError(ValueError):
    """Why the ledger does not allow it: one sentence."""


class Amount(NamedTuple):
    """An epsilon and a delta."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def plus(self, other: "Amount") -> "Amount":
        return Amount(self.epsilon + other.epsilon, self.delta + other.delta)

    def minus(self, other: "Amount") -> "Amount":
        """What is left; nothing, if a budget was lowered below what is spent."""
        zero = Fraction(0)
        return Amount(max(self.epsilon - other.epsilon, zero), max(self.delta - other.delta, zero))

    def fits(self, other: "Amount") -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def __str__(self) -> str:
        return f"epsilon {written(self.epsilon)} and delta {written(self.delta)}"


class Entry(NamedTuple):
    """A line of the ledger."""

    entry: int
    date: str
    dataset: str
    epsilon: Fraction
    delta: Fraction
    neighbors: str
    budget: Amount
    release: str

    @property
    def spent(self) -> Amount:
        return Amount(self.epsilon, self.delta)


class Account(NamedTuple):
    """What the entries of a dataset add up to."""

    neighbors: str
    budget: Amount
    spent: Amount = Amount()


def charge(path: str | Path, *what: Any, **terms: Any) -> Entry:
    """Write down what is spent, with the arguments of `next_entry`; return the entry.

    If it is more than what is left, a LedgerError is raised and nothing is written.
    """
    path = Path(path)
    with locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, fcntl.LOCK_EX) as descriptor:
        entry = next_entry(path, parsed(path, descriptor), *what, **terms)
        before = os.fstat(descriptor).st_size
        line = json.dumps(entry._asdict(), default=written)
        try:
            write_all(descriptor, f"{line}\n".encode())
            os.fsync(descriptor)
            sync_folder(path)
        except BaseException:
            os.ftruncate(descriptor, before)
            raise
    return entry


def check(path: str | Path, *what: Any, **terms: Any) -> None:
    """LedgerError if `charge` would refuse at this moment; nothing is written."""
    next_entry(Path(path), read(path) if os.path.lexists(path) else [], *what, **terms)


def next_entry(
    path: Path,
    entries: Sequence[Entry],
    dataset: str,
    epsilon: Any,
    delta: Any = 0,
    *,
    budget: tuple[Any, Any] | None = None,
    neighbors: str = "add-remove",
    release: str = "",
) -> Entry:
    """The entry for epsilon and delta spent on the dataset, if what is left has room for it.

    budget: epsilon and delta; needed the first time that a dataset is named.
    release: what it is for.
    """
    name = repr(escaped(dataset))
    wanted = amount(epsilon, delta)
    given = budget and amount(*budget, "the budget of epsilon")
    account = accounts(entries).get(dataset) or (given and Account(neighbors, given))
    if not dataset:
        raise LedgerError("the dataset needs a name, under which the ledger adds up what is spent.")
    if account is None:
        raise LedgerError(f"{path} has no dataset {name} yet; check the name, or give it a budget.")
    if account.neighbors != neighbors:
        raise LedgerError(
            f"{path} adds up what {name} spends for {account.neighbors} neighbors, and epsilons "
            f"for {neighbors} neighbors cannot be added to that; use {account.neighbors}, or "
            "another ledger."
        )
    allowed = given or account.budget
    if not allowed.fits(account.budget):
        raise LedgerError(
            f"{path} already has a budget of {account.budget} for {name}; it can be lowered, but "
            "not raised."
        )
    if not account.spent.plus(wanted).fits(allowed):
        raise LedgerError(
            f"this needs {wanted}, but of the budget of {name}, {allowed}, only "
            f"{allowed.minus(account.spent)} is left in {path}; nothing was drawn."
        )
    date = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Entry(len(entries) + 1, date, dataset, *wanted, neighbors, allowed, release)


def amount(epsilon: Any, delta: Any, name: str = "epsilon") -> Amount:
    return Amount(exact(epsilon, name), exact_delta(delta))


def accounts(entries: Sequence[Entry]) -> dict[str, Account]:
    """What each dataset has spent, by its name."""
    found: dict[str, Account] = {}
    for entry in entries:
        before = found.get(entry.dataset, Account(entry.neighbors, entry.budget))
        spent = before.spent.plus(entry.spent)
        found[entry.dataset] = Account(entry.neighbors, entry.budget, spent)
    return found


def read(path: str | Path) -> list[Entry]:
    """The entries of a ledger."""
    path = Path(path)
    with locked(path, os.O_RDONLY, fcntl.LOCK_SH) as descriptor:
        return parsed(path, descriptor)


def parsed(path: Path, descriptor: int) -> list[Entry]:
    entries: list[Entry] = []
    lines = os.pread(descriptor, os.fstat(descriptor).st_size, 0).split(b"\n")
    if lines.pop():
        raise LedgerError(
            f"{path}, line {len(lines) + 1}, is cut off: a run ended while writing it, before it "
            "drew anything; delete that line to go on."
        )
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            place, date, dataset, *spent, neighbors, budget, release = (
                values[field] for field in Entry._fields
            )
            here = int(place), str(date), str(dataset), *amount(*spent)
            entry = Entry(*here, str(neighbors), amount(*budget), str(release))
        except (ValueError, TypeError, LookupError, RecursionError):
            raise LedgerError(
                f"{path}, line {number}, is not an entry of a ledger; name another file, or "
                "restore this one."
            ) from None
        if entry.entry != number:
            raise LedgerError(
                f"{path}, line {number}, is not entry {number}: lines were changed or taken away; "
                "restore the file."
            )
        entries.append(entry)
    return entries


@contextlib.contextmanager
def locked(path: Path, flags: int, lock: int) -> Iterator[int]:
    """The ledger until the end of the block. What is still empty then is removed, if it was made.

    It is a regular file, not a link and not a device that forgets what is written.
    """
    while True:
        try:
            descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        except FileNotFoundError:
            folder = f"folder {path.parent} for the ledger"
            missing = f"ledger {path}" if path.parent.is_dir() else folder
            raise LedgerError(f"there is no {missing}.") from None
        except OSError as error:
            link = path.is_symlink()
            why = "is a link; name the file itself" if link else f"cannot be used: {error.strerror}"
            raise LedgerError(f"the ledger {path} {why}.") from None
        there = False
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                why = "is not a regular file; name one that keeps data"
                raise LedgerError(f"the ledger {path} {why}.")
            fcntl.flock(descriptor, lock)
            with contextlib.suppress(FileNotFoundError):
                there = os.path.samestat(os.fstat(descriptor), os.lstat(path))
            if not there:  # another process removed it, still empty, while this one waited
                continue
            yield descriptor
            return
        finally:
            if there and flags & os.O_CREAT and os.fstat(descriptor).st_size == 0:
                path.unlink(missing_ok=True)
            os.close(descriptor)


def table(entries: Sequence[Entry]) -> str:
    """The ledger for people: its entries, then what each dataset has spent and has left."""
    rows: list[tuple[str, ...]] = [("entry", "date", "dataset", "release", "epsilon", "delta")]
    for entry in entries:
        about = str(entry.entry), entry.date, entry.dataset, entry.release
        rows.append((*about, written(entry.epsilon), written(entry.delta)))
    sums: list[tuple[str, ...]] = [("dataset", "neighbors", "", "spent", "budget", "left")]
    for name, (neighbors, budget, spent) in accounts(entries).items():
        columns = zip(spent, budget, budget.minus(spent), strict=True)
        epsilons, deltas = (map(written, column) for column in columns)
        sums.append((name, neighbors, "epsilon", *epsilons))
        sums.append(("", "", "delta", *deltas))
    return "\n".join([*aligned(rows), "", *aligned(sums)]) + "\n"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    shown = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
