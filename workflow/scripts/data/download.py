"""Fetch the original file of a dataset.

A file gets its name only when all of it is there and verified. Until then it grows as
`.NAME.part` beside it; a broken connection, or a later run, continues it where the server can.
"""

import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

from workflow.scripts.common import InputError
from workflow.scripts.data.addresses import KAGGLE, is_kaggle, resolved
from workflow.scripts.data.formats import BLOCK, is_zip, open_member
from workflow.scripts.data.originals import fault, page, urls, verify
from workflow.scripts.data.transfer import (
    GiveUp,
    Patience,
    Request,
    TryAgain,
    Unreachable,
    discard,
    receive,
    tell,
)

PATIENCE = Patience()


def fetch(dataset, download, path, patience=PATIENCE, kaggle=KAGGLE):
    """Return the path of a dataset's verified original; `download` is its part of the config.

    That is `path`, or a file of another name beside it if its checksum is right. What is there
    already, put by hand for instance, is kept. Where no address gives the file, the error says
    where people get it and where to put it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(path.parent, dataset):
        if path.exists():
            verify(path, download)
            print(f"{dataset}: {path} is there and verified", flush=True)
            return path
        others, pinned = _others(path), download.get("sha256") or download.get("member_sha256")
        for other in others if pinned else ():
            if not fault(other, download):
                tell(f"{dataset}: {other} is verified, and taken for {path.name}")
                return other
        reasons, several = [], len(urls(download)) > 1
        for url in urls(download):
            try:
                _fetch(dataset, download, path, url, patience, kaggle)
                return path
            except GiveUp as reason:
                reasons.append(f"{_place(url)}: {reason}" if several else str(reason))
        raise InputError(
            f"{dataset}: {path.name} cannot be downloaded: {', then '.join(reasons)}; "
            f"get it from {page(download)} by hand and put it into {path.parent}/"
            f"{_about_others(others, path.name, pinned)}"
        )


def _fetch(dataset, download, path, url, patience, kaggle):
    """Fetch a file from one of its addresses, with as many attempts as are worth it."""
    part = path.with_name(f".{path.name}.part")
    address, authorization = resolved(url, kaggle)
    limit = download["max_bytes"]
    if download.get("bytes") and not is_kaggle(url):
        limit = min(limit, download["bytes"] + BLOCK)  # room for a zip around the file
    pinned = bool(download.get("sha256"))
    request = Request(dataset, address, authorization, pinned, limit, patience)
    reached = False
    for attempt in range(1, patience.attempts + 1):
        try:
            continued = receive(request, part)
            arrived, wrong = _unwrapped(part, download, url, limit)
            if not (wrong := wrong or fault(arrived, download)):
                break
            discard(part)
            if not continued:
                raise GiveUp(wrong)
            raise TryAgain(f"after a continued download {wrong}")
        except GiveUp as reason:
            if is_kaggle(url) and not authorization:
                raise GiveUp(f"without a Kaggle token, {reason}") from None
            raise
        except TryAgain as problem:
            reached |= not isinstance(problem, Unreachable)
            if attempt == patience.attempts or (attempt >= patience.knocks and not reached):
                raise GiveUp(f"{problem} (tried {attempt} times)") from None
            _wait(dataset, problem, attempt, patience, reached)
    _on_disk(arrived)
    os.replace(arrived, path)
    discard(part)
    print(f"{dataset}: {path} is verified ({path.stat().st_size:,} bytes)", flush=True)


def _wait(dataset, problem, attempt, patience, reached):
    """Wait as long as the server asked, or twice as long as before; without one, but a moment."""
    seconds = patience.backoff * 2 ** (attempt - 1) if reached else patience.between_knocks
    seconds = min(seconds if problem.wait is None else problem.wait, patience.longest_wait)
    tell(f"{dataset}: {problem}; next attempt in {seconds:g} s")
    time.sleep(seconds)


def _unwrapped(part, download, url, limit):
    """The file itself, out of the zip that Kaggle may put around it, and what is wrong with it."""
    if not is_zip(part) or download.get("member") or download["filename"].endswith(".zip"):
        return part, None
    unpacked = part.with_suffix(".unpacked")
    try:
        with (
            open_member(part, url.rpartition("/")[2], limit) as source,
            unpacked.open("wb") as target,
            _named(unpacked),
        ):
            shutil.copyfileobj(source, target, BLOCK)
            target.flush()
    except InputError as error:
        return part, str(error)
    return unpacked, None


def _on_disk(path):
    with path.open("rb+") as file, _named(path):
        os.fsync(file.fileno())


@contextlib.contextmanager
def _named(path):
    """Let a full disk say whose."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextlib.contextmanager
def _alone_in(folder, dataset):
    """Wait for whoever else downloads to a folder: a job may outlive the run that started it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"{dataset}: waiting for another download to {folder}/")
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass  # some file systems cannot lock
        yield
    finally:
        os.close(handle)


def _others(path):
    """Files beside an original that may be it, under another name."""
    return [
        other
        for other in sorted(path.parent.iterdir())
        if other.is_file() and not other.name.startswith(".")
    ]


def _about_others(others, name, pinned):
    if not others:
        return ""
    listed = ", ".join(other.name for other in others[:5])
    if pinned:
        return f" as {name} ({listed} there has another checksum)"
    return f" as {name} (if {listed} there is the file, rename it)"


def _place(url):
    return "Kaggle" if is_kaggle(url) else urlsplit(url).hostname
