"""Fetch the original file of a dataset.

A file gets its name only when all of it is there and verified. Until then it grows as
`.NAME.part` beside it; after a broken connection the next attempt continues it, and so does a
later run where a checksum will tell whether the pieces fit.

Only https is asked, or http where a checksum pins every byte, and no secret goes to another host.
`kaggle:OWNER/DATASET/FILE` stands for Kaggle's address of a file, with the user's token.
"""

import base64
import contextlib
import dataclasses
import fcntl
import http.client
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import requests
import urllib3

from workflow.scripts.common import InputError
from workflow.scripts.data.originals import (
    BLOCK,
    fault,
    is_loopback,
    is_zip,
    open_member,
    page,
    urls,
    verify,
)

KAGGLE = "https://www.kaggle.com/api/v1"


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long to wait for a server and how often to try; all times in seconds."""

    connect: float = 5
    read: float = 15  # without a byte
    attempts: int = 3  # in a row that bring nothing new
    backoff: float = 1  # doubles with each attempt
    longest_wait: float = 30  # also when the server asks for more
    slowest: float = 1000  # bytes a second, on average over `read` seconds
    progress: float = 5  # between two lines about it

    def retries(self):
        """For requests that bring no answer, or one that says to come back later."""
        return _Retry(
            total=self.attempts - 1,
            redirect=False,
            status_forcelist=(429, 500, 502, 503, 504),
            raise_on_status=False,
            backoff_factor=self.backoff,
            backoff_max=self.longest_wait,
            retry_after_max=self.longest_wait,
        )


PATIENCE = Patience()


class _Retry(urllib3.Retry):
    def parse_retry_after(self, retry_after):
        try:
            return super().parse_retry_after(retry_after)
        except urllib3.exceptions.InvalidHeader:
            return 0  # what nobody understands is not waited for


class GiveUp(Exception):
    """The download cannot work; the message says why."""


class Broken(Exception):
    """The connection failed while the file arrived."""


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
        entries = sorted(path.parent.iterdir())
        others = [entry for entry in entries if entry.is_file() and entry.name[0] != "."]
        pinned = download.get("sha256") or download.get("member_sha256")
        for other in others if pinned else ():
            if not fault(other, download):
                tell(f"{dataset}: {other} is verified, and used in place of {path.name}")
                return other
        reasons = []
        for url in urls(download):
            place = "Kaggle" if is_kaggle(url) else re.sub(r".*://(.*@)?([^/:]*).*", r"\2", url)
            try:
                _fetch(dataset, download, path, url, patience, kaggle)
                return path
            except GiveUp as reason:
                reasons.append(f"{place}: {reason}" if len(urls(download)) > 1 else str(reason))
        found = ", ".join(other.name for other in others[:5])
        hint = "there has another checksum" if pinned else "there is the file, rename it"
        hint = f" as {path.name} ({'' if pinned else 'if '}{found} {hint})" if found else ""
        raise InputError(
            f"{dataset}: {path.name} cannot be downloaded: {', then '.join(reasons)}; "
            f"get it from {page(download)} by hand and put it into {path.parent}/{hint}"
        )


def tell(sentence):
    """Say something in the log, and on the terminal, where somebody may be waiting."""
    print(sentence, flush=True)
    if sys.stderr is not sys.__stderr__:
        print(sentence, file=sys.__stderr__, flush=True)


def _fetch(dataset, download, path, url, patience, kaggle):
    """Fetch a file from one of its addresses, continuing it as long as something arrives."""
    address, secret = (_kaggle_address(url, kaggle), _token()) if is_kaggle(url) else (url, None)
    limit = download["max_bytes"]
    if download.get("bytes") and not is_kaggle(url):
        limit = min(limit, download["bytes"] + BLOCK)  # room for a zip around the file
    part = path.with_name(f".{path.name}.part")
    unpacked = part.with_suffix(".unpacked")
    transfer = Transfer(dataset, address, secret, bool(download.get("sha256")), limit, patience)
    failures = 0
    try:
        while True:
            had = part.stat().st_size if part.exists() else 0
            try:
                continued = transfer.receive(part)
                arrived, wrong = _without_zip(part, unpacked, download, url, limit)
                if not (wrong := wrong or fault(arrived, download)):
                    break
                part.unlink()
                if not continued:
                    raise GiveUp(wrong)
                problem = f"after a continued download {wrong}"
            except Broken as reason:
                problem = reason
            grew = part.exists() and part.stat().st_size > had
            failures = failures + 1 if not grew else 1
            if failures >= patience.attempts:
                raise GiveUp(f"{problem} (tried {failures} times)")
            seconds = min(patience.backoff * 2 ** (failures - 1), patience.longest_wait)
            tell(f"{dataset}: {problem}; next attempt in {seconds:g} s")
            time.sleep(seconds)
        with arrived.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(arrived, path)
        part.unlink(missing_ok=True)
    except GiveUp as reason:
        if is_kaggle(url) and not secret:
            raise GiveUp(f"without a Kaggle token, {reason}") from None
        raise
    except OSError as error:
        error.filename = error.filename or str(part)  # a full disk does not say whose
        raise
    finally:
        unpacked.unlink(missing_ok=True)
    print(f"{dataset}: {path} is verified ({path.stat().st_size:,} bytes)", flush=True)


def _without_zip(part, unpacked, download, url, limit):
    """The file itself, out of the zip that Kaggle may put around it, and what is wrong with it."""
    if not is_zip(part) or download.get("member") or download["filename"].endswith(".zip"):
        return part, None
    try:
        with open_member(part, url.rpartition("/")[2], limit) as source, unpacked.open("wb") as to:
            shutil.copyfileobj(source, to, BLOCK)
    except InputError as error:
        return part, str(error)
    return unpacked, None


class Transfer:
    """Requests for one file, each of which continues what the one before it left."""

    def __init__(self, dataset, url, secret, pinned, limit, patience):
        self._dataset, self._url, self._secret = dataset, url, secret
        self._pinned, self._limit, self._patience = pinned, limit, patience
        self._validator = None  # of what the partial file holds, as If-Range may have it

    def receive(self, part):
        """Complete the partial file; return whether it had been begun before.

        Errors of requests are dropped (`from None`): they may show a signed address.
        """
        have = part.stat().st_size if part.exists() and (self._validator or self._pinned) else 0
        headers = {"User-Agent": "dp-topk", "Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
            headers |= {"If-Range": self._validator} if self._validator else {}
        try:
            with _Session() as session:
                for adapter in session.adapters.values():
                    adapter.max_retries = self._patience.retries()
                with self._answer(session, headers) as answer:
                    return self._store(answer, part, have)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            raise _problem(error) from None

    def _answer(self, session, headers):
        """Ask for the file, through redirects, each of which is held to the rules of the first."""
        url, home = self._url, _safe_origin(self._url, self._pinned)
        for _ in range(10):
            at_home = _safe_origin(url, self._pinned) == home
            secret = {"Authorization": self._secret} if self._secret and at_home else {}
            session.trust_env = not is_loopback(url)  # no proxy for ourselves
            answer = session.get(
                url,
                headers=headers | secret,
                auth=lambda request: request,  # without this, ~/.netrc would be used
                timeout=(self._patience.connect, self._patience.read),
                stream=True,
                allow_redirects=False,
            )
            if not answer.is_redirect:
                return answer
            answer.close()
            url = urljoin(url, answer.headers["location"])
        raise GiveUp("the server redirects without end")

    def _store(self, answer, part, have):
        """Write the body of an answer to the partial file, or say why not."""
        status = answer.status_code
        said = re.match(r"bytes (\d+)-\d+/(\d*)", answer.headers.get("Content-Range", ""))
        if status == 416 or (status == 206 and not (said and int(said[1]) == have)):
            part.unlink(missing_ok=True)
            raise Broken("the partial file does not fit the server's any more")
        if status not in (200, 206):
            raise GiveUp(f"the server answers {status} {http.client.responses.get(status, '')}")
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            raise GiveUp("the server sends a web page instead of the file")
        encoded = answer.headers.get("Content-Encoding", "identity") != "identity"
        begin = have if status == 206 else 0
        total = int(said[2]) if said and said[2] else None
        if not begin:
            etag = answer.headers.get("ETag", "")
            validator = etag if etag.startswith('"') else answer.headers.get("Last-Modified")
            self._validator = None if encoded else validator
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() and not encoded else None
        with part.open("ab" if begin else "wb") as file:
            size = self._copy(answer.raw, file, begin, total)
        if total not in (None, size):
            raise Broken(f"the connection ended after {size:,} of {total:,} bytes")
        return begin > 0

    def _copy(self, source, file, size, total):
        """Copy a body, within the limits of size and patience; return the size of the file."""
        self._require_within(total or 0, file)
        patience, start = self._patience, (time.monotonic(), size)
        window = told = start
        while block := source.read1(BLOCK, decode_content=True):
            file.write(block)
            file.flush()
            size += len(block)
            self._require_within(size, file)
            now = time.monotonic()
            if now - window[0] > patience.read:
                if size - window[1] < patience.slowest * (now - window[0]):
                    raise Broken("the connection is too slow")
                window = now, size
            if now - told[0] > patience.progress:
                told = now, size
                self._tell_progress(size, total, (size - start[1]) / (now - start[0]))
        return size

    def _require_within(self, size, file):
        if size > self._limit:
            os.unlink(file.name)
            raise GiveUp(f"the server sends more than {self._limit:,} bytes")

    def _tell_progress(self, size, total, rate):
        of, left = "", ""
        if total:
            of, left = f" of {total / 1e6:,.1f}", f", {(total - size) / rate:,.0f} s left"
        line = f"{self._dataset}: {size / 1e6:,.1f}{of} MB, {rate / 1e3:,.0f} kB/s{left}"
        tell(line)


class _Session(requests.Session):
    """A session that leaves redirects to us; requests would read their bodies to the end."""

    def resolve_redirects(self, *args, **kwargs):
        return iter(())


def _problem(error):
    """What went wrong, as GiveUp or Broken, without the address: it may be a signed one."""
    if isinstance(error, urllib3.exceptions.HTTPError):  # while the file arrived
        late = isinstance(error, urllib3.exceptions.TimeoutError)
        return Broken("the server does not answer in time" if late else "the connection fails")
    wrapped = next(iter(error.args), None)
    reason = getattr(wrapped, "reason", None)  # below the retries
    host = getattr(getattr(wrapped, "pool", None), "host", "the server")
    sentences = {
        requests.exceptions.SSLError: "the certificate of the server is not accepted",
        requests.exceptions.ProxyError: "the proxy cannot be reached",
        urllib3.exceptions.NameResolutionError: f"the host {host} is not found (no network?)",
        urllib3.exceptions.NewConnectionError: f"{host} cannot be reached",
        urllib3.exceptions.ConnectTimeoutError: f"{host} does not answer in time",
        urllib3.exceptions.ReadTimeoutError: "the server does not answer in time",
        requests.Timeout: "the server does not answer in time",
        requests.ConnectionError: "the connection fails",
        ValueError: "the address is not usable",
    }
    found = (kind for kind in sentences if isinstance(error, kind) or isinstance(reason, kind))
    return GiveUp(sentences.get(next(found, None), "the request is not possible"))


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


# Addresses.


def is_kaggle(url):
    """Whether an address is one of Kaggle's."""
    return url.startswith("kaggle:")


def _safe_origin(url, pinned):
    """Scheme, host and port of an address that may be asked."""
    parts = urlsplit(url)
    origin = parts.scheme, parts.hostname, parts.port
    if parts.username or parts.password:
        raise GiveUp("an address must not hold a password")
    if parts.scheme == "http" and (pinned or is_loopback(url)):
        return origin
    if parts.scheme != "https":
        unless = " without a sha256" if parts.scheme == "http" else ""
        raise GiveUp(f"only https is allowed{unless}, not {parts.scheme}://{parts.hostname or ''}")
    return origin


def _kaggle_address(url, kaggle):
    parts = url.removeprefix("kaggle:").split("/", 2)
    return "/".join([kaggle, "datasets/download", *(quote(p, safe="") for p in parts)])


def _token():
    """The user's Kaggle credentials from the places where Kaggle's own tools look, or None."""
    folder = Path(os.environ.get("KAGGLE_CONFIG_DIR") or Path.home() / ".kaggle")
    bearer = os.environ.get("KAGGLE_API_TOKEN")
    user, key = os.environ.get("KAGGLE_USERNAME"), os.environ.get("KAGGLE_KEY")
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
