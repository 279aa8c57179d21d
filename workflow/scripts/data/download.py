"""Fetch the original file of a dataset.

A file gets its name only when all of it is there and verified. Until then it grows as
`.NAME.part` beside it; after a broken connection the next attempt continues it, and so does a
later run where a checksum will tell whether the pieces fit.

Only https is used, or http where a checksum pins every byte, and no secret goes to another host.
`kaggle:OWNER/DATASET/FILE` stands for Kaggle's address of a file, with the user's token.
"""

import base64
import contextlib
import fcntl
import http.client
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import requests
from urllib3 import Retry
from urllib3 import exceptions as network

from dp_topk._tables import CountingError, is_zip, open_member
from workflow.scripts.common import InputError, written
from workflow.scripts.data.originals import fault, is_loopback, page, urls, verify

BLOCK = 1 << 16
KAGGLE = "https://www.kaggle.com/api/v1"
TIMEOUT = 5, 15  # seconds until there is a connection, and without a byte
REPORT = 10  # seconds between two lines about progress
SLOWEST = 1000  # bytes a second between them
# Requests that bring no answer, or one that says to come back later, are repeated by urllib3; what
# breaks off while the file arrives is continued here, as often and with the same waits.
RETRY = Retry(
    total=2,
    redirect=False,
    status_forcelist=(429, 500, 502, 503, 504),
    raise_on_status=False,
    backoff_factor=1,
    backoff_max=30,
    retry_after_max=30,
)


class GiveUp(Exception):
    """The download cannot work; the message says why."""


class Broken(Exception):
    """The connection failed while the file arrived."""


def fetch(dataset, download, path):
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
        others = [each for each in sorted(path.parent.glob("[!.]*")) if each.is_file()]
        pinned = download.get("sha256") or download.get("member_sha256")
        for other in others if pinned else ():
            if not fault(other, download):
                tell(f"{dataset}: {other} is verified, and used in place of {path.name}")
                return other
        reasons = []
        for url in urls(download):
            transfer = Transfer(dataset, download, path, url)
            try:
                transfer.complete()
                return path
            except GiveUp as reason:
                reasons.append(f"from {transfer.place}: {reason}")
        found = ", ".join(other.name for other in others[:5])
        doubt = f"{found} there has a different checksum"
        if not pinned:
            doubt = f"if {found} there is the file, rename it"
        hint = f" as {path.name} ({doubt})" if found else ""
        raise InputError(
            f"{dataset}: {path.name} cannot be downloaded {', nor '.join(reasons)}; "
            f"get it from {page(download)} by hand and put it into {path.parent}/{hint}"
        )


def tell(sentence):
    """Say something in the log, and on the terminal, where somebody may be waiting."""
    print(sentence, flush=True)
    if sys.stderr is not sys.__stderr__:
        print(sentence, file=sys.__stderr__, flush=True)


@contextlib.contextmanager
def _alone_in(folder, dataset):
    """Wait for whoever else downloads to a folder: a job may outlive the run that started it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot lock
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell(f"{dataset}: waiting for another download to {folder}/")
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class Transfer:
    """The requests for a file at one address; each continues what the one before it left."""

    def __init__(self, dataset, download, path, url):
        self.dataset, self.download, self.path = dataset, download, path
        self.part = path.with_name(f".{path.name}.part")
        self.validator = None  # of what the partial file holds, as If-Range may have it
        self.url, self.token, self.name = url, None, url.rpartition("/")[2]
        self.place = re.sub(r".*://(.*@)?([^/:]*).*", r"\2", url)
        if url.startswith("kaggle:"):
            self.url = f"{KAGGLE}/datasets/download/{quote(url.removeprefix('kaggle:'))}"
            self.token = _token()
            self.place = "Kaggle" if self.token else "Kaggle without a token"
        self.limit = download["max_bytes"]
        # Kaggle may send a zip around the file.
        if download.get("bytes") and not url.startswith("kaggle:"):
            self.limit = min(self.limit, download["bytes"] + BLOCK)

    def complete(self):
        """Fetch and verify the file, continuing it as long as something arrives."""
        failures = 0
        while True:
            had = self._size()
            try:
                self._receive()
                wrong = self._without_zip() or fault(self.part, self.download)
                if not wrong:
                    break
                self.part.unlink()
                raise Broken(f"after a continued download {wrong}") if had else GiveUp(wrong)
            except Broken as problem:
                failures = 1 if self._size() > had else failures + 1
                if failures > RETRY.total:
                    raise GiveUp(f"{problem} (tried {failures} times)") from None
                seconds = min(RETRY.backoff_factor * 2 ** (failures - 1), RETRY.backoff_max)
                tell(f"{self.dataset}: {problem}; next attempt in {seconds:g} s")
                time.sleep(seconds)
            except OSError as error:
                error.filename = error.filename or str(self.part)  # a full disk does not say whose
                raise
        self.part.replace(self.path)
        size = self.path.stat().st_size
        print(f"{self.dataset}: {self.path} is verified ({size:,} bytes)", flush=True)

    def _size(self):
        return self.part.stat().st_size if self.part.exists() else 0

    def _without_zip(self):
        """Take off the zip that Kaggle may put around a file; return what is wrong with it."""
        filename, limit = self.download["filename"], self.download["max_bytes"]
        if is_zip(self.part) and not (self.download.get("member") or filename.endswith(".zip")):
            try:
                with (
                    open_member(self.part, self.name, limit) as source,
                    written(self.part, "wb") as file,
                ):
                    shutil.copyfileobj(source, file, BLOCK)
            except CountingError as error:
                return str(error)
        return None

    def _receive(self):
        """Complete the partial file, or start it again."""
        pinned = bool(self.download.get("sha256"))
        have = self._size() if self.validator or pinned else 0
        headers = {"User-Agent": "dp-topk", "Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
            headers |= {"If-Range": self.validator} if self.validator else {}
        try:
            with requests.Session() as session:
                session.max_redirects = 10
                session.trust_env = not is_loopback(self.url)  # no proxy for ourselves
                adapter = _Adapter(self.url, pinned, self.token)
                session.mount("https://", adapter)
                session.mount("http://", adapter)
                with session.get(self.url, headers=headers, timeout=TIMEOUT, stream=True) as answer:
                    self._store(answer, have)
        except (requests.RequestException, network.HTTPError, ValueError) as error:
            raise _problem(error) from None  # it may show a signed address

    def _store(self, answer, have):
        """Write the body of an answer to the partial file, or say why not."""
        status, headers = answer.status_code, answer.headers
        said = re.match(r"bytes (\d+)-\d+/(\d*)", headers.get("Content-Range", ""))
        if status == 416 or (status == 206 and not (said and int(said[1]) == have)):
            self.part.unlink(missing_ok=True)
            raise Broken("the partial file no longer fits the server's")
        if status not in (200, 206):
            raise GiveUp(f"the server answers {status} {http.client.responses.get(status, '')}")
        if headers.get("Content-Type", "").startswith("text/html"):
            raise GiveUp("the server sends a web page instead of the file")
        if status == 206:
            begin, total = have, said[2]
        else:
            begin, total = 0, headers.get("Content-Length", "")
            etag = headers.get("ETag", "")
            self.validator = etag if etag.startswith('"') else headers.get("Last-Modified")
            if headers.get("Content-Encoding", "identity") != "identity":
                self.validator, total = None, ""
        total = int(total) if total.isdecimal() else None
        with self.part.open("ab" if begin else "wb") as file:
            size = self._copy(answer.raw, file, begin, total)
            os.fsync(file.fileno())
        if total not in (None, size):
            raise Broken(f"the connection ended after {size:,} of {total:,} bytes")

    def _copy(self, source, file, size, total):
        """Copy a body, within the limits of size and speed; return the size of the file."""
        limit, then, had = self.limit, time.monotonic(), size
        while True:
            if max(size, total or 0) > limit:
                self.part.unlink()
                raise GiveUp(f"the server sends more than {limit:,} bytes")
            block = source.read1(BLOCK, decode_content=True)
            if not block:
                return size
            file.write(block)
            file.flush()
            size += len(block)
            seconds = time.monotonic() - then
            if seconds > REPORT:
                rate = (size - had) / seconds
                if rate < SLOWEST:
                    raise Broken("the connection is too slow")
                of = f" of {total / 1e6:,.1f}" if total else ""
                left = f", {(total - size) / rate:,.0f} s left" if total else ""
                tell(f"{self.dataset}: {size / 1e6:,.1f}{of} MB, {rate / 1e3:,.0f} kB/s{left}")
                then, had = time.monotonic(), size


class _Adapter(requests.adapters.HTTPAdapter):
    """Asks safe addresses only, redirects included, and sends the token to the first host only."""

    def __init__(self, url, pinned, token):
        super().__init__(max_retries=RETRY)
        self.pinned, self.token = pinned, token
        self.home = self._safe_origin(url)

    def send(self, request, **options):
        origin = self._safe_origin(request.url)
        request.headers.pop("Authorization", None)  # what requests finds in ~/.netrc
        if self.token and origin == self.home:
            request.headers["Authorization"] = self.token
        answer = super().send(request, **options)
        if answer.is_redirect:
            answer.close()  # requests would read its body to the end
        return answer

    def _safe_origin(self, url):
        """Scheme, host and port of an address that may be asked."""
        parts = urlsplit(url)
        http = parts.scheme == "http"
        if parts.username or parts.password:
            raise GiveUp("an address must not hold a password")
        if parts.scheme != "https" and not (http and (self.pinned or is_loopback(url))):
            unless = " without a sha256" if http else ""
            raise GiveUp(f"only https is allowed{unless}, not {parts.scheme}")
        return parts.scheme, parts.hostname, parts.port


def _problem(error):
    """What went wrong, without the address."""
    wrapped = next(iter(error.args), None)
    reason = getattr(wrapped, "reason", None)  # below the retries
    host = getattr(getattr(wrapped, "pool", None), "host", "the server")
    sentences = {
        requests.exceptions.SSLError: "the server's certificate is not accepted",
        requests.exceptions.ProxyError: "the proxy cannot be reached",
        requests.exceptions.TooManyRedirects: "the server redirects without end",
        network.NameResolutionError: f"the host {host} is not found (no network?)",
        network.NewConnectionError: f"{host} cannot be reached",
        network.TimeoutError: "the server does not answer in time",
        network.HTTPError: "the connection fails",
        requests.ConnectionError: "the connection fails",
    }
    found = (kind for kind in sentences if isinstance(error, kind) or isinstance(reason, kind))
    sentence = sentences.get(next(found, None), "the address, or the answer, cannot be used")
    return (Broken if isinstance(error, network.HTTPError) else GiveUp)(sentence)


def _token():
    """The user's Kaggle credentials from the places where Kaggle's own tools look, or None."""
    folder = Path(os.environ.get("KAGGLE_CONFIG_DIR") or Path.home() / ".kaggle")
    place, token = "KAGGLE_API_TOKEN", os.environ.get("KAGGLE_API_TOKEN", "")
    user, key = (os.environ.get(name, "") for name in ("KAGGLE_USERNAME", "KAGGLE_KEY"))
    try:
        if not token and not (user and key):
            if (place := folder / "access_token").exists():
                token = place.read_text("utf-8")
            elif (place := folder / "kaggle.json").exists():
                stored = json.loads(place.read_text("utf-8"))
                user, key = stored["username"].strip(), stored["key"].strip()
        if not re.fullmatch("[!-~]*", token := token.strip()):
            raise ValueError
    except (AttributeError, OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{place} cannot be read as a Kaggle token: get a new one from "
            "https://www.kaggle.com/settings, or delete it"
        ) from None
    if token:
        return f"Bearer {token}"
    if user and key:
        return f"Basic {base64.b64encode(f'{user}:{key}'.encode()).decode()}"
    return None
