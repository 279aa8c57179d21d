"""Snakemake as tests start it: in a process of its own, watched from here.

Most of a start is imports. On Linux, Snakemake is therefore forked from a process that has
imported it once. What has to do with the start itself, the variables of the environment, is
tested with the command that people type.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
IMPORTED = ["snakemake.cli", "snakemake.report.html_reporter", "jsonschema", "smart_open"]

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(IMPORTED)


class Started:
    """Snakemake with these arguments, in a process group of its own."""

    def __init__(self, arguments, cwd, environment):
        # A file, not a pipe: nobody has to read it, and jobs may outlive Snakemake.
        self._printed = tempfile.NamedTemporaryFile()  # noqa: SIM115
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        variables |= environment
        if environment or sys.platform != "linux":
            self._process = subprocess.Popen(
                [SNAKEMAKE, *arguments],
                cwd=cwd,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._printed,
                start_new_session=True,
            )
            self.poll = self._process.poll
        else:
            inside = (arguments, cwd, variables, self._printed.name)
            self._process = forks.Process(target=_snakemake, args=inside, daemon=True)
            self._process.start()
            self.poll = lambda: self._process.exitcode
        self.pid = self._process.pid

    def printed(self):
        """What Snakemake and its jobs have printed."""
        return Path(self._printed.name).read_text(encoding="utf-8", errors="replace")

    def until(self, condition, seconds=60):
        """Wait until something is the case, at the latest when Snakemake has ended."""
        deadline = time.monotonic() + seconds
        while True:
            last = self.poll() is not None or time.monotonic() > deadline
            if condition():
                return
            if last:
                self.kill_all()
                raise AssertionError(f"it never came to that:\n{self.printed()}")
            time.sleep(0.01)

    def ended(self):
        """Wait for the end: the exit code, and all that was printed."""
        self.until(lambda: self.poll() is not None, seconds=300)
        with self._printed:
            return self.poll(), self.printed()

    def kill_all(self):
        """Kill Snakemake and its jobs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def _snakemake(arguments, cwd, variables, printed):
    """What the command `snakemake` does."""
    from snakemake.cli import main

    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    for path, mode, numbers in ((os.devnull, os.O_RDONLY, [0]), (printed, os.O_WRONLY, [1, 2])):
        opened = os.open(path, mode)
        for number in numbers:
            os.dup2(opened, number)
    sys.path[:] = [path for path in sys.path if path not in ("", str(ROOT))]
    sys.argv[:] = [str(SNAKEMAKE), *arguments]
    main()
