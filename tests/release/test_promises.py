"""What must hold around the draw: whose items come out, where the receipt is, who sees what."""

import contextlib
import csv
import errno
import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from dp_topk.release import command
from dp_topk.release._files import NewFile
from dp_topk.release.command import main

from .test_release_command import (
    COMMAND,
    LISTED,
    ON_COUNTS,
    ON_ROWS,
    PUBLIC,
    ROOT,
    ROWS,
    SURE,
    UNKNOWN,
    folder,
    refused,
    released,
    sentence,
)

__all__ = ["folder", "refused", "released"]  # fixtures

ONE = (*ON_ROWS, *LISTED, *SURE, "--k", "1")
RECEIPT = ("--receipt", "receipt.json")


@pytest.fixture
def no_draw(monkeypatch):
    for name in ("top_k", "top_k_set", "top_k_unknown", "noisy_top_k", "noisy_counts"):
        monkeypatch.setattr(command.release, name, lambda *a, **o: pytest.fail("drawn"))


# ---------------------------------------------------------------- which items can come out


def test_items_of_rows_are_never_public(refused, no_draw):
    """The item that one user alone has would come out with that user, and never without."""
    line = refused(*ON_ROWS, *PUBLIC, *SURE, "--k", 1)
    assert "--domain-is-public is for counts" in line
    assert "--unknown-domain" in line


@pytest.mark.parametrize("way", ["same", "dotted", "link", "hard link"])
def test_the_input_is_not_a_list_of_items(folder, refused, way, no_draw):
    name = {"same": "rows.csv", "dotted": "./rows.csv"}.get(way, "list.txt")
    if way == "link":
        (folder / "list.txt").symlink_to("rows.csv")
    if way == "hard link":
        os.link(folder / "rows.csv", folder / "list.txt")
    line = refused(*ON_ROWS, "--domain", name, *SURE, "--k", 1)
    assert "names the input itself" in line
    assert "ann" not in line


def test_rows_are_not_a_list_of_items(folder, refused, no_draw):
    """Copies of the input, whole or in part, with other delimiters, and with some items added."""
    body = ROWS.partition("\n")[2]
    for content in (ROWS, body, body.replace(",", "\t"), body + "fig\nplum\n"):
        (folder / "list.txt").write_text("".join(dict.fromkeys(content.splitlines(True))))
        if "\t" in content:
            (folder / "rows.csv").write_text("user\titem\tprice\nbob\tfig\t2\n")
        line = refused(*ON_ROWS, "--domain", "list.txt", *SURE, "--k", 1)
        assert "rows" in line
        assert "ann" not in line
        (folder / "rows.csv").write_text(ROWS)


def test_rows_of_a_compressed_input_are_no_list_of_items(folder, refused, no_draw):
    (folder / "rows.csv").write_bytes(gzip.compress(ROWS.encode()))
    (folder / "list.txt").write_text("bob,fig,1\ncyd,fig,1\n")
    assert "rows" in refused(*ON_ROWS, "--domain", "list.txt", *SURE, "--k", 1)


def test_a_list_may_have_long_items(folder, released):
    (folder / "items.txt").write_text("apple\n" + 150_000 * "x" + "\n")
    assert released(*ONE) == "apple\n"


def test_items_with_commas_are_no_rows(folder, released):
    (folder / "rows.csv").write_text('user,item\nann,"Curie, Marie"\n')
    (folder / "items.txt").write_text('Curie, Marie\nNoether, Emmy\nsaid "a, b"\n')
    assert released(*ONE) == "Curie, Marie\n"


def test_whether_a_list_is_refused_does_not_depend_on_rows(folder, released):
    """A list with a line that is a row of somebody's must not be a way to ask for that row."""
    (folder / "items.txt").write_text("apple\nfig\nplum\nann,apple,1\n")
    for rows in (ROWS, "user,item,price\nbob,fig,1\n"):
        (folder / "rows.csv").write_text(rows)
        released(*ONE)


# ---------------------------------------------------------------- the receipt comes first


@pytest.mark.parametrize("option", ["--receipt", "--output"])
def test_a_link_is_not_followed(folder, refused, option, no_draw):
    for target in ("nowhere", "counts.csv", "."):
        (folder / "link").symlink_to(target)
        before = (folder / "counts.csv").read_bytes()
        assert "link exists" in refused(*ONE, option, "link")
        assert (folder / "counts.csv").read_bytes() == before
        (folder / "link").unlink()


@pytest.mark.parametrize("option", ["--receipt", "--output"])
def test_a_link_that_comes_later_is_not_followed(folder, refused, monkeypatch, option, no_draw):
    """Somebody makes it after the first look, while the rows are counted."""
    monkeypatch.setattr(command, "check_places", lambda options: None)
    if option == "--output":
        monkeypatch.setattr(command, "NewFile", lambda path, draft: NewFile(path))
    (folder / "link").symlink_to("nowhere")
    assert "link exists" in refused(*ONE, option, "link")
    assert not (folder / "nowhere").exists()


def test_of_two_runs_with_one_receipt_one_draws_nothing(folder, released, monkeypatch, capfd):
    """The second comes while the first draws, and has passed its own first look."""
    real = command.release.top_k
    monkeypatch.setattr(command, "check_places", lambda options: None)

    def draw(*arguments, **options):
        monkeypatch.setattr(command.release, "top_k", lambda *a, **o: pytest.fail("drawn"))
        with pytest.raises(SystemExit) as caught:
            main(["release", *ONE, *RECEIPT])
        assert caught.value.code == 2
        assert "receipt.json exists" in sentence(capfd.readouterr().err)
        return real(*arguments, **options)

    monkeypatch.setattr(command.release, "top_k", draw)
    assert released(*ONE, *RECEIPT) == "apple\n"
    assert "sha256" in (folder / "receipt.json").read_text()


def test_the_receipt_is_whole_and_synced_before_anything_is_printed(folder, released, monkeypatch):
    real, synced = os.fsync, []
    monkeypatch.setattr(
        os, "fsync", lambda number: (synced.append(os.fstat(number).st_ino), real(number))
    )

    def put_out(output, receipt):
        content = json.loads((folder / "receipt.json").read_text())
        assert content["output"]["sha256"].strip("0")
        assert (folder / "receipt.json").stat().st_ino in synced
        assert folder.stat().st_ino in synced
        printed.append(output)

    printed = []
    monkeypatch.setattr(command, "put_out", put_out)
    released(*ONE, *RECEIPT)
    assert printed == [b"apple\n"]


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_without_room_for_the_receipt_nothing_comes_out(folder, refused, monkeypatch, fails_at):
    """The first two times it is synced, file and folder, nothing has been drawn yet."""
    real, calls = os.fsync, []
    if fails_at <= 2:
        monkeypatch.setattr(command, "drawn", lambda *a: pytest.fail("drawn"))

    def fsync(descriptor):
        calls.append(descriptor)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    assert "cannot use receipt.json: No space left on device" in refused(*ONE, *RECEIPT)


def test_on_a_file_system_without_room(folder):
    """A limit on the size of files stands for it: the receipt does not fit."""
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512));"
        "from dp_topk.release.command import main; main(sys.argv[1:])"
    )
    for arguments in (RECEIPT, (*RECEIPT, "--output", "out.csv")):
        done = subprocess.run(
            [sys.executable, "-B", "-c", limited, "release", *ONE, *arguments],
            cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert "File too large" in sentence(done.stderr)
        assert sorted(os.listdir(folder)) == ["counts.csv", "items.txt", "rows.csv"]


def test_without_room_for_the_output_there_is_no_receipt(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *ONE, *RECEIPT],
            cwd=folder, env={"PYTHONPATH": str(ROOT)}, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "the output cannot be written (No space left" in done.stderr.splitlines()[-1]
    assert "nothing of it was" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(folder)) == ["counts.csv", "items.txt", "rows.csv"]


def test_the_receipt_stays_if_a_part_was_seen(folder, monkeypatch, capfd):
    """The reader of a pipe goes away after one byte."""
    monkeypatch.chdir(folder)
    real = os.write

    def write(descriptor, data):
        if descriptor == sys.stdout.fileno():
            if seen:
                raise BrokenPipeError(errno.EPIPE, "Broken pipe")
            seen.append(real(descriptor, data[:1]))
            return 1
        return real(descriptor, data)

    seen = []
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(SystemExit) as caught:
        main(["release", *ONE, *RECEIPT])
    assert caught.value.code == 2
    assert "not all of it; epsilon is spent" in capfd.readouterr().err
    assert (folder / "receipt.json").exists()


# ---------------------------------------------------------------- the output as a file


def test_output_is_whole_or_not_at_all(folder, released):
    assert released(*ONE, "--output", "out.txt", *RECEIPT) == ""
    assert (folder / "out.txt").read_text() == "apple\n"
    assert not [name for name in os.listdir(folder) if name.startswith(".")]


@pytest.mark.parametrize("step", ["drawn", "formatted", "NewFile.keep"])
def test_a_failure_leaves_neither_output_nor_receipt(folder, refused, monkeypatch, step):
    def fail(*arguments, **options):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(f"dp_topk.release.command.{step}", fail)
    assert "Input/output error" in refused(*ONE, "--output", "out.txt", *RECEIPT)


def test_a_kill_leaves_no_half_output(folder):
    code = (
        "import os, signal, sys; from dp_topk.release import command;"
        "command.NewFile.keep = lambda *a: os.kill(os.getpid(), signal.SIGKILL);"
        "command.main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "release", *ONE, "--output", "out.txt"],
        cwd=folder, env={"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert not (folder / "out.txt").exists()


def test_an_output_of_another_run_is_not_replaced(folder, refused, monkeypatch):
    """It comes while this one draws. The message names the output, and not the hidden draft."""
    real = command.drawn

    def draw(*arguments):
        (folder / "out.txt").write_bytes(b"old")
        return real(*arguments)

    monkeypatch.setattr(command, "drawn", draw)
    monkeypatch.setattr(command, "check_places", lambda options: None)
    (folder / "out.txt").touch()
    assert "error: out.txt exists" in refused(*ONE, *RECEIPT, "--output", "out.txt")
    assert (folder / "out.txt").read_bytes() == b"old"


def test_an_interrupt_leaves_nothing_behind(folder):
    """Rows come from a pipe that stays open, so that the command is certainly still reading."""
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [*COMMAND, "-", *ON_ROWS[1:], *LISTED, *SURE, "--k", "2", *RECEIPT],
            cwd=folder, env={"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # A shell that starts the tests in the background may have had it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        process.stdin.write(ROWS * 20_000)  # more than the pipe holds: it has begun to read
        process.stdin.flush()
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert output == ""
        assert errors == "dp-topk release: stopped.\n"
        assert sorted(os.listdir(folder)) == ["counts.csv", "items.txt", "rows.csv"]


# ---------------------------------------------------------------- streams and terminals


def test_closed_streams(folder):
    """A shell closes them: no message in the list, no traceback, no file in their place."""
    line = " ".join(f"'{word}'" for word in (*COMMAND, *ONE, *RECEIPT))

    def shell(redirection):
        (folder / "receipt.json").unlink(missing_ok=True)
        return subprocess.run(
            ["/bin/sh", "-c", f"{line} {redirection}"],
            cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = shell("<&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "apple\n", "")
    done = shell(">&-")
    assert done.returncode == 2
    assert "standard output is closed; leave it open" in sentence(done.stderr)
    assert not (folder / "receipt.json").exists()
    done = shell("--output out.txt >&- 2>&- <&-")
    assert done.returncode == 0
    assert (folder / "out.txt").read_text() == "apple\n"
    assert "receipt" not in (folder / "out.txt").read_text()


def test_closed_standard_input(refused, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is empty" in refused("-", *ONE[1:])


UNSAFE = [
    "fi\rg",
    "fi\ng",
    "\x1b[2Jfig",
    "gif\u202e",
    "fi\u2028g",
    "a\tb",
    "x\x85",
    "\x7f",
    "\u2066y",
]


@pytest.mark.parametrize("item", UNSAFE, ids=ascii)
def test_items_that_pass_for_something_else(folder, refused, released, item):
    with open(folder / "counts.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("item", "votes"), (item, 4000), ("plum", 10)])
    settings = (*ON_COUNTS, *SURE, "--k", 1, "--format")
    assert "use --format csv or json" in refused(*settings, "lines", *PUBLIC)
    output = released(*settings, "csv", *PUBLIC)
    (row,) = csv.DictReader(io.StringIO(output, newline=""))
    assert row["item"] == item
    output = released(*settings, "json", *PUBLIC)
    assert json.loads(output)[0]["item"] == item
    assert item not in output
    # Without a list, a refusal would tell that somebody has such an item: it is written out.
    output = released(*settings, "lines", *UNKNOWN)
    assert json.loads(output) == item
    assert output.isascii()
    assert output.count("\n") == 1


def test_a_terminal_gets_nothing_that_it_would_obey(folder):
    with open(folder / "counts.csv", "w", encoding="utf-8", newline="") as file:
        rows = [(item, 1000 * place) for place, item in enumerate(UNSAFE, 1)]
        csv.writer(file).writerows([("item", "votes"), *rows])
    for form in ("csv", "json"):
        screen, terminal = pty.openpty()
        done = subprocess.run(
            [*COMMAND, *ON_COUNTS, *PUBLIC, *SURE, "--k", str(len(UNSAFE)), "--format", form,
             "--receipt", "\x1b[31mno folder/\u202er.json"][: -2 if form == "json" else None],
            cwd=folder, env={"PYTHONPATH": str(ROOT)}, stdout=terminal, stderr=subprocess.PIPE,
            check=False,
        )  # fmt: skip
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # how a terminal says that it is closed
            while part := os.read(screen, 1 << 16):
                shown += part
        os.close(screen)
        for text in (shown.decode().replace("\r\n", "\n"), done.stderr.decode()):
            assert not set(text) & (set("".join(UNSAFE)) - set("abfgixy[2J\n")), text
        if form == "json":
            assert b"fi\\u2028g" in shown


def test_a_missing_folder_for_temporary_files(folder, refused, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(folder / "none"))
    line = refused(*ONE, *RECEIPT)
    assert "TMPDIR" in line
    assert "none" in line


# ---------------------------------------------------------------- for the holder of the data alone


ONCE = "rows (each user and item once)"


def test_a_dry_run_tells_how_much_matches_and_draws_nothing(folder, released, no_draw):
    for arguments, found in (
        (
            (*ON_ROWS, *LISTED),
            f"7 of 7 {ONCE} have an item of the list, and 3 of its 4 items occur",
        ),
        ((*ON_COUNTS, *LISTED), "6,010 of 6,010 counted users have an item of the list, and 3 of"),
        ((*ON_ROWS, *UNKNOWN, "--max-items", 1), f"7 {ONCE}, with 3 items"),
    ):
        output = released(*arguments, *SURE, "--k", 2, *RECEIPT, "--output", "out", "--dry-run")
        assert output == ""
        (line,) = released.told.splitlines()
        assert "NOT FOR PUBLICATION" in line
        assert found in line
    (folder / "items.txt").write_text("Apple\nPlum\n")
    released(*ONE, "--dry-run")
    assert f"0 of 7 {ONCE} have an item of the list, and 0 of its 2 items occur" in released.told
    assert sorted(os.listdir(folder)) == ["counts.csv", "items.txt", "rows.csv"]
