"""The originals of datasets: make sure that a file is the right one, and open it.

People put originals into data/raw/DATASET/, and so does the downloader. The file that was
verified is the one that data/raw/DATASET/verified/ links to. Only that link is the output of a
rule: Snakemake may delete it at any time, and never an original.
"""

import functools
import hashlib
import ipaddress
import os
from pathlib import Path
from urllib.parse import urlsplit

from dp_topk._tables import CountingError, is_zip, open_member
from workflow.scripts.common import InputError


def link(verified, original):
    """Make `verified` a link to the original."""
    verified = Path(verified)
    verified.parent.mkdir(parents=True, exist_ok=True)
    made = verified.with_name(f".{verified.name}.{os.getpid()}")
    made.unlink(missing_ok=True)
    made.symlink_to(os.path.relpath(original, verified.parent))
    made.replace(verified)


def linked(verified):
    """The original that a link leads to, by the name that people know."""
    if os.path.islink(verified):
        return os.path.normpath(os.path.join(os.path.dirname(verified), os.readlink(verified)))
    return verified


def open_original(path, download):
    """Open the data for reading: the member of the archive, or the file if no member is named.

    Kaggle delivers a file with or without a zip around it; where the digest of the member is
    known, either will do.
    """
    member = download.get("member")
    if member and (is_zip(path) or not download.get("member_sha256")):
        return open_member(path, member, download.get("max_bytes"))
    return open(path, "rb")


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


def verify(path, download):
    """Refuse a file that is not the original that the config describes."""
    if wrong := fault(path, download):
        raise InputError(
            f"{path} is not the expected original: {wrong}; delete it, then run again or put "
            f"the file from {page(download)} there"
        )


def fault(path, download):
    """What is wrong with a file, as a phrase; None if it is as the config says."""
    size, member = os.path.getsize(path), download.get("member")
    if not size:
        return "it is empty"
    if download.get("bytes") not in (None, size):
        return f"it has {size:,} bytes instead of {download['bytes']:,}"
    names = {
        "sha256": "its sha256",
        "member_sha256": f"the sha256 of {member!r}",
        "git_blob": f"Git's id of {repr(member) if member else 'it'}",
    }
    known = [key for key in names if download.get(key)]
    if member and not known:
        known = ["member_sha256"]  # not to compare: reading it checks the zip's own sum
    try:
        for key in known:
            with open(path, "rb") if key == "sha256" else open_original(path, download) as file:
                found = _digest(file, key)
            expected = (download.get(key) or found).lower()
            if found != expected and key == "member_sha256" and not is_zip(path):
                return f"it is not a usable zip archive, nor {member!r} itself"
            if found != expected:
                return f"{names[key]} is {found} instead of {expected}"
    except CountingError as error:
        return str(error)
    return None


def _digest(file, key):
    """The sha256 of a file's content, or Git's id of it, as `git hash-object` prints that."""
    if key != "git_blob":
        return hashlib.file_digest(file, "sha256").hexdigest()
    header = b"blob %d\0" % file.seek(0, os.SEEK_END)
    file.seek(0)
    begun = functools.partial(hashlib.sha1, header, usedforsecurity=False)
    return hashlib.file_digest(file, begun).hexdigest()
