"""What every step needs: errors for people, logs that hold what went wrong, whole files."""

import contextlib
import os
import sys
import tempfile
import traceback
from pathlib import Path


class InputError(Exception):
    """A mistake in what the user gave; its message is one sentence that says what to do."""


@contextlib.contextmanager
def written(path, mode="w"):
    """Open a temporary file beside `path`; it gets its name only when all of it is written."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def logged(log):
    """Send what a step prints to its log file, and the reason of a failure to log and terminal.

    A user's mistake (InputError) or a problem of the machine (OSError, MemoryError) ends the
    step with one sentence; anything else is a defect, shown with its traceback in the log.
    """
    with open(log, "w", encoding="utf-8", buffering=1) as file:
        terminal = sys.stderr
        with contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
            try:
                yield
            except (InputError, OSError, MemoryError) as error:
                sentence = str(error) or type(error).__name__
                traceback.print_exc()
            except Exception as error:
                sentence = f"{type(error).__name__}: {error} (traceback in {log})"
                traceback.print_exc()
            else:
                return
    print(f"error: {sentence}", file=terminal, flush=True)
    sys.exit(1)
