"""Files that are there whole or not at all, and text that cannot pass for something else."""

import contextlib
import errno
import os
import re
from pathlib import Path
from types import TracebackType

# Control characters, line separators, and what changes the direction of writing.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """The text with what a terminal would obey, or show otherwise, written out."""
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class NewFile:
    """A file that did not exist before, and is removed again unless `keep` is called.

    It is never opened through a link, and of two processes only one can have it.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.kept = False
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self.descriptor = os.open(self.path, flags, 0o666)

    def write(self, data: bytes) -> None:
        """Make this the content of the file, safe from a loss of power."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        write_all(self.descriptor, data)
        os.ftruncate(self.descriptor, len(data))
        os.fsync(self.descriptor)
        sync_folder(self.path)

    def keep(self) -> None:
        self.kept = True

    def __enter__(self) -> "NewFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self.descriptor)
        if not self.kept:
            self.path.unlink(missing_ok=True)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def sync_folder(path: Path) -> None:
    """Make sure that the name of a file survives a loss of power, too."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot do this for folders
            raise
    finally:
        os.close(folder)


def publish(draft: NewFile, path: str | Path) -> None:
    """Give a written draft its name, all at once; an existing file is not replaced."""
    try:
        os.link(draft.path, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP) or os.path.lexists(path):
            raise
        os.rename(draft.path, path)  # a file system without hard links
    with contextlib.suppress(OSError):
        sync_folder(Path(path))
