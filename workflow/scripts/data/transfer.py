"""One request for a file: through redirects, into a partial file that later ones continue."""

import dataclasses
import datetime
import email.utils
import http.client
import json
import re
import sys
import time
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from workflow.scripts.data.addresses import NotSafe, is_loopback, safe_origin, usable
from workflow.scripts.data.formats import BLOCK


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long to wait for a server and how often to try; all times in seconds."""

    connect: float = 5
    read: float = 60
    slowest: float = 1000  # bytes a second, on average over `read` seconds
    attempts: int = 6
    backoff: float = 2  # before the second attempt; doubles with each further one
    longest_wait: float = 120  # also when the server asks for more
    knocks: int = 3  # attempts at a host that cannot be reached at all
    between_knocks: float = 1
    progress: float = 5  # between two lines about it


@dataclasses.dataclass(frozen=True)
class Request:
    """What is asked for, and under which conditions."""

    dataset: str
    url: str
    authorization: str | None  # for the host of `url` and no other
    pinned: bool  # a checksum of the whole file is known
    limit: int  # bytes
    patience: Patience


class GiveUp(Exception):
    """The download cannot work; the message says why."""


class TryAgain(Exception):
    """The download failed this time; `wait`: seconds the server asked to wait, if it did."""

    def __init__(self, reason, wait=None):
        super().__init__(reason)
        self.wait = wait


class Unreachable(TryAgain):
    """There is no such host, or nobody answers there."""


class _Session(requests.Session):
    """A session that leaves redirects to us; requests would read their bodies to the end."""

    def resolve_redirects(self, *args, **kwargs):
        return iter(())


def tell(sentence):
    """Say something in the log, and on the terminal, where somebody may be waiting."""
    print(sentence, flush=True)
    if sys.stderr is not sys.__stderr__:
        print(sentence, file=sys.__stderr__, flush=True)


def receive(request, part):
    """Complete the partial file with one request; return whether it had been begun before.

    Errors of requests are dropped (`from None`): they may show a signed address.
    """
    try:
        with _Session() as session:
            have, validator = _begun(part, request.url)
            headers = {"User-Agent": "dp-topk", "Accept-Encoding": "identity"}
            if have:
                headers |= {"Range": f"bytes={have}-", "If-Range": validator}
            with _answer(session, request, headers) as answer:
                return _store(request, answer, part, have)
    except NotSafe as reason:
        raise GiveUp(str(reason)) from None
    except requests.exceptions.SSLError:
        raise GiveUp("the certificate of the server is not accepted") from None
    except requests.ConnectTimeout as error:
        raise Unreachable(f"{_host(error, request)} does not answer in time") from None
    except (requests.Timeout, urllib3.exceptions.TimeoutError):
        raise TryAgain("the server does not answer in time") from None
    except requests.ConnectionError as error:
        raise _connection_problem(error, request) from None
    except urllib3.exceptions.HTTPError:
        raise TryAgain("the connection fails") from None
    except requests.RequestException as error:
        raise GiveUp(f"the request is not possible ({type(error).__name__})") from None


def discard(part):
    """Remove a partial file and all that belongs to it."""
    for path in (part, _note_path(part), part.with_suffix(".unpacked")):
        path.unlink(missing_ok=True)


def _connection_problem(error, request):
    reason = getattr(next(iter(error.args), None), "reason", None)
    if isinstance(reason, urllib3.exceptions.NameResolutionError):
        return Unreachable(f"the host {_host(error, request)} is not found (no network?)")
    if isinstance(reason, urllib3.exceptions.NewConnectionError):
        return Unreachable(f"{_host(error, request)} cannot be reached")
    if isinstance(error, requests.exceptions.ProxyError):
        return Unreachable("the proxy cannot be reached")
    return TryAgain("the connection fails")


def _host(error, request):
    """The host that a request was about: of a redirect, where there was one."""
    pool = getattr(next(iter(error.args), None), "pool", None)
    return getattr(pool, "host", None) or urlsplit(request.url).hostname


def _answer(session, request, headers):
    """Ask for the file, through redirects, each of which is held to the rules of the first."""
    url, home = request.url, safe_origin(request.url, request.pinned)
    for _ in range(10):
        at_home = safe_origin(url, request.pinned) == home
        secret = request.authorization if at_home else None
        session.trust_env = not is_loopback(url)  # no proxy for ourselves
        answer = session.get(
            url,
            headers=headers | ({"Authorization": secret} if secret else {}),
            auth=lambda request: request,  # without this, ~/.netrc would be used
            timeout=(request.patience.connect, request.patience.read),
            stream=True,
            allow_redirects=False,
        )
        if not answer.is_redirect:
            return answer
        answer.close()
        with usable():
            url = urljoin(url, answer.headers["location"])
    raise GiveUp("the server redirects without end")


def _store(request, answer, part, have):
    """Write the body of an answer to the partial file, or say why not."""
    status = answer.status_code
    begin, total = _content_range(answer) if status == 206 else (0, None)
    if status == 416 or (status == 206 and begin != have):
        discard(part)
        raise TryAgain("the partial file does not fit the server's any more")
    if status == 429 or status >= 500:
        raise TryAgain(f"the server answers {_named(status)}", _retry_after(answer))
    if status not in (200, 206):
        raise GiveUp(f"the server answers {_named(status)}")
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise GiveUp("the server sends a web page instead of the file")
    encoded = answer.headers.get("Content-Encoding", "identity") != "identity"
    if not begin:
        discard(part)
        _note(part, request.url, None if encoded else _validator(answer))
    length = answer.headers.get("Content-Length", "")
    if total is None and length.isdecimal() and not encoded:
        total = begin + int(length)
    _require_within(request.limit, total or 0, part)

    size, patience = begin, request.patience
    progress = _Progress(request.dataset, begin, total, patience.progress)
    window = time.monotonic(), begin
    with part.open("ab") as file:
        while block := answer.raw.read1(BLOCK, decode_content=True):
            _write(file, block)
            size += len(block)
            _require_within(request.limit, size, part)
            now = time.monotonic()
            if now - window[0] > patience.read:
                if size - window[1] < patience.slowest * (now - window[0]):
                    raise TryAgain("the connection is too slow")
                window = now, size
            progress.at(size, now)
    if total not in (None, size):
        raise TryAgain(f"the connection ended after {size:,} of {total:,} bytes")
    return begin > 0


def _write(file, block):
    try:
        file.write(block)
        file.flush()
    except OSError as error:
        error.filename = file.name  # a full disk does not say whose
        raise


def _require_within(limit, size, part):
    if size > limit:
        discard(part)
        raise GiveUp(f"the server sends more than {limit:,} bytes")


class _Progress:
    """A line every few seconds; none where the file is there before."""

    def __init__(self, dataset, size, total, seconds):
        self._dataset, self._total, self._seconds = dataset, total, seconds
        self._begin = self._last = time.monotonic(), size

    def at(self, size, now):
        """Tell how far the download is, if it is time."""
        if now - self._last[0] < self._seconds:
            return
        self._last = now, size
        rate = (size - self._begin[1]) / (now - self._begin[0])
        line = f"{self._dataset}: {size / 1e6:,.1f}"
        line += f" of {self._total / 1e6:,.1f}" if self._total else ""
        line += f" MB, {rate / 1e3:,.0f} kB/s"
        if self._total and rate:
            line += f", {_duration((self._total - size) / rate)} left"
        tell(line)


def _duration(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:,.0f} min"


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
    with _note_path(part).open("wb") as file:
        _write(file, json.dumps({"url": url, "validator": validator}).encode())


def _note_path(part):
    return part.with_suffix(".part.json")


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
