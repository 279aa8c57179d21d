"""One run at a time in a folder, and a plain second run after one that was cut off.

Snakemake marks a folder as taken by files in .snakemake/locks. A killed run leaves them behind,
and the next one asks for `--unlock`, since it cannot tell a dead run from a living one. A lock of
the kernel (flock) tells: it ends with its process, however that ends. So a run holds one on
.snakemake/run.lock while it executes; whoever gets it knows that no other run on this machine
is at work here, and clears away marks that are left over. What was being made when the run was
cut off is made again, as by `--rerun-incomplete`; a file has its name only when it is whole.

Jobs may outlive a killed Snakemake. Each holds .snakemake/jobs.lock, shared with the others,
and the next run waits for them. A job that wakes up later still finds another run in run.lock
than the one that started it, and stops. So no job of an earlier run, perhaps of older code, ever
writes over what a later run made.

Two things flock does not see: a run on another machine that shares the folder, and jobs that
wait on a cluster. Marks that these left are the user's to clear, as the error says. Where a file
system has no flock, Snakemake's own marks are all there is.
"""

import base64
import contextlib
import fcntl
import functools
import os
import shutil
import socket
import sys
import time
from pathlib import Path

FOLDER = Path(".snakemake")
RUN, JOBS, MARKS = FOLDER / "run.lock", FOLDER / "jobs.lock", FOLDER / "locks"

# Tells a job which run started it: the line that the run wrote to run.lock.
VARIABLE = "DP_TOPK_RUN"


class Refused(Exception):
    """This run, or this job, must not go on; the message is one sentence that says why."""


def guard(workflow):
    """Have every run of this Snakemake workflow hold the lock; dry runs, reports etc. do not."""
    # Here, because jobs import this module, too, and Snakemake is slow to import.
    from snakemake.exceptions import WorkflowError

    execute = workflow.execute

    @functools.wraps(execute)
    def guarded(executor_plugin, **settings):
        kind = executor_plugin.common_settings
        if workflow.is_main_process and kind.local_exec and not kind.touch_exec:
            workflow.dag_settings.force_incomplete = True
        if kind.dryrun_exec or not workflow.is_main_process or not workflow.execution_settings.lock:
            return execute(executor_plugin, **settings)
        try:
            with lock_of_run("local" if kind.local_exec else "cluster"):
                return execute(executor_plugin, **settings)
        except Refused as refusal:
            raise WorkflowError(str(refusal)) from None

    workflow.execute = guarded


@contextlib.contextmanager
def lock_of_run(kind):
    """Run here, "local" or on a "cluster": alone, and after all jobs of earlier runs."""
    _require_writable()
    FOLDER.mkdir(exist_ok=True)
    with RUN.open("a+", encoding="utf-8") as lock:
        if not _locked(lock):
            yield
            return
        lock.seek(0)
        _clear_marks(lock.read())
        _keep_originals()
        run = f"{socket.gethostname()} {kind} {os.getpid()} {time.time_ns()}"
        with _after_all_jobs():
            lock.truncate(0)
            lock.write(run)
            lock.flush()
        os.environ[VARIABLE] = run
        try:
            yield
        finally:
            del os.environ[VARIABLE]


def _locked(lock):
    """Lock the file of the run; False where the file system has no flock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused("another run is at work in this folder; wait until it ends") from None
    except OSError:
        return False
    return True


def _require_writable():
    for folder in (".", FOLDER, "data", "figures", "logs", "results"):
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            raise Refused(
                f"{os.path.abspath(folder)} cannot be written; make it so, or have the results "
                "elsewhere with `--directory FOLDER`"
            )


def _clear_marks(left_by):
    """Remove what a run that was cut off left behind, if it is certain that it has ended."""
    host, _, rest = left_by.partition(" ")
    kind, _, _ = rest.partition(" ")
    if (host, kind) == (socket.gethostname(), "local"):
        shutil.rmtree(MARKS, ignore_errors=True)
    elif any(MARKS.glob("*.lock")):
        where = f"{host or 'another machine'}{' and its cluster' if kind == 'cluster' else ''}"
        raise Refused(
            f"a run on {where} was cut off in this folder, or is still at work; once it and its "
            "jobs have ended, type `snakemake --unlock` and run again"
        )


def _keep_originals():
    """What is in data/raw is whole, or was put there by hand: the rerun must not delete it.

    While a job makes a file, Snakemake keeps a note of that name in .snakemake/incomplete.
    """
    for path in Path("data/raw").glob("*/*"):
        name = base64.urlsafe_b64encode(str(path).encode()).decode()
        with contextlib.suppress(OSError):  # no such note
            (FOLDER / "incomplete" / name).unlink()


@contextlib.contextmanager
def _after_all_jobs():
    """Once no job is left; one that wakes up now has to wait, and then finds another run."""
    with JOBS.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for jobs of a run that was cut off to end.", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def lock_of_job():
    """Keep the next run waiting while this job works; refuse to work for a run that has ended."""
    run = os.environ.get(VARIABLE)
    if run is None or not JOBS.exists():  # not started by a run, or on a machine of its own
        yield
        return
    with JOBS.open() as lock:
        with contextlib.suppress(OSError):  # no flock here
            fcntl.flock(lock, fcntl.LOCK_SH)
        if RUN.read_text(encoding="utf-8") != run:
            raise Refused("the run that started this job has ended and another has begun")
        yield
