"""What every step needs: errors for people, logs that hold what went wrong, whole files."""

import contextlib
import csv
import glob
import hashlib
import os
import sys
import time
import traceback
from pathlib import Path


class InputError(Exception):
    """A mistake in what the user gave; its message is one sentence that says what to do."""


def listed(words):
    """'a, b and c'."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def require_usable_places():
    """Refuse places in which no run can work, before it begins."""
    if " " in sys.executable:
        raise InputError(
            f"the path of Python, {sys.executable!r}, contains a space, which Snakemake cannot "
            "handle; move the project to a path without spaces and run `make setup` there"
        )
    for folder in (".", ".snakemake", "data", "figures", "logs", "results"):
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            raise InputError(
                f"{os.path.abspath(folder)} cannot be written to; change its permissions, or "
                "write the results elsewhere with `--directory FOLDER`"
            )


@contextlib.contextmanager
def written(path, mode="w"):
    """Open a part beside `path`; it gets that name only when all of it is on the disk.

    A job that outlives its run may write the same file at the same time; each has a part of its
    own, and whichever is finished last leaves the same whole file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    _remove_dead_parts(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with open(part, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        if path.suffix == ".csv" and (kept := _sum_file(path)):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(sha256(path), encoding="utf-8")
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk does not say whose
        raise


def _remove_dead_parts(path):
    """Remove what processes that were killed left of a file."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        try:
            os.kill(int(part.suffixes[-2][1:]), 0)
        except (ValueError, ProcessLookupError):
            part.unlink(missing_ok=True)
        except PermissionError:
            pass  # a process of somebody else


def write_csv(path, rows):
    """Write a table the way all of ours are written; its first row is the header."""
    with written(path) as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _sum_file(path):
    """Where the checksum of a table is kept.

    None for a table outside the working directory, and for Snakemake's copy of a table in a
    storage, which other machines may change.
    """
    name = os.path.relpath(path)
    elsewhere = name.startswith(("..", ".snakemake"))
    return None if elsewhere else Path(".snakemake", "sums", f"{name}.sha256")


def intact(path):
    """The path of a table that a step reads; refused if it is not as another step wrote it."""
    kept = _sum_file(path)
    expected = kept and kept.is_file() and kept.read_text(encoding="utf-8")
    if expected and expected != sha256(path):
        raise altered(path)
    return path


def made(path, target="figures"):
    """The path of a file that a target of `make` leaves; refused if it is not there."""
    if not os.path.isfile(path):
        raise InputError(f"{path} does not exist: run `make {target}` first")
    return path


def altered(path):
    """The error for a file that is not as a step wrote it."""
    return InputError(f"{path} is cut short or altered: delete it and run again")


def read_dicts(path):
    """The rows of a CSV, each by the names of the columns."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_digests(path):
    """name -> digest, from a file in the format of sha256sum."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def sha256(path):
    """Hex digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def logged(log):
    """Send what a step prints to its log file, and the reason of a failure to log and terminal.

    A user's mistake (InputError) or a problem of the machine (OSError, MemoryError) ends the
    step with one sentence; anything else is a defect, shown with its traceback in the log. The
    last line of the log says what the step took; `make bench-pipeline` reads it.
    """
    sentence, terminal, start = None, sys.stderr, time.time()
    try:
        with (
            open(log, "w", encoding="utf-8", buffering=1) as file,
            contextlib.redirect_stdout(file),
            contextlib.redirect_stderr(file),
        ):
            try:
                yield
            except (Exception, KeyboardInterrupt) as error:
                defect = f"{type(error).__name__}: {error} (traceback in {log})"
                sentence = _sentence(error) or defect
                traceback.print_exc()
            print(
                f"began at {start:.2f}, took {time.time() - start:.2f} s, "
                f"{time.process_time():.2f} s of the processor since the process began"
            )
    except OSError as error:  # of the log itself: the disk may be full
        sentence = sentence or _sentence(error)
    if sentence:
        print(f"error: {sentence}", file=terminal, flush=True)
        sys.exit(1)


def program(main):
    """Run a program with the arguments of the command line; a mistake ends it with a sentence."""
    try:
        sys.exit(main(*sys.argv[1:]))
    except (InputError, OSError) as error:
        sys.exit(f"error: {_sentence(error)}")


def _sentence(error):
    """What the user's mistake or the machine's problem is; None for a defect."""
    match error:
        case OSError(strerror=str(reason), filename=place):
            return f"{place}: {reason}" if place else reason
        case InputError() | OSError():
            return str(error)
        case KeyboardInterrupt():
            return "interrupted"
        case MemoryError():
            return "not enough memory"
    return None
