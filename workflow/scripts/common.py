"""What every step needs: errors for people, logs that hold what went wrong, whole files."""

import contextlib
import os
import sys
import traceback
from pathlib import Path

from workflow.scripts.run_lock import Refused, lock_of_job


class InputError(Exception):
    """A mistake in what the user gave; its message is one sentence that says what to do."""


@contextlib.contextmanager
def written(path, mode="w"):
    """Open `.NAME.part` beside `path`; it gets its name only when all of it is on the disk.

    Nothing else writes there meanwhile (see run_lock), so a part that a killed job left behind
    is simply begun again.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with open(part, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk does not say whose
        raise


@contextlib.contextmanager
def logged(log):
    """Send what a step prints to its log file, and the reason of a failure to log and terminal.

    A user's mistake (InputError) or a problem of the machine (OSError, MemoryError) ends the
    step with one sentence; anything else is a defect, shown with its traceback in the log.
    """
    sentence, terminal = None, sys.stderr
    try:
        with (
            open(log, "w", encoding="utf-8", buffering=1) as file,
            contextlib.redirect_stdout(file),
            contextlib.redirect_stderr(file),
        ):
            try:
                with lock_of_job():
                    yield
            except (Exception, KeyboardInterrupt) as error:
                sentence = _sentence(error, log)
                traceback.print_exc()
    except OSError as error:  # of the log itself: the disk may be full
        sentence = sentence or _sentence(error, log)
    if sentence:
        print(f"error: {sentence}", file=terminal, flush=True)
        sys.exit(1)


def _sentence(error, log):
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, (InputError, Refused, OSError)):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return "not enough memory"
    return f"{type(error).__name__}: {error} (traceback in {log})"
