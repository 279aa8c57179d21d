"""What several test modules share."""

import fcntl
import os

import pytest

from tests.browser import browser  # noqa: F401  one for all modules
from tests.copies import TINY, Project


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A project in which everything was made once, undisturbed; to be copied, not used.

    Also what has a target of its own.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # one for all workers
    with (folder / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "finished").exists():
            return Project(folder / "finished", TINY)
        made = Project(folder / "being-finished", TINY)
        made.finishes("all", "scaling")
        made.root.rename(folder / "finished")
        return Project(folder / "finished", TINY)
