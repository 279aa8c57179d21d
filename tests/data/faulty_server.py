"""A web server on this machine that fails on purpose.

    with FaultyServer() as server:
        server.at("/books.csv", status(500), whole(data))   # one answer for each request
        ...
        server.requests                                     # what was asked, in order

The last answer of a path is given again and again. An answer is a function of the handler.
"""

import contextlib
import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FaultyServer:
    def __init__(self):
        self.requests = []  # (path, headers)
        self.closing = threading.Event()
        self._answers = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append((self.path, dict(self.headers)))
                self.server_closing = outer.closing
                answers = outer._answers.get(self.path, [status(404)])
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                with contextlib.suppress(ConnectionError):
                    answer(self)

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self.base = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def at(self, path, *answers):
        """Set what the path answers, request by request; return its address."""
        self._answers[path] = list(answers)
        return self.base + path

    def header(self, name):
        """The value of a header in each request so far."""
        return [headers.get(name) for _, headers in self.requests]


def _head(handler, code, headers):
    handler.send_response(code)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


def status(code, **headers):
    """A status without a body."""

    def answer(handler):
        _head(handler, code, {n.replace("_", "-"): v for n, v in headers.items()})

    return answer


def whole(data, etag=None, content_type="application/octet-stream"):
    """All of the data; with an ETag, Range and If-Range are honoured."""

    def answer(handler):
        headers = {"Content-Type": content_type, "Content-Length": len(data)}
        asked = handler.headers.get("Range")
        if etag:
            headers["ETag"] = etag
        if etag and asked and handler.headers.get("If-Range") == etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                return _head(handler, 416, {"Content-Range": f"bytes */{len(data)}"})
            headers["Content-Length"] = len(data) - start
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            _head(handler, 206, headers)
            handler.wfile.write(data[start:])
        else:
            _head(handler, 200, headers)
            handler.wfile.write(data)
        return None

    return answer


def part(data, start, total=None):
    """The rest of the data as 206, whatever was asked: the file may be another one."""

    def answer(handler):
        content_range = f"bytes {start}-{len(data) - 1}/{total or len(data)}"
        _head(handler, 206, {"Content-Range": content_range, "Content-Length": len(data) - start})
        handler.wfile.write(data[start:])

    return answer


def cut(data, after, etag=None):
    """Promise all of the data, but hang up after some bytes."""

    def answer(handler):
        _head(handler, 200, {"Content-Length": len(data)} | ({"ETag": etag} if etag else {}))
        handler.wfile.write(data[:after])

    return answer


def stalled(data, after, etag=None):
    """Send some bytes, then nothing, and keep the connection."""

    def answer(handler):
        cut(data, after, etag)(handler)
        handler.wfile.flush()
        handler.server_closing.wait(30)

    return answer


def dripping(data, etag=None, size=1, pause=0.02):
    """Send a few bytes at a time: never silent, never done."""

    def answer(handler):
        cut(data, 0, etag)(handler)
        for start in range(0, len(data), size):
            if handler.server_closing.is_set():
                return
            handler.wfile.write(data[start : start + size])
            handler.wfile.flush()
            time.sleep(pause)

    return answer


def endless(handler, code=200, headers=None):
    """Send zeros until the other side has had enough."""
    _head(handler, code, headers or {})
    while not handler.server_closing.is_set():
        handler.wfile.write(bytes(1 << 16))


def compressed(data, etag='"gz"', after=None):
    """The data in a gzip transfer that was not requested, perhaps cut after some bytes."""

    def answer(handler):
        body = gzip.compress(data)
        headers = {"Content-Encoding": "gzip", "Content-Length": len(body), "ETag": etag}
        _head(handler, 200, headers)
        handler.wfile.write(body[:after])

    return answer


def redirect(location):
    return status(302, Location=location)
