"""Downloads against a server that fails on purpose: the right file, or one clear sentence."""

import base64
import contextlib
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dp_topk._tables import CountingError, open_member
from tests.copies import mounted
from tests.data.faulty_server import (
    FaultyServer,
    compressed,
    cut,
    dripping,
    endless,
    part,
    redirect,
    stalled,
    status,
    whole,
)
from workflow.scripts.common import InputError, logged
from workflow.scripts.data import download as module
from workflow.scripts.data.download import fetch, requests
from workflow.scripts.data.originals import link, linked, open_original, verify

USUAL = module.RETRY
SOON = USUAL.new(backoff_factor=0.01, backoff_max=0.05, retry_after_max=0.05)
DATA = np.random.default_rng(1).bytes(200_000)
OTHER = np.random.default_rng(2).bytes(200_000)
HALF = len(DATA) // 2
PAGE = "https://example.org/data"


@pytest.fixture
def server(monkeypatch):
    with FaultyServer() as running:
        monkeypatch.setattr(module, "KAGGLE", running.base)
        yield running


@pytest.fixture(autouse=True)
def haste(monkeypatch):
    monkeypatch.setattr(module, "RETRY", SOON)
    monkeypatch.setattr(module, "TIMEOUT", (5, 5))
    monkeypatch.setattr(module, "REPORT", 0.1)


@pytest.fixture
def more_haste(monkeypatch):
    """Where nothing is to arrive."""
    monkeypatch.setattr(module, "RETRY", SOON.new(total=1))
    monkeypatch.setattr(module, "TIMEOUT", (5, 0.4))


@contextlib.contextmanager
def once():
    """Nothing is tried again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "RETRY", SOON.new(total=0))
        yield


@pytest.fixture(autouse=True)
def no_secrets_of_the_user(monkeypatch, tmp_path):
    for name in ("KAGGLE_API_TOKEN", "KAGGLE_USERNAME", "KAGGLE_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(tmp_path / "no-kaggle"))


@pytest.fixture
def target(tmp_path):
    return tmp_path / "raw" / "pets" / "pets.bin"


def wanted(url, data=DATA, **more):
    """The `download` part of a config whose file is `data`."""
    sha256 = hashlib.sha256(data).hexdigest()
    known = {"page": PAGE, "filename": "pets.bin", "sha256": sha256, "max_bytes": 10**9}
    return {"url": url} | known | more


def zipped(**members):
    """A zip with these members; `__` in a name stands for a dot."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return file.getvalue()


def files(target):
    return sorted(path.name for path in target.parent.iterdir())


def refused(download, target):
    """The sentence with which a download ends, having checked that no file got the name."""
    with pytest.raises(InputError) as error:
        fetch("pets", download, target)
    sentence = str(error.value)
    assert not target.exists()
    assert "\n" not in sentence
    assert PAGE in sentence
    assert target.name in sentence
    assert str(target.parent) in sentence
    return sentence


# The right file in the end.


def test_a_file_is_fetched_verified_and_nothing_else_is_left(server, target):
    url = server.at("/pets.bin", whole(DATA))
    fetch("pets", wanted(url, bytes=len(DATA)), target)
    assert target.read_bytes() == DATA
    assert files(target) == ["pets.bin"]


@pytest.mark.parametrize("code", [500, 502, 503, 429])
def test_a_failing_server_is_asked_again(server, target, code):
    url = server.at("/pets.bin", status(code), status(code), whole(DATA))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA
    assert len(server.requests) == 3


def test_waits_double_and_retry_after_is_honoured_up_to_a_limit(server, target, monkeypatch):
    waits = []
    monkeypatch.setattr(module.time, "sleep", waits.append)
    answers = [
        status(500),
        status(500),
        status(429, Retry_After="7"),
        status(503, Retry_After="86400"),
    ]
    url = server.at("/pets.bin", *answers, whole(DATA))
    retry = USUAL.new(total=6, backoff_max=20, retry_after_max=20)
    monkeypatch.setattr(module, "RETRY", retry)
    fetch("pets", wanted(url), target)
    assert waits == [2, 7, 20]
    assert target.read_bytes() == DATA


def test_a_cut_connection_is_continued(server, target):
    url = server.at("/pets.bin", cut(DATA, HALF, etag='"1"'), whole(DATA, etag='"1"'))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA
    assert server.header("Range") == [None, f"bytes={HALF}-"]
    assert server.header("If-Range") == [None, '"1"']


@pytest.mark.parametrize("etag", [None, 'W/"1"'])
def test_without_a_strong_validator_the_download_starts_again(server, target, etag):
    url = server.at("/pets.bin", cut(DATA, HALF, etag), whole(DATA))
    fetch("pets", wanted(url, sha256=None), target)
    assert target.read_bytes() == DATA
    assert server.header("Range") == [None, None]


def test_a_file_that_changed_after_a_cut_is_fetched_as_a_whole(server, target):
    url = server.at("/pets.bin", cut(OTHER, HALF, etag='"1"'), whole(DATA, etag='"2"'))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA


def test_a_file_that_changed_into_a_wrong_one_after_a_cut_is_refused(server, target):
    url = server.at("/pets.bin", cut(DATA, HALF, etag='"1"'), whole(OTHER, etag='"2"'))
    assert "sha256" in refused(wanted(url), target)
    assert files(target) == []


def test_halves_of_two_files_never_become_one(server, target):
    """The server says 206 although the file is another one by now."""
    url = server.at("/pets.bin", cut(OTHER, HALF, etag='"1"'), part(DATA, HALF), whole(DATA))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA
    assert server.header("Range") == [None, f"bytes={HALF}-", None]


@pytest.mark.parametrize("answer", [status(416), part(DATA, 7), status(206)])
def test_a_range_that_does_not_fit_starts_again(server, target, answer):
    url = server.at("/pets.bin", cut(DATA, HALF, etag='"1"'), answer, whole(DATA))
    fetch("pets", wanted(url, sha256=None), target)
    assert target.read_bytes() == DATA
    assert server.header("Range") == [None, f"bytes={HALF}-", None]


def test_a_range_that_ends_early_is_continued(server, target):
    pieces = [part(DATA[: HALF + 100], HALF, len(DATA)), part(DATA, HALF + 100)]
    url = server.at("/pets.bin", cut(DATA, HALF, etag='"1"'), *pieces)
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA
    assert server.header("Range") == [None, f"bytes={HALF}-", f"bytes={HALF + 100}-"]


def test_a_range_may_leave_the_size_of_the_file_open(server, target):
    url = server.at("/pets.bin", cut(DATA, HALF, etag='"1"'), part(DATA, HALF, "*"))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA
    assert len(server.requests) == 2


def test_what_another_address_left_does_no_harm(server, target):
    with once():
        refused(wanted(server.at("/old.bin", cut(OTHER, HALF, etag='"1"'))), target)
    fetch("pets", wanted(server.at("/pets.bin", whole(DATA, etag='"1"'))), target)
    assert target.read_bytes() == DATA
    assert len(server.requests) == 2  # of another file: If-Range, or the checksum, would tell


def test_a_killed_download_is_continued(server, target):
    url = server.at("/pets.bin", dripping(DATA, etag='"1"', size=2000), whole(DATA, etag='"1"'))
    code = (
        "import json, sys; from workflow.scripts.data.download import fetch; "
        "fetch('pets', json.loads(sys.argv[1]), sys.argv[2])"
    )
    command = [sys.executable, "-c", code, json.dumps(wanted(url)), str(target)]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(command, cwd=root, env=os.environ | {"PYTHONPATH": str(root)})
    partial = target.parent / ".pets.bin.part"
    deadline = time.monotonic() + 20
    while not (partial.exists() and partial.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not target.exists()
    have = partial.stat().st_size
    assert 0 < have < len(DATA)
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA
    assert server.header("Range") == [None, f"bytes={have}-"]
    assert files(target) == ["pets.bin"]


def test_a_stalled_body_is_dropped_and_continued(server, target, more_haste):
    url = server.at("/pets.bin", stalled(DATA, HALF, etag='"1"'), whole(DATA, etag='"1"'))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA


def test_a_transfer_that_is_compressed_unasked_is_understood(server, target):
    url = server.at("/pets.bin", compressed(DATA, after=HALF), compressed(DATA))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA


def on_both(capfd, log):
    """What a fetch under `logged` said on the terminal, which must be in the log as well."""
    terminal = capfd.readouterr().err.splitlines()
    assert set(terminal) <= {*log.read_text().splitlines()}
    return terminal


def test_a_long_download_reports_bytes_rate_and_time_left(
    server, target, tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr(module, "REPORT", 0.05)
    url = server.at("/pets.bin", dripping(DATA, size=10_000))
    with logged(tmp_path / "log"):
        fetch("pets", wanted(url), target)
    lines = on_both(capfd, tmp_path / "log")
    assert 3 <= len(lines) <= 20  # of 20 pieces, with 20 ms between them; one every 0.05 s
    for line in lines:
        assert re.fullmatch(r"pets: 0\.[0-2] of 0\.2 MB, \d+ kB/s, \d+ s left", line)


def test_a_fast_download_is_quiet(server, target, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(module, "REPORT", 10)
    url = server.at("/pets.bin", whole(DATA))
    with logged(tmp_path / "log"):
        fetch("pets", wanted(url), target)
    assert capfd.readouterr().err == ""
    assert "is verified (200,000 bytes)" in (tmp_path / "log").read_text()


def test_attempts_are_told_on_the_terminal(server, target, tmp_path, capfd):
    url = server.at("/pets.bin", cut(DATA, HALF), whole(DATA))
    with logged(tmp_path / "log"):
        fetch("pets", wanted(url), target)
    (line,) = on_both(capfd, tmp_path / "log")
    assert line == "pets: the connection fails; next attempt in 0.01 s"


# One clear sentence.


@pytest.mark.parametrize("code", [401, 404])
def test_a_refusal_is_final(server, target, code):
    url = server.at("/pets.bin", status(code))
    assert str(code) in refused(wanted(url), target)
    assert len(server.requests) == 1


def test_a_server_that_keeps_failing_is_given_up(server, target):
    url = server.at("/pets.bin", status(500))
    assert "500 Internal Server Error" in refused(wanted(url), target)
    assert len(server.requests) == 1 + SOON.total


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:9/pets.bin", "127.0.0.1 cannot be reached"),
        ("https://no-such-host.invalid/pets.bin", "the host no-such-host.invalid is not found"),
    ],
)
def test_hosts_that_cannot_be_reached_fail_fast(target, monkeypatch, url, says):
    waits = []
    monkeypatch.setattr(module, "RETRY", USUAL)
    monkeypatch.setattr(module.time, "sleep", waits.append)
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert f"{says}" in refused(wanted(url), target)
    assert sum(waits) < 5


def test_addresses_are_tried_in_order(server, target):
    addresses = [
        "http://127.0.0.1:9/pets.bin",
        server.at("/moved.bin", status(404)),
        server.at("/changed.bin", whole(OTHER)),
        server.at("/pets.bin", whole(DATA)),
        server.at("/never.bin", whole(DATA)),
    ]
    fetch("pets", wanted(addresses), target)
    assert target.read_bytes() == DATA
    assert [path for path, _ in server.requests] == ["/moved.bin", "/changed.bin", "/pets.bin"]
    assert files(target) == ["pets.bin"]


def test_the_reasons_of_all_addresses_are_named(server, target):
    addresses = [server.at("/moved.bin", status(410)), "ftp://example.org/pets.bin"]
    sentence = refused(wanted(addresses), target)
    said = "from 127.0.0.1: the server answers 410 Gone, nor from example.org: only https"
    assert said in sentence


def test_a_certificate_that_lapsed_leads_to_the_next_address(server, target, monkeypatch):
    asked, get = [], requests.Session.get

    def with_lapsed_certificate(session, url, **options):
        asked.append(url)
        if url.startswith("https:"):
            raise requests.exceptions.SSLError
        return get(session, url, **options)

    monkeypatch.setattr(requests.Session, "get", with_lapsed_certificate)
    url = server.at("/pets.bin", whole(DATA))
    fetch("pets", wanted(["https://example.org/pets.bin", url]), target)
    assert asked == ["https://example.org/pets.bin", url]
    assert target.read_bytes() == DATA


@pytest.mark.parametrize(
    "known", [{}, {"sha256": None, "bytes": len(DATA) - 1}], ids=["sha256", "bytes"]
)
def test_a_wrong_file_never_gets_the_name(server, target, known):
    url = server.at("/pets.bin", whole(OTHER))
    assert "instead of" in refused(wanted(url, **known), target)
    assert files(target) == []
    assert len(server.requests) == 1


def test_a_body_that_always_stalls_ends_soon(server, target, more_haste):
    url = server.at("/pets.bin", stalled(DATA, HALF))
    start = time.monotonic()
    assert "in time" in refused(wanted(url), target)
    assert time.monotonic() - start < 10


def test_a_trickle_is_a_stall(server, target, more_haste):
    url = server.at("/pets.bin", dripping(DATA))
    start = time.monotonic()
    assert "too slow" in refused(wanted(url), target)
    assert time.monotonic() - start < 10


def test_a_server_that_never_answers_ends_soon(server, target, more_haste):
    url = server.at("/pets.bin", lambda handler: handler.server_closing.wait(30))
    assert "in time" in refused(wanted(url), target)


@pytest.mark.parametrize("limit", [{"max_bytes": 10**6}, {"bytes": len(DATA)}])
def test_an_endless_body_is_cut_off(server, target, limit):
    url = server.at("/pets.bin", endless)
    assert "more than" in refused(wanted(url, **limit), target)
    assert files(target) == []
    assert len(server.requests) == 1


def test_a_file_that_says_it_is_too_large_is_not_begun(server, target):
    url = server.at("/pets.bin", stalled(DATA, 0))
    assert "more than 1,000 bytes" in refused(wanted(url, max_bytes=1000), target)


def test_a_web_page_is_not_a_dataset(server, target):
    url = server.at("/pets.bin", whole(b"<html>log in", content_type="text/html; charset=utf-8"))
    assert "web page" in refused(wanted(url, sha256=None), target)


def test_an_empty_file_is_not_a_dataset(server, target):
    url = server.at("/pets.bin", whole(b""))
    assert "empty" in refused(wanted(url, sha256=None), target)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/pets.bin",
        "http://127.0.0.1.example.org/pets.bin",
        "http://localhost@example.org/pets.bin",
        "ftp://example.org/pets.bin",
        "file:///etc/passwd",
        "https://user:secret@example.org/pets.bin",
        "https://[broken/pets.bin",
    ],
)
def test_an_address_that_is_not_safe_is_not_asked(target, monkeypatch, url):
    def send(*args, **options):
        raise AssertionError("asked")

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    assert "secret" not in refused(wanted(url, sha256=None), target)


@pytest.mark.parametrize(
    "location",
    [
        "http://example.org/pets.bin",
        "//example.org/pets.bin",
        "file:///etc/passwd",
        "https://ann:secret@example.org/",
        "https://[broken/",
        "https://example.org:port/",
    ],
)
def test_a_redirect_to_an_unsafe_address_is_not_followed(server, target, location):
    url = server.at("/pets.bin", redirect(location))
    assert "secret" not in refused(wanted(url, sha256=None), target)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "known",
    [{"sha256": None}, {"sha256": None, "bytes": 5}, {"sha256": None, "member_sha256": "0" * 64}],
)
def test_http_needs_a_checksum_of_the_file(target, monkeypatch, known):
    asked = []

    def send(adapter, request, **options):
        asked.append(request.url)
        raise requests.exceptions.InvalidURL

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    refused(wanted("http://example.org/pets.bin"), target)
    assert asked == ["http://example.org/pets.bin"]
    sentence = refused(wanted("http://example.org/pets.bin", **known), target)
    assert "only https is allowed without a sha256" in sentence
    assert len(asked) == 1


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://ann:secret@example.org/"])
def test_a_checksum_makes_no_other_address_safe(server, target, location):
    refused(wanted(server.at("/pets.bin", redirect(location))), target)
    assert len(server.requests) == 1


def test_the_body_of_a_redirect_is_not_read(server, target):
    server.at("/new.bin", whole(DATA))
    url = server.at("/pets.bin", lambda handler: endless(handler, 302, {"Location": "/new.bin"}))
    fetch("pets", wanted(url), target)
    assert target.read_bytes() == DATA


def test_redirects_end(server, target):
    url = server.at("/pets.bin", redirect("/pets.bin"))
    assert "redirects without end" in refused(wanted(url), target)


# A file put there by hand.


def test_a_file_put_there_by_hand_is_verified_and_kept(server, target):
    target.parent.mkdir(parents=True)
    target.write_bytes(DATA)
    fetch("pets", wanted(server.at("/pets.bin", status(500))), target)
    assert target.read_bytes() == DATA
    assert server.requests == []


def test_a_wrong_file_put_there_by_hand_is_named(server, target):
    target.parent.mkdir(parents=True)
    target.write_bytes(OTHER)
    with pytest.raises(InputError, match=f"pets.bin is not the expected original.*{PAGE}"):
        fetch("pets", wanted(server.at("/pets.bin", whole(DATA))), target)
    assert target.read_bytes() == OTHER


def put(target, name, data=DATA):
    target.parent.mkdir(parents=True, exist_ok=True)
    (target.parent / name).write_bytes(data)
    return target.parent / name


def test_a_file_of_another_name_is_taken_if_its_checksum_is_right(server, target, tmp_path):
    put(target, "another.bin", OTHER)
    renamed = put(target, "pets (1).bin")
    url = server.at("/pets.bin", status(500))
    assert fetch("pets", wanted(url), target) == renamed
    assert server.requests == []
    archive = put(target, "archive.zip", zipped(pets__csv=DATA))
    member = {"member": "pets.csv", "member_sha256": hashlib.sha256(DATA).hexdigest()}
    assert fetch("pets", wanted(url, sha256=None, **member), target) in (renamed, archive)


def test_a_file_of_another_name_is_named_where_there_is_no_checksum(server, target):
    put(target, "pets (1).bin")
    url = server.at("/pets.bin", status(404))
    sentence = refused(wanted(url, sha256=None), target)
    assert f"{target.parent}/ as pets.bin (if pets (1).bin there is the file, rename" in sentence
    assert files(target) == ["pets (1).bin"]


def test_a_wrong_file_of_another_name_is_named(server, target):
    put(target, "pets (1).bin", OTHER)
    url = server.at("/pets.bin", status(404), whole(DATA))
    assert "(pets (1).bin there has a different checksum)" in refused(wanted(url), target)
    assert fetch("pets", wanted(url), target) == target
    assert files(target) == ["pets (1).bin", "pets.bin"]


def test_a_link_leads_to_the_original_and_can_be_made_again(target):
    original, verified = put(target, "pets (1).bin"), target.parent / "verified" / target.name
    link(verified, original)
    link(verified, original)
    assert verified.read_bytes() == DATA
    assert linked(verified) == str(original)
    assert files(verified) == ["pets.bin"]
    assert linked(original) == original
    verified.unlink()
    assert original.read_bytes() == DATA


def test_two_downloads_of_a_file_wait_for_each_other(server, target):
    """A job may outlive the run that started it."""
    url = server.at("/pets.bin", dripping(DATA, size=20_000))
    results = []

    def run():
        results.append(fetch("pets", wanted(url), target))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [target, target]
    assert target.read_bytes() == DATA
    assert len(server.requests) == 1


def test_a_full_disk_is_named_with_the_file(server, target, monkeypatch):
    url = server.at("/pets.bin", whole(DATA))
    with mounted_or_skipped(target.parent, "size=100k"):
        with pytest.raises(OSError, match="No space left") as error:
            fetch("pets", wanted(url), target)
        assert error.value.filename == str(target.parent / ".pets.bin.part")
        assert not target.exists()


@contextlib.contextmanager
def mounted_or_skipped(folder, options):
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(mounted(folder, options))
        except PermissionError as reason:
            pytest.skip(f"no file system can be mounted here: {reason}")
        yield


# Archives.


def test_a_member_with_dots_in_its_path_is_never_written(server, tmp_path):
    """Only the named member is read, and the archive is never unpacked."""
    absolute = str(tmp_path / "evil.csv")
    evil = {"../evil__csv": b"evil", absolute: b"evil", "in/pets__csv": b"pets"}
    target = tmp_path / "raw" / "pets" / "pets.zip"
    download = wanted(server.at("/pets.zip", whole(zipped(**evil))), zipped(**evil))
    before = sorted(tmp_path.rglob("*"))
    fetch("pets", download | {"member": "in/pets.csv"}, target)
    with open_member(target, "in/pets.csv") as file:
        assert file.read() == b"pets"
    new = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    new -= {path.relative_to(tmp_path).as_posix() for path in before}
    assert new == {"raw", "raw/pets", "raw/pets/pets.zip"}


@pytest.mark.parametrize(
    ("archive", "problem"),
    [
        (zipped(**{"../pets__csv": b"pets"}), "has no member 'pets.csv'"),
        (zipped(), "has no member"),
        (b"not a zip at all", "not a usable zip"),
        (zipped(pets__csv=DATA)[:-300], "not a usable zip"),
        (zipped(pets__csv=bytes(10**6)), "max_bytes"),
        (zipped(pets__csv=DATA).replace(DATA[1000:1100], bytes(100)), "not a usable zip"),
        (zipped(pets__csv=OTHER), "sha256"),
    ],
    ids=["dots", "empty", "text", "cut", "bomb", "garbled", "other"],
)
def test_a_bad_archive_is_refused(server, tmp_path, archive, problem):
    target = tmp_path / "raw" / "pets" / "pets.zip"
    url = server.at("/pets.zip", whole(archive))
    download = {"url": url, "page": PAGE, "filename": "pets.zip", "member": "pets.csv"}
    download |= {"max_bytes": 500_000, "member_sha256": hashlib.sha256(DATA).hexdigest()}
    assert problem in refused(download, target)
    assert files(target) == []


def test_the_member_itself_will_do_where_its_digest_is_known(server, tmp_path):
    target = tmp_path / "raw" / "pets" / "pets.zip"
    url = server.at("/pets.zip", whole(DATA))
    download = {"url": url, "page": PAGE, "filename": "pets.zip", "member": "pets.csv"}
    download |= {"max_bytes": 10**9}
    assert "not a usable zip" in refused(download, target)
    download |= {"member_sha256": hashlib.sha256(DATA).hexdigest()}
    fetch("pets", download, target)
    with open_original(target, download) as file:
        assert file.read() == DATA


def test_an_encrypted_member_is_refused(tmp_path):
    data = bytearray(zipped(pets__csv=b"pets"))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "pets.zip").write_bytes(data)
    with (
        pytest.raises(CountingError, match="encrypted"),
        open_member(tmp_path / "pets.zip", "pets.csv"),
    ):
        pass


def test_a_size_that_lies_does_not_unpack_more(tmp_path):
    """The directory of the archive says 10 bytes; the member holds a million."""
    data = bytearray(zipped(pets__csv=bytes(10**6)))
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    (tmp_path / "pets.zip").write_bytes(data)
    blocks = []

    def read():
        with open_member(tmp_path / "pets.zip", "pets.csv", 1000) as file:
            blocks.extend(iter(lambda: file.read(1), b""))

    with pytest.raises(CountingError, match="not a usable zip"):
        read()
    assert len(blocks) <= 10


# Kaggle.

SECRETS = ["k-secret-9", base64.b64encode(b"ann:k-secret-9").decode()]
FILE = "/datasets/download/ann/pets/pets.bin"


def token_in_environment(monkeypatch, folder):
    monkeypatch.setenv("KAGGLE_USERNAME", "ann")
    monkeypatch.setenv("KAGGLE_KEY", "k-secret-9")
    return f"Basic {SECRETS[1]}"


def api_token_in_environment(monkeypatch, folder):
    monkeypatch.setenv("KAGGLE_API_TOKEN", "k-secret-9\n")
    return "Bearer k-secret-9"


def token_in_file(monkeypatch, folder):
    folder.joinpath("kaggle.json").write_text('{"username": "ann", "key": "k-secret-9"}')
    return f"Basic {SECRETS[1]}"


def access_token_in_file(monkeypatch, folder):
    folder.joinpath("access_token").write_text("k-secret-9\n")
    return "Bearer k-secret-9"


TOKENS = [token_in_environment, api_token_in_environment, token_in_file, access_token_in_file]


@pytest.fixture(params=TOKENS, ids=lambda place: place.__name__)
def authorization(request, monkeypatch, tmp_path):
    folder = tmp_path / "kaggle"
    folder.mkdir()
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(folder))
    return request.param(monkeypatch, folder)


def test_the_token_goes_to_kaggle_only_and_into_no_log(server, target, tmp_path, authorization):
    with FaultyServer() as storage:
        signed = storage.at("/bucket?signature=s-secret-9", cut(DATA, HALF), whole(DATA))
        server.at(FILE, redirect(signed))
        log = tmp_path / "log"
        with logged(log):
            fetch("pets", wanted("kaggle:ann/pets/pets.bin"), target)
        assert target.read_bytes() == DATA
        assert server.header("Authorization") == [authorization] * 2
        assert storage.header("Authorization") == [None] * 2
    assert "next attempt" in log.read_text()
    assert not any(secret in log.read_text() for secret in [*SECRETS, "s-secret-9"])


@pytest.mark.parametrize("fault", [status(403), status(500), cut(DATA, 5), "nobody"])
def test_no_failure_logs_the_token(server, target, tmp_path, capsys, authorization, fault):
    signed = "http://127.0.0.1:9/bucket?signature=s-secret-9"  # the port nobody listens on
    server.at(FILE, redirect(signed) if fault == "nobody" else fault)
    log = tmp_path / "log"
    with pytest.raises(SystemExit), logged(log):
        fetch("pets", wanted("kaggle:ann/pets/pets.bin"), target)
    text = log.read_text() + "".join(capsys.readouterr())
    assert "cannot be downloaded" in text
    assert not any(secret in text for secret in [*SECRETS, "s-secret-9"])


def test_without_a_token_kaggle_is_asked_anonymously(server, target):
    server.at(FILE, whole(DATA))
    fetch("pets", wanted("kaggle:ann/pets/pets.bin"), target)
    assert server.header("Authorization") == [None]


def test_a_refusal_without_a_token_says_so(server, target):
    server.at(FILE, status(403))
    download = wanted("kaggle:ann/pets/pets.bin")
    assert "from Kaggle without a token: the server answers 403" in refused(download, target)


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"username": "k-secret-9"}'])
def test_a_damaged_token_file_is_named_but_not_shown(target, tmp_path, monkeypatch, text):
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "kaggle.json").write_text(text)
    with pytest.raises(InputError, match=r"kaggle\.json cannot be read") as error:
        fetch("pets", wanted("kaggle:ann/pets/pets.bin"), target)
    assert "k-secret-9" not in str(error.value)


def test_a_token_that_no_header_can_hold_is_not_shown(target, monkeypatch):
    for token in ("k-secret-9\nHost: x", "k-secret-9 ü"):
        monkeypatch.setenv("KAGGLE_API_TOKEN", token)
        with pytest.raises(InputError, match="cannot be read as a Kaggle token") as error:
            fetch("pets", wanted("kaggle:ann/pets/pets.bin"), target)
        assert "k-secret-9" not in str(error.value)


def test_netrc_is_not_used(target, tmp_path, monkeypatch):
    sent = []

    def send(adapter, request, **options):
        sent.append(request)
        raise requests.ConnectionError

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
    (tmp_path / "netrc").write_text("machine example.org login ann password k-secret-9\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    refused(wanted("https://example.org/pets.bin"), target)
    assert len(sent) == 1
    assert not any("Authorization" in request.headers for request in sent)


def test_this_machine_is_asked_without_a_proxy(server, target, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    fetch("pets", wanted(server.at("/pets.bin", whole(DATA))), target)
    assert target.read_bytes() == DATA


def test_a_zip_that_kaggle_puts_around_the_file_is_taken_off(server, target):
    server.at(FILE, whole(zipped(**{"pets__bin": DATA, "../other__bin": OTHER})))
    download = wanted("kaggle:ann/pets/pets.bin", bytes=len(DATA))
    fetch("pets", download, target)
    assert target.read_bytes() == DATA
    assert files(target) == ["pets.bin"]


@pytest.mark.parametrize(
    ("archive", "problem"),
    [
        (zipped(cats__bin=DATA), "has no member 'pets.bin'"),
        (zipped(pets__bin=OTHER), "sha256"),
        (zipped(pets__bin=bytes(10**7)), "more than"),
    ],
    ids=["missing", "other", "bomb"],
)
def test_a_wrong_zip_around_the_file_is_refused(server, target, archive, problem):
    server.at(FILE, whole(archive))
    download = wanted("kaggle:ann/pets/pets.bin", max_bytes=10**6)
    assert problem in refused(download, target)
    assert files(target) == []


def test_a_checksum_may_be_written_in_capitals(tmp_path):
    (tmp_path / "pets.bin").write_bytes(DATA)
    verify(tmp_path / "pets.bin", {"sha256": hashlib.sha256(DATA).hexdigest().upper()})


def test_verify_accepts_what_the_config_says_nothing_about(tmp_path):
    (tmp_path / "pets.bin").write_bytes(b"pets")
    verify(tmp_path / "pets.bin", {"url": "https://example.org/pets.bin", "filename": "pets.bin"})


@pytest.mark.parametrize("packed", [False, True], ids=["file", "member of a zip"])
def test_gits_id_tells_whether_the_data_is_right(tmp_path, packed):
    (tmp_path / "pets.bin").write_bytes(zipped(pets__csv=b"hello\n") if packed else b"hello\n")
    member = {"member": "pets.csv"} if packed else {}
    right = {"git_blob": "ce013625030ba8dba906f756967f9e9ca394464a"}  # git hash-object
    verify(tmp_path / "pets.bin", {"url": PAGE, **member, **right})
    with pytest.raises(InputError, match=r"Git's id of .* is ce0136.* instead of 000"):
        verify(tmp_path / "pets.bin", {"url": PAGE, **member, "git_blob": "0" * 40})
