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
from typing import NamedTuple

from ._files import escaped, sync_folder, write_all
from ._inputs import exact, exact_delta
from .receipt import written

Number = str | int | float | Fraction


class LedgerError(ValueError):
    """Why the ledger does not allow it: one sentence."""


class Entry(NamedTuple):
    """A line of the ledger."""

    entry: int
    date: str
    dataset: str
    epsilon: Fraction
    delta: Fraction
    neighbors: str
    budget: tuple[Fraction, Fraction]
    release: str

    def line(self) -> bytes:
        numbers = {
            "epsilon": written(self.epsilon),
            "delta": written(self.delta),
            "budget": [written(part) for part in self.budget],
        }
        return json.dumps(self._asdict() | numbers).encode() + b"\n"


class Account(NamedTuple):
    """What the entries of a dataset add up to."""

    neighbors: str
    budget: tuple[Fraction, Fraction]
    spent: tuple[Fraction, Fraction]

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        return self.budget[0] - self.spent[0], self.budget[1] - self.spent[1]


def charge(
    path: str | Path,
    dataset: str,
    epsilon: Number,
    delta: Number = 0,
    *,
    budget: tuple[Number, Number] | None = None,
    neighbors: str = "add-remove",
    release: str = "",
) -> Entry:
    """Write down that epsilon and delta are spent on the dataset; return the entry.

    LedgerError if they are more than what is left, and then nothing is written. `budget`, epsilon
    and delta, is needed the first time that a dataset is named. `release` says what it is for.
    """
    path = Path(path)
    with locked(path) as descriptor:
        entries = parsed(path, os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        allowed = allowance(path, entries, dataset, epsilon, delta, budget, neighbors)
        entry = Entry(
            len(entries) + 1,
            datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            dataset,
            exact(epsilon),
            exact_delta(delta),
            neighbors,
            allowed,
            release,
        )
        before = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, entry.line())
            os.fsync(descriptor)
            sync_folder(path)
        except BaseException:
            os.ftruncate(descriptor, before)
            raise
    return entry


def check(
    path: str | Path,
    dataset: str,
    epsilon: Number,
    delta: Number = 0,
    *,
    budget: tuple[Number, Number] | None = None,
    neighbors: str = "add-remove",
) -> None:
    """LedgerError if `charge` would refuse at this moment; nothing is written."""
    path = Path(path)
    allowance(path, read(path, missing_ok=True), dataset, epsilon, delta, budget, neighbors)


def allowance(
    path: Path,
    entries: Sequence[Entry],
    dataset: str,
    epsilon: Number,
    delta: Number,
    budget: tuple[Number, Number] | None,
    neighbors: str,
) -> tuple[Fraction, Fraction]:
    """The budget that holds for the dataset, if it has room for this."""
    if not dataset:
        raise LedgerError("the dataset needs a name, under which the ledger adds up what is spent.")
    name = repr(escaped(dataset))
    wanted = exact(epsilon), exact_delta(delta)
    given = budget and (
        exact(budget[0], "the budget of epsilon"),
        exact_delta(budget[1]),
    )
    account = accounts(entries).get(dataset)
    if account is None:
        if given is None:
            raise LedgerError(
                f"{path} has no dataset {name} yet; check the name, or give it a budget."
            )
        account = Account(neighbors, given, (Fraction(0), Fraction(0)))
    if account.neighbors != neighbors:
        raise LedgerError(
            f"{path} adds up what {name} spends for {account.neighbors} neighbors, and epsilons "
            f"for {neighbors} neighbors cannot be added to that; use {account.neighbors}, or "
            "another ledger."
        )
    if given and (given[0] > account.budget[0] or given[1] > account.budget[1]):
        raise LedgerError(
            f"{path} already has a budget of {amount(account.budget)} for {name}; it can be "
            "lowered, but not raised."
        )
    allowed = given or account.budget
    left = allowed[0] - account.spent[0], allowed[1] - account.spent[1]
    if wanted[0] > left[0] or wanted[1] > left[1]:
        raise LedgerError(
            f"this needs {amount(wanted)}, and of the budget of {name}, {amount(allowed)}, "
            f"{amount((max(left[0], Fraction(0)), max(left[1], Fraction(0))))} is left in {path}; "
            "nothing was drawn."
        )
    return allowed


def amount(spent: tuple[Fraction, Fraction]) -> str:
    return f"epsilon {written(spent[0])} and delta {written(spent[1])}"


def accounts(entries: Sequence[Entry]) -> dict[str, Account]:
    """What each dataset has spent, by its name."""
    found: dict[str, Account] = {}
    for entry in entries:
        _, _, (epsilon, delta) = found.get(
            entry.dataset, Account(entry.neighbors, entry.budget, (Fraction(0), Fraction(0)))
        )
        spent = epsilon + entry.epsilon, delta + entry.delta
        found[entry.dataset] = Account(entry.neighbors, entry.budget, spent)
    return found


def read(path: str | Path, *, missing_ok: bool = False) -> list[Entry]:
    """The entries of a ledger."""
    path = Path(path)
    if missing_ok and not os.path.lexists(path):
        if not path.parent.is_dir():
            raise LedgerError(f"there is no folder {path.parent} for the ledger.")
        return []
    with opened(path, os.O_RDONLY) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # not while somebody is writing
        return parsed(path, os.pread(descriptor, os.fstat(descriptor).st_size, 0))


def parsed(path: Path, content: bytes) -> list[Entry]:
    entries: list[Entry] = []
    lines = content.split(b"\n")
    if lines.pop():
        raise LedgerError(
            f"{path}, line {len(lines) + 1}, is cut off: a run ended while writing it, before it "
            "drew anything; delete that line to go on."
        )
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            entry = Entry(
                int(values["entry"]),
                str(values["date"]),
                str(values["dataset"]),
                exact(values["epsilon"]),
                exact_delta(values["delta"]),
                str(values["neighbors"]),
                (exact(values["budget"][0]), exact_delta(values["budget"][1])),
                str(values["release"]),
            )
        except (ValueError, TypeError, LookupError):
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
def opened(path: Path, flags: int) -> Iterator[int]:
    """A regular file, not a link and not a device that forgets what is written."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    except FileNotFoundError:
        raise LedgerError(f"there is no ledger {path}.") from None
    except OSError as error:
        link = path.is_symlink()
        why = "is a link; name the file itself" if link else f"cannot be used: {error.strerror}"
        raise LedgerError(f"the ledger {path} {why}.") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise LedgerError(f"the ledger {path} is not a regular file; name one that keeps data.")
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """The ledger, made if it is missing, for this process alone until the end of the block."""
    while True:
        if not path.parent.is_dir():
            raise LedgerError(f"there is no folder {path.parent} for the ledger.")
        with opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another process may have removed it, still empty, while this one waited.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                    try:
                        yield descriptor
                    finally:
                        if os.fstat(descriptor).st_size == 0:
                            path.unlink(missing_ok=True)
                    return


def table(entries: Sequence[Entry]) -> str:
    """The ledger for people: its entries, then what each dataset has spent and has left."""
    rows = [("entry", "date", "dataset", "release", "epsilon", "delta")]
    rows += [
        (
            str(entry.entry),
            escaped(entry.date),
            escaped(entry.dataset),
            escaped(entry.release),
            written(entry.epsilon),
            written(entry.delta),
        )
        for entry in entries
    ]
    sums: list[tuple[str, ...]] = [("dataset", "neighbors", "", "spent", "budget", "left")]
    for name, account in accounts(entries).items():
        for place, parameter in enumerate(("epsilon", "delta")):
            parts = account.spent, account.budget, account.left
            first = (escaped(name), escaped(account.neighbors)) if place == 0 else ("", "")
            sums.append((*first, parameter, *(written(part[place]) for part in parts)))
    return "\n".join([*aligned(rows), "", *aligned(sums)]) + "\n"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
