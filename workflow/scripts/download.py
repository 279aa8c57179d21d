"""Fetch the original file of a dataset, and make sure that it is the right one.

A file gets its name only when all of it is there and verified. Until then it grows as
`.NAME.part` beside it; a broken connection, or a later run, continues it where the server can.
"""

import base64
import contextlib
import dataclasses
import datetime
import email.utils
import hashlib
import http.client
import ipaddress
import json
import os
import re
import shutil
import time
import zipfile
import zlib
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import requests
import urllib3

from workflow.scripts.common import InputError, logged

KAGGLE = "https://www.kaggle.com/api/v1"
MAX_BYTES = 10**9
BLOCK = 1 << 16


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long to wait for a server and how often to try; all times in seconds."""

    connect: float = 15
    read: float = 60
    slowest: float = 1000  # bytes a second, on average over `read` seconds
    attempts: int = 6
    backoff: float = 2  # before the second attempt; doubles with each further one
    longest_wait: float = 120  # also when the server asks for more
    progress: float = 10


PATIENCE = Patience()


class _GiveUp(Exception):
    """The download cannot work; the message says why."""


class _TryAgain(Exception):
    """The download failed this time; `wait`: seconds the server asked to wait, if it did."""

    def __init__(self, reason, wait=None):
        super().__init__(reason)
        self.wait = wait


class _Session(requests.Session):
    """A session that leaves redirects to us; requests would read their bodies to the end."""

    def resolve_redirects(self, *args, **kwargs):
        return iter(())


def fetch(dataset, download, path, patience=PATIENCE, kaggle=KAGGLE):
    """Make `path` the verified original of a dataset; `download` is its part of the config.

    A file that is there already, put by hand for instance, is verified and kept. Where the
    download does not work, the error says where to get the file and where to put it.
    """
    path = Path(path)
    if path.exists():
        verify(path, download)
        print(f"{dataset}: {path} is there and verified", flush=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    url, authorization = _address(download, kaggle)
    try:
        _fetch(dataset, download, path, url, authorization, patience)
    except _GiveUp as reason:
        anonymous = _is_kaggle(download) and not authorization
        raise InputError(
            f"{dataset}: {path.name} cannot be downloaded"
            f"{' without a Kaggle token' if anonymous else ''}: {reason}; "
            f"get it from {_page(download)} by hand and put it into {path.parent}/"
        ) from None


def verify(path, download):
    """Refuse a file that is not the original that the config describes."""
    if fault := _fault(Path(path), download):
        raise InputError(
            f"{path} is not the expected original: {fault}; delete it, then run again or put "
            f"the file from {_page(download)} there"
        )


@contextlib.contextmanager
def open_member(archive, member, max_bytes=None):
    """Open one file inside a zip for reading; nothing is unpacked, no other file is touched."""
    limit = max_bytes or MAX_BYTES
    try:
        with zipfile.ZipFile(archive) as opened:
            if member not in opened.namelist():
                listed = ", ".join(map(repr, opened.namelist()[:5])) or "nothing"
                raise InputError(f"{archive} has no member {member!r} (it holds {listed})")
            info = opened.getinfo(member)
            if info.file_size > limit:  # zipfile never reads more than this size
                raise InputError(
                    f"{member!r} in {archive} has {info.file_size:,} bytes unpacked, more than "
                    f"max_bytes ({limit:,})"
                )
            if info.flag_bits & 1:
                raise InputError(f"{member!r} in {archive} is encrypted")
            with opened.open(info) as file:
                yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(f"{archive} is not a usable zip archive ({error})") from None


@contextlib.contextmanager
def open_original(path, download):
    """Open the data for reading: the member of the archive, or the file if there is none.

    Kaggle delivers a file with or without a zip around it; where the digest of the member is
    known, either will do.
    """
    member = download.get("member")
    if member and (_is_zip(path) or not download.get("member_sha256")):
        with open_member(path, member, download.get("max_bytes")) as file:
            yield file
    else:
        with open(path, "rb") as file:
            yield file


def _is_zip(path):
    with open(path, "rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")  # the latter: nothing in it


def _page(download):
    return download.get("page") or download["url"]


def _fault(path, download):
    """What is wrong with the file, as a phrase; None if it is as the config says."""
    size = path.stat().st_size
    if not size:
        return "it is empty"
    if download.get("bytes") not in (None, size):
        return f"it has {size:,} bytes instead of {download['bytes']:,}"
    if fault := _other_digest("its sha256", path.open("rb"), download.get("sha256")):
        return fault
    if member := download.get("member"):
        expected = download.get("member_sha256")
        try:
            with open_original(path, download) as file:
                if expected or not download.get("sha256"):
                    fault = _other_digest(f"the sha256 of {member!r}", file, expected)
                    if fault and not _is_zip(path):
                        return f"it is not a usable zip archive, nor {member!r} itself"
                    return fault
        except InputError as error:
            return str(error)
    return None


def _other_digest(what, file, expected):
    """Read all of a file, so that a zip checks its own sum, and compare with what is expected."""
    with file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if expected and digest != expected.lower():
        return f"{what} is {digest} instead of {expected}"
    return None


def _fetch(dataset, download, path, url, authorization, patience):
    part = path.with_name(f".{path.name}.part")
    limit = download.get("max_bytes") or MAX_BYTES
    if download.get("bytes") and not _is_kaggle(download):
        limit = min(limit, download["bytes"] + BLOCK)  # room for a zip around the file
    for attempt in range(1, patience.attempts + 1):
        try:
            continued = _receive(dataset, url, authorization, part, limit, patience)
            arrived, fault = _unwrapped(part, download, limit)
            if not (fault := fault or _fault(arrived, download)):
                break
            _discard(part)
            if not continued:
                raise _GiveUp(fault)
            raise _TryAgain(f"after a continued download {fault}")
        except _TryAgain as problem:
            if attempt == patience.attempts:
                raise _GiveUp(f"{problem} (tried {attempt} times)") from None
            wait = patience.backoff * 2 ** (attempt - 1) if problem.wait is None else problem.wait
            wait = min(wait, patience.longest_wait)
            print(f"{dataset}: {problem}; next attempt in {wait:g} s", flush=True)
            time.sleep(wait)
    with arrived.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(arrived, path)
    _discard(part)
    print(f"{dataset}: {path} is verified ({path.stat().st_size:,} bytes)", flush=True)


def _receive(dataset, url, authorization, part, limit, patience):
    """Complete the partial file with one request; return whether it had been begun before.

    Errors of requests are dropped (`from None`): they may show a signed address.
    """
    try:
        with _Session() as session:
            have, validator = _begun(part, url)
            headers = {"User-Agent": "dp-topk", "Accept-Encoding": "identity"}
            if have:
                headers |= {"Range": f"bytes={have}-", "If-Range": validator}
            with _answer(session, url, headers, authorization, patience) as answer:
                return _store(dataset, answer, url, part, have, limit, patience)
    except requests.exceptions.SSLError:
        raise _GiveUp("the certificate of the server is not accepted") from None
    except (requests.Timeout, urllib3.exceptions.TimeoutError):
        raise _TryAgain("the server does not answer in time") from None
    except (requests.ConnectionError, urllib3.exceptions.HTTPError):
        raise _TryAgain("the connection fails") from None
    except requests.RequestException as error:
        raise _GiveUp(f"the request is not possible ({type(error).__name__})") from None


def _answer(session, url, headers, authorization, patience):
    """Ask for the file, through redirects, each of which is held to the rules of the first."""
    home = _safe_origin(url)
    for _ in range(10):
        at_home = _safe_origin(url) == home
        secret = {"Authorization": authorization} if authorization and at_home else {}
        session.trust_env = not _is_loopback(url)  # no proxy for ourselves
        answer = session.get(
            url,
            headers=headers | secret,
            auth=lambda request: request,  # without this, ~/.netrc would be used
            timeout=(patience.connect, patience.read),
            stream=True,
            allow_redirects=False,
        )
        if not answer.is_redirect:
            return answer
        answer.close()
        with _usable_address():
            url = urljoin(url, answer.headers["location"])
    raise _GiveUp("the server redirects without end")


def _store(dataset, answer, url, part, have, limit, patience):
    """Write the body of an answer to the partial file, or say why not."""
    status = answer.status_code
    begin, total = _content_range(answer) if status == 206 else (0, None)
    if status == 416 or (status == 206 and begin != have):
        _discard(part)
        raise _TryAgain("the partial file does not fit the server's any more")
    if status == 429 or status >= 500:
        raise _TryAgain(f"the server answers {_named(status)}", _retry_after(answer))
    if status not in (200, 206):
        raise _GiveUp(f"the server answers {_named(status)}")
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise _GiveUp("the server sends a web page instead of the file")
    encoded = answer.headers.get("Content-Encoding", "identity") != "identity"
    if not begin:
        _discard(part)
        _note(part, url, None if encoded else _validator(answer))
    length = answer.headers.get("Content-Length", "")
    if total is None and length.isdecimal() and not encoded:
        total = begin + int(length)
    _require_within(limit, total or 0, part)

    size, window, reported = begin, (time.monotonic(), begin), time.monotonic()
    with part.open("ab") as file:
        while block := answer.raw.read1(BLOCK, decode_content=True):
            file.write(block)
            size += len(block)
            _require_within(limit, size, part)
            now = time.monotonic()
            if now - window[0] > patience.read:
                if size - window[1] < patience.slowest * (now - window[0]):
                    raise _TryAgain("the connection is too slow")
                window = now, size
            if now - reported > patience.progress:
                of = f" of {total / 1e6:,.1f}" if total else ""
                print(f"{dataset}: {size / 1e6:,.1f}{of} MB", flush=True)
                reported = now
    if total not in (None, size):
        raise _TryAgain(f"the connection ended after {size:,} of {total:,} bytes")
    return begin > 0


def _require_within(limit, size, part):
    if size > limit:
        _discard(part)
        raise _GiveUp(f"the server sends more than {limit:,} bytes")


def _unwrapped(part, download, limit):
    """The file itself, out of the zip that Kaggle may put around it, and what is wrong with it."""
    if not _is_zip(part) or download.get("member") or download["filename"].endswith(".zip"):
        return part, None
    unpacked = part.with_suffix(".unpacked")
    try:
        with (
            open_member(part, download["url"].rpartition("/")[2], limit) as source,
            unpacked.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, BLOCK)
    except InputError as error:
        return part, str(error)
    return unpacked, None


# The partial file, and beside it what is needed to continue it.


def _begun(part, url):
    """How many bytes are there already, and the validator of the file they belong to."""
    try:
        note = json.loads(_note_path(part).read_bytes())
        if note["url"] == url and note["validator"]:
            return part.stat().st_size, note["validator"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return 0, None


def _note(part, url, validator):
    _note_path(part).write_text(json.dumps({"url": url, "validator": validator}), "utf-8")


def _note_path(part):
    return part.with_suffix(".part.json")


def _discard(part):
    for path in (part, _note_path(part), part.with_suffix(".unpacked")):
        path.unlink(missing_ok=True)


# What an answer says.


def _validator(answer):
    """What If-Range may hold: a strong ETag or a date; None if the file cannot be continued."""
    etag = answer.headers.get("ETag", "")
    return etag if etag.startswith('"') else answer.headers.get("Last-Modified")


def _named(status):
    return f"{status} {http.client.responses.get(status, '')}".strip()


def _content_range(answer):
    """Where the bytes of an answer begin and how many the whole file has; None: not said."""
    said = re.match(r"bytes ([0-9]+)-[0-9]+/([0-9]*)", answer.headers.get("Content-Range", ""))
    return (int(said[1]), int(said[2]) if said[2] else None) if said else (None, None)


def _retry_after(answer):
    value = answer.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return int(value)
    try:
        until = email.utils.parsedate_to_datetime(value)
        return max(0, (until - datetime.datetime.now(datetime.UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


# Addresses and secrets.


def _is_kaggle(download):
    return download["url"].startswith("kaggle:")


def _address(download, kaggle):
    """The address to ask and the value of its Authorization header, None if there is none."""
    url = download["url"]
    if not _is_kaggle(download):
        return url, None
    parts = url.removeprefix("kaggle:").split("/", 2)
    if len(parts) != 3 or not all(parts):
        raise InputError(f"{url!r} must be written as kaggle:OWNER/DATASET/FILE")
    return "/".join([kaggle, "datasets/download", *(quote(p, safe="") for p in parts)]), _token()


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
            raise InputError("the Kaggle token holds characters that a token cannot have")
        return f"Bearer {bearer.strip()}"
    if user and key:
        return f"Basic {base64.b64encode(f'{user.strip()}:{key.strip()}'.encode()).decode()}"
    return None


def _safe_origin(url):
    """Scheme, host and port of an address; only https is safe, or this machine itself."""
    with _usable_address():
        parts = urlsplit(url)
        origin = parts.scheme, parts.hostname, parts.port
    if parts.username or parts.password:
        raise _GiveUp("an address must not hold a password")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(url)):
        raise _GiveUp(f"only https is allowed, not {parts.scheme}://{parts.hostname}")
    return origin


@contextlib.contextmanager
def _usable_address():
    try:
        yield
    except ValueError:
        raise _GiveUp("the address is not usable") from None


def _is_loopback(url):
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


if "snakemake" in globals():
    with logged(snakemake.log[0]):
        fetch(snakemake.params.dataset, snakemake.params.download, snakemake.output[0])
