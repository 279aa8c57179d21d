"""The originals of datasets: make sure that a file is the right one, and open it.

People put originals into data/raw/DATASET/, and so does the downloader. The file that was
verified is the one that data/raw/DATASET/verified/ links to. Only that link is an output of a
rule: Snakemake may delete it at any time, and never an original.
"""

import contextlib
import hashlib
import ipaddress
import os
from pathlib import Path
from urllib.parse import urlsplit

from dp_topk import _tables
from dp_topk._tables import is_zip
from workflow.scripts.common import InputError

BLOCK = 1 << 16


def link(verified, original):
    """Make `verified` a link to the original."""
    verified = Path(verified)
    verified.parent.mkdir(parents=True, exist_ok=True)
    made = verified.with_name(f".{verified.name}.{os.getpid()}")
    made.unlink(missing_ok=True)
    made.symlink_to(os.path.relpath(original, verified.parent))
    os.replace(made, verified)


def linked(verified):
    """The original that a link leads to, by the name that people know."""
    if os.path.islink(verified):
        return os.path.normpath(os.path.join(os.path.dirname(verified), os.readlink(verified)))
    return verified


def verify(path, download):
    """Refuse a file that is not the original that the config describes."""
    if wrong := fault(path, download):
        raise InputError(
            f"{path} is not the expected original: {wrong}; delete it, then run again or put "
            f"the file from {page(download)} there"
        )


@contextlib.contextmanager
def open_member(archive, member, max_bytes=None):
    """Open one file inside a zip for reading."""
    try:
        with _tables.open_member(archive, member, max_bytes) as file:
            yield file
    except _tables.CountingError as error:
        raise InputError(str(error)) from None


@contextlib.contextmanager
def open_original(path, download):
    """Open the data for reading: the member of the archive, or the file if there is none.

    Kaggle delivers a file with or without a zip around it; where the digest of the member is
    known, either will do.
    """
    member = download.get("member")
    if member and (is_zip(path) or not download.get("member_sha256")):
        with open_member(path, member, download.get("max_bytes")) as file:
            yield file
    else:
        with open(path, "rb", BLOCK) as file:
            yield file


def urls(download):
    """The addresses of an original, in the order in which they are tried."""
    return [download["url"]] if isinstance(download["url"], str) else download["url"]


def is_loopback(url):
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def page(download):
    """Where people get the original."""
    return download.get("page") or urls(download)[0]


def fault(path, download):
    """What is wrong with the file, as a phrase; None if it is as the config says."""
    size = os.path.getsize(path)
    if not size:
        return "it is empty"
    if download.get("bytes") not in (None, size):
        return f"it has {size:,} bytes instead of {download['bytes']:,}"
    with open(path, "rb") as file:
        if wrong := _other_digest("its sha256", file, download.get("sha256")):
            return wrong
    member, expected = download.get("member"), download.get("member_sha256")
    try:
        if member and (expected or not download.get("sha256")):
            with open_original(path, download) as file:
                wrong = _other_digest(f"the sha256 of {member!r}", file, expected)
            if wrong and not is_zip(path):
                return f"it is not a usable zip archive, nor {member!r} itself"
            if wrong:
                return wrong
        blob = download.get("git_blob")
        if blob and (found := git_blob(path, download)) != blob.lower():
            return f"Git's id of {repr(member) if member else 'it'} is {found} instead of {blob}"
    except InputError as error:
        return str(error)
    return None


def git_blob(path, download):
    """Git's id of the data, as `git hash-object` prints it."""
    with open_original(path, download) as file:
        size = sum(len(block) for block in iter(lambda: file.read(BLOCK), b""))
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with open_original(path, download) as file:
        for block in iter(lambda: file.read(BLOCK), b""):
            digest.update(block)
    return digest.hexdigest()


def _other_digest(what, file, expected):
    """Read all of a file, so that a zip checks its own sum, and compare with what is expected."""
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    if expected and digest != expected.lower():
        return f"{what} is {digest} instead of {expected}"
    return None
