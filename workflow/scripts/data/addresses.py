"""Addresses of originals, and what may be asked of them: https, and no secret to anybody else.

`kaggle:OWNER/DATASET/FILE` stands for Kaggle's address of a file, with the user's token.
"""

import base64
import contextlib
import ipaddress
import json
import os
import re
from pathlib import Path
from urllib.parse import quote, urlsplit

from workflow.scripts.common import InputError

KAGGLE = "https://www.kaggle.com/api/v1"


class NotSafe(Exception):
    """An address that must not be asked; the message says why."""


def is_kaggle(url):
    """Whether an address is one of Kaggle's."""
    return url.startswith("kaggle:")


def resolved(url, kaggle=KAGGLE):
    """The address to ask and the value of its Authorization header, None if there is none."""
    if not is_kaggle(url):
        return url, None
    parts = url.removeprefix("kaggle:").split("/", 2)
    if len(parts) != 3 or not all(parts):
        raise InputError(f"{url!r} must be written as kaggle:OWNER/DATASET/FILE")
    return "/".join([kaggle, "datasets/download", *(quote(p, safe="") for p in parts)]), _token()


def safe_origin(url, pinned=False):
    """Scheme, host and port of an address that may be asked.

    https is safe, and so is this machine. With http anybody on the way may change the file;
    that is noticed, and so allowed, where a checksum pins every byte.
    """
    with usable():
        parts = urlsplit(url)
        origin = parts.scheme, parts.hostname, parts.port
    if parts.username or parts.password:
        raise NotSafe("an address must not hold a password")
    if parts.scheme == "http" and (pinned or is_loopback(url)):
        return origin
    if parts.scheme != "https":
        unless = " without a sha256" if parts.scheme == "http" else ""
        raise NotSafe(f"only https is allowed{unless}, not {parts.scheme}://{parts.hostname or ''}")
    return origin


def is_loopback(url):
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def usable():
    """Say so where an address cannot be taken apart."""
    try:
        yield
    except ValueError:
        raise NotSafe("the address is not usable") from None


def _token(environ=os.environ):
    """The user's Kaggle credentials from the places where Kaggle's own tools look."""
    folder = Path(environ.get("KAGGLE_CONFIG_DIR") or Path.home() / ".kaggle")
    bearer = environ.get("KAGGLE_API_TOKEN")
    user, key = environ.get("KAGGLE_USERNAME"), environ.get("KAGGLE_KEY")
    try:
        if not bearer and not (user and key):
            if (file := folder / "access_token").exists():
                bearer = file.read_text("utf-8")
            elif (file := folder / "kaggle.json").exists():
                stored = json.loads(file.read_text("utf-8"))
                user, key = str(stored["username"]), str(stored["key"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{file} cannot be read as a Kaggle token: get a new one from "
            "https://www.kaggle.com/settings or delete it"
        ) from None
    if bearer and bearer.strip():
        if not re.fullmatch("[!-~]+", bearer.strip()):
            raise InputError(
                "the Kaggle token holds characters that a token cannot have: get a new one from "
                "https://www.kaggle.com/settings"
            )
        return f"Bearer {bearer.strip()}"
    if user and key:
        return f"Basic {base64.b64encode(f'{user.strip()}:{key.strip()}'.encode()).decode()}"
    return None
