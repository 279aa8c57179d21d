"""What is published: text that cannot pass for something else, in whole files or none."""

import contextlib
import errno
import json
import os
import re
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Control characters, line separators, what changes the direction of writing, and surrogates.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """The text with what a terminal would obey, or show otherwise, written out."""
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def formatted(rows: list[Any], form: str, *, ranks: bool, counts: bool, terminal: bool) -> bytes:
    """The output, of which the receipt has the digest.

    rows: (item,) or (item, count, low, high) for each place.
    """
    if form == "lines":
        return "".join(f"{quoted(i) if UNSAFE.search(i) else i}\n" for (i, *_) in rows).encode()
    names = ["rank"] * ranks + ["item"] + ["count", "low", "high"] * counts
    table = [[place] * ranks + list(row) for place, row in enumerate(rows, 1)]
    if form == "json":
        objects = [quoted(dict(zip(names, row, strict=True))) for row in table]
        text = "[" + ",".join(f"\n  {line}" for line in objects) + "\n" * bool(objects) + "]\n"
    else:
        lines = [",".join(cell(value, terminal) for value in row) for row in [names, *table]]
        text = "".join(f"{line}\n" for line in lines)
    return text.encode()


def quoted(value: object) -> str:
    """As JSON, in which nothing can pass for something else."""
    text = json.dumps(value, ensure_ascii=False)
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def cell(value: object, terminal: bool) -> str:
    """A field of CSV that every reader understands alike; on a terminal it is shown, not obeyed."""
    text = escaped(str(value)) if terminal else str(value)
    if re.search(r'[",]|^\s|\s$', text) or UNSAFE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


class NewFile:
    """A file that did not exist before, and is removed again unless `keep` is called.

    It is never opened through a link, and of two processes only one can have it. A draft is written
    under a random name, and gets its own when it is kept.
    """

    def __init__(self, path: str | Path, draft: bool = False) -> None:
        self.path = self.place = Path(path)
        if draft:
            self.place = self.path.with_name(f".{self.path.name[:200]}.{secrets.token_hex(8)}")
        self.kept = False
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with naming(self.path):
            self.descriptor = os.open(self.place, flags, 0o666)

    def write(self, data: bytes) -> None:
        """Make this the content of the file, safe from a loss of power."""
        with naming(self.path):
            os.lseek(self.descriptor, 0, os.SEEK_SET)
            write_all(self.descriptor, data)
            os.ftruncate(self.descriptor, len(data))
            os.fsync(self.descriptor)
            sync_folder(self.path)

    def keep(self) -> None:
        """Let it stay. A draft gets its name all at once, and replaces nothing."""
        if self.place == self.path:
            self.kept = True
            return
        with naming(self.path):
            try:
                os.link(self.place, self.path, follow_symlinks=False)
            except OSError as error:
                without_links = error.errno in (errno.EPERM, errno.EOPNOTSUPP)
                if not without_links or os.path.lexists(self.path):
                    raise
                os.rename(self.place, self.path)
        with contextlib.suppress(OSError):
            sync_folder(self.path)

    def __enter__(self) -> "NewFile":
        return self

    def __exit__(self, *raised: object) -> None:
        os.close(self.descriptor)
        if not self.kept:
            self.place.unlink(missing_ok=True)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors name this file, whatever the system calls it, or does not."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


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


def put_out(output: bytes, receipt: NewFile | None = None) -> None:
    """Print the output; the receipt stays from the moment that anybody may have seen a part."""
    descriptor, written = sys.stdout.fileno(), 0
    try:
        sys.stdout.flush()
        while written < len(output):
            written += os.write(descriptor, output[written:])
            if receipt:
                receipt.keep()
    except OSError as error:
        seen = "not all of it; epsilon is spent" if written else "nothing of it was"
        raise ValueError(f"the output cannot be written ({error.strerror}), {seen}") from None
