"""`dp-topk release`, as users run it: what it prints, what it refuses, what it leaves behind."""

import csv
import errno
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import dp_topk
from dp_topk.release import _counting
from dp_topk.release._counting import Domain, count_users, distinct
from dp_topk.release.command import main

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "dp_topk.release")
ROWS = """user,item,price
ann,apple,1
ann,apple,2
ann,"pear, green",1
bob,apple,1
bob,plum,3
cyd,apple,1
cyd,"pear, green",1
dan,apple,1
"""
ITEMS = "apple\nplum\npear, green\nfig\n"
COUNTS = "item,votes\napple,4000\nplum,10\nfig,2000\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "items.txt").write_text(ITEMS)
    (tmp_path / "counts.csv").write_text(COUNTS)
    return tmp_path


def run(folder, *arguments, **options):
    """The command in a process of its own, as `python -m release`."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **options,
    )


ON_ROWS = ("rows.csv", "--user", "user", "--item", "item")
ON_COUNTS = ("counts.csv", "--item", "item", "--count", "votes")
LISTED = ("--domain", "items.txt")
PUBLIC = ("--domain-is-public",)
RECEIPT = ("--k", "2", "--receipt", "receipt.json")
SURE = ("--epsilon", "1e6")  # so large that the result is the true top


def released(folder, *arguments):
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(folder, *arguments):
    """The one sentence, which is all that is printed; nothing is left behind."""
    before = sorted(path.name for path in folder.iterdir())
    done = run(folder, *arguments)
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (done.returncode, done.stdout) == (2, "")
    return sentence(done.stderr)


def sentence(text):
    (line,) = text.splitlines()
    assert line.startswith(("dp-topk release: error: ", "dp-topk: error: "))
    assert line.endswith(".")
    return line


@pytest.fixture
def refused_here(folder, monkeypatch, capfd):
    """The same without a process of its own, which takes a hundred times as long."""
    monkeypatch.chdir(folder)

    def refused_here(*arguments):
        before = sorted(path.name for path in folder.iterdir())
        with pytest.raises(SystemExit) as caught:
            main(["release", *map(str, arguments)])
        output, errors = capfd.readouterr()
        assert sorted(path.name for path in folder.iterdir()) == before
        assert (caught.value.code, output) == (2, "")
        return sentence(errors)

    return refused_here


# ---------------------------------------------------------------- what comes out


def test_rows_best_first(folder):
    assert released(folder, *ON_ROWS, *LISTED, *SURE, "--k", 3) == "apple\npear, green\nplum\n"


def test_counts_best_first(folder):
    output = released(folder, *ON_COUNTS, *PUBLIC, *SURE, "--k", 3, "--neighbors", "swap")
    assert output == "apple\nfig\nplum\n"


def test_csv_has_a_header_and_quotes(folder):
    output = released(folder, *ON_ROWS, *LISTED, *SURE, "--k", 2, "--format", "csv")
    assert output == 'rank,item\n1,apple\n2,"pear, green"\n'
    output = released(folder, *ON_ROWS, *LISTED, *SURE, "--k", 2, "--format", "csv", "--set")
    header, *items = csv.reader(output.splitlines())
    assert header == ["item"]
    assert sorted(items) == [["apple"], ["pear, green"]]


def test_a_user_counts_once_for_an_item(folder):
    """Else ann alone would lift pears over plums."""
    rows = "user,item\n" + 50 * "ann,pear\n" + "bob,plum\ncyd,plum\n"
    (folder / "rows.csv").write_text(rows)
    assert released(folder, *ON_ROWS, *PUBLIC, *SURE, "--k", 2) == "plum\npear\n"


def test_items_without_rows_count_nothing_and_unknown_items_are_left_out(folder):
    (folder / "items.txt").write_text("\ufefffig\r\nplum\r\n\r\n", encoding="utf-8")
    assert released(folder, *ON_ROWS, *LISTED, *SURE, "--k", 2) == "plum\nfig\n"
    assert released(folder, *ON_COUNTS, *LISTED, *SURE, "--k", 2) == "fig\nplum\n"


def test_output_is_random(folder):
    """Thirty items in nearly any order: the same twice has a probability of about 1/30!."""
    (folder / "items.txt").write_text("".join(f"item {n}\n" for n in range(30)))
    one, other = (
        released(folder, *ON_ROWS, *LISTED, "--epsilon", "1/1000", "--k", 30) for _ in range(2)
    )
    assert sorted(one.splitlines()) == sorted(other.splitlines())
    assert one != other


def test_it_says_that_epsilon_is_spent_and_nothing_about_the_data(folder):
    done = run(folder, *ON_COUNTS, *PUBLIC, "--epsilon", "1/3", "--k", 2)
    (line,) = done.stderr.splitlines()
    assert "spends epsilon = 1/3" in line
    assert "again" in line
    assert not re.search(r"[1-9]\d", line)


def test_the_receipt_holds_the_promise_and_nothing_about_the_data(folder):
    settings = ("--k", 2, "--epsilon", "0.50", "--neighbors", "swap", "--receipt")
    released(folder, *ON_COUNTS, *PUBLIC, *settings, "receipt.json")
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    assumptions = receipt.pop("assumptions")
    assert receipt.pop("software") in (f"dp-topk {dp_topk.__version__}", "dp-topk (not installed)")
    assert receipt == {
        "mechanism": "exponential mechanism over sequences (Joint)",
        "guarantee": "epsilon-differential privacy",
        "epsilon": "0.50",
        "neighbors": "swap",
        "protects": "one user in place of another, with any number of items",
        "k": 2,
        "d": 3,
    }
    assert any("vouches" in text for text in assumptions)
    assert any("public" in text for text in assumptions)

    released(folder, *ON_ROWS, *LISTED, *settings, "other.json", "--set")
    other = json.loads((folder / "other.json").read_text(encoding="utf-8"))
    assert other["mechanism"] == "exponential mechanism over sets (Canonical)"
    assert other["d"] == 4
    assert not any("vouches" in text for text in other["assumptions"])
    assert {path.name for path in folder.iterdir()} == {
        "rows.csv", "items.txt", "counts.csv", "receipt.json", "other.json",
    }  # fmt: skip
    # The same for other data: it depends on the options and on the domain alone.
    (folder / "rows.csv").write_text("user,item\nzoe,fig\n")
    released(folder, *ON_ROWS, *LISTED, *settings, "third.json", "--set")
    assert json.loads((folder / "third.json").read_text(encoding="utf-8")) == other


def test_help_says_who_vouches_and_that_epsilon_is_spent(folder):
    text = " ".join(released(folder, "--help").split())
    assert "it is you who vouches" in text
    assert "Every run spends epsilon again" in text


def test_the_entry_point_is_this_command(capsys, folder):
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"dp-topk": "dp_topk.release.command:main"}
    for arguments in (["--help"], ["release", "--help"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 0
    assert "--domain-is-public" in capsys.readouterr().out


# ---------------------------------------------------------------- what is refused


def test_without_a_public_domain_it_refuses_and_explains(folder):
    line = refused(folder, *ON_ROWS, *SURE, "--k", 2)
    assert "--domain FILE" in line
    assert "--domain-is-public" in line
    assert "depends on the data" in line


def test_bad_input_in_a_process_of_its_own(folder):
    (folder / "rows.csv").write_text("user,item\nann,fig\nbob\n")
    (folder / "counts.csv").write_text("item,votes\nfig,twelve\n")
    assert "rows.csv, line 3" in refused(folder, *ON_ROWS, *PUBLIC, *SURE, "--k", 1)
    assert "counts.csv, line 2" in refused(folder, *ON_COUNTS, *PUBLIC, *SURE, "--k", 1)
    assert "epsilon is '0'" in refused(folder, *ON_ROWS, *PUBLIC, "--epsilon", 0, "--k", 1)
    assert "none.csv" in refused(folder, "none.csv", *ON_ROWS[1:], *PUBLIC, *SURE, "--k", 1)


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ((*ON_ROWS, *LISTED, "--epsilon", "1"), "--k"),
        ((*ON_ROWS, *LISTED, "--k", 2), "--epsilon"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", "two"), "'two' is not an integer above 0"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 0), "--k"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 5), "number of items, 4"),
        ((*ON_ROWS, *PUBLIC, *SURE, "--k", 4), "number of items, 3"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "0"), "epsilon is '0'"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "-1"), "epsilon is '-1'"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "nan"), "epsilon is 'nan'"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "1e99999999999"), "1e-400 and 1e400"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--neighbors", "some"), "--neighbors"),
        ((*ON_ROWS, *LISTED, *PUBLIC, *SURE, "--k", 2), "--domain-is-public"),
        ((*ON_ROWS, "--domain-is-pub", *SURE, "--k", 2), "--domain-is-pub"),
        ((*ON_ROWS, "--count", "price", *LISTED, *SURE, "--k", 2), "--count"),
        (("rows.csv", "--item", "item", *LISTED, *SURE, "--k", 2), "--user --count"),
        (("none.csv", *ON_ROWS[1:], *LISTED, *SURE, "--k", 2), "none.csv"),
        ((".", *ON_ROWS[1:], *LISTED, *SURE, "--k", 2), "directory"),
        ((*ON_ROWS, "--domain", "none.txt", *SURE, "--k", 2), "none.txt"),
        (("rows.csv", "--user", "person", "--item", "item", *LISTED, *SURE, "--k", 2),
         "no column 'person'; its first line must name"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt", "rows.csv"), "rows.csv exists"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt", "no/r.json"), "no folder no"),
    ],
)  # fmt: skip
def test_bad_options(refused_here, arguments, about):
    assert about in refused_here(*arguments)


@pytest.mark.parametrize(
    ("rows", "about"),
    [
        ("", "no column 'user'"),
        ("ann,fig\nbob,fig\n", "no column 'user'"),
        ("user,item\n", "no rows"),
        ("user,item,user\na,b,c\n", "more than one column 'user'"),
        ("user,item\nann,fig\nbob\n", "line 3, does not have as many values"),
        ("user,item\nann,fig,7\n", "line 2, does not have as many values"),
        ("user,item\nann,fig\n,fig\n", "line 3, has no user in column 'user'"),
        ("user,item\nann,\n", "line 2, has no item in column 'item'"),
        ('user,item\nann,"fig\n', "cannot be read as CSV"),
        ('user,item\nann,"fig"s\n', "line 2, cannot be read as CSV"),
        ('user,item\nann,"fi\ng"\n', "--format csv"),
        (f"user,item\nann,{200_000 * 'g'}\n", "line 2, cannot be read as CSV"),
    ],
)
def test_bad_rows(folder, refused_here, rows, about):
    (folder / "rows.csv").write_text(rows)
    line = refused_here(*ON_ROWS, *PUBLIC, *SURE, "--k", 1)
    assert about in line
    assert not re.search(r"\bann\b", line)


@pytest.mark.parametrize(
    ("counts", "about"),
    [
        ("item,votes\nfig,12.5\n", "line 2, has something else than a count in column 'votes'"),
        ("item,votes\nfig,-125\n", "line 2, has something else than a count"),
        ("item,votes\nfig,\n", "line 2, has something else than a count"),
        ("item,votes\nfig,１２５\n", "line 2, has something else than a count"),
        (f"item,votes\nfig,125{20 * '0'}\n", "line 2, has something else than a count"),
        (
            f"item,votes\nfig,{20 * '0'}9007199254740993\n",
            "line 2, has something else than a count",
        ),
        ("item,votes\nfig,125\nplum,3\nfig,125\n", "line 4, has an item that an earlier line has"),
    ],
)
def test_bad_counts(folder, refused_here, counts, about):
    (folder / "counts.csv").write_text(counts, encoding="utf-8")
    line = refused_here(*ON_COUNTS, *PUBLIC, *SURE, "--k", 1)
    assert about in line
    assert "125" not in line


def test_counts_up_to_2_to_the_53(folder):
    (folder / "counts.csv").write_text("item,votes\nfig,9007199254740992\nplum,0007\nkiwi,000\n")
    assert released(folder, *ON_COUNTS, *PUBLIC, *SURE, "--k", 3) == "fig\nplum\nkiwi\n"


def test_bad_domains(folder, refused_here):
    twice = "lists 'fig' more than once"
    for content, about in [
        ("", "no items"),
        ("fig\nplum\nfig\n", twice),
        ("fig\nfig\n", twice),
        ("item\nfig\n", "begins with 'item', the name of the column"),
        ("fig\nplum \n", "lists 'plum ', with blanks around it"),
    ]:
        (folder / "items.txt").write_text(content)
        assert about in refused_here(*ON_ROWS, *LISTED, *SURE, "--k", 1)


@pytest.mark.parametrize("name", ["rows.csv", "items.txt"])
def test_files_that_are_not_text(folder, refused_here, name):
    (folder / name).write_bytes(b"user,item\n\xff\xfe,\x00\n")
    assert f"{name} is not text in UTF-8" in refused_here(*ON_ROWS, *LISTED, *SURE, "--k", 1)


def test_a_large_epsilon_is_named_and_the_version_told(folder, monkeypatch, capfd):
    monkeypatch.chdir(folder)
    for epsilon, named in (("10", False), ("10.5", True)):
        main(["release", *ON_COUNTS, *PUBLIC, "--k", "1", "--epsilon", epsilon])
        assert ("promises next to nothing" in capfd.readouterr().err) == named
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capfd.readouterr().out.startswith("dp-topk ")


# ---------------------------------------------------------------- whole or not at all


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_without_room_for_the_output_there_is_no_receipt(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *ON_ROWS, *LISTED, *SURE, *RECEIPT],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "the output cannot be written (No space left" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["counts.csv", "items.txt", "rows.csv"]


def test_an_interrupt_leaves_nothing_behind(folder):
    """Rows come from a pipe that stays open, so that the command is surely still reading."""
    process = subprocess.Popen(
        [*COMMAND, "/dev/stdin", *ON_ROWS[1:], *LISTED, *SURE, *RECEIPT],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background may have had it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    process.stdin.write(ROWS * 20_000)  # more than the pipe holds: it has begun to read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert errors == "dp-topk release: stopped.\n"
    assert not (folder / "receipt.json").exists()


# ---------------------------------------------------------------- rows that memory does not hold


def test_rows_put_away_in_files_are_counted_alike(monkeypatch, tmp_path):
    """Names hold quotes, line breaks, digits and letters of many scripts."""
    rng = random.Random(1)
    users = [f"{n}" for n in range(40)] + ["a b", "1 2", 'q"', "line\nbreak", "ж", "𝛑", "\x00", " "]
    rows = [(rng.choice(users), f"item {rng.randrange(30)}") for _ in range(3000)]
    with open(tmp_path / "rows.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("user", "item"), *rows])
    truth = Counter(item for _, item in set(rows))
    for held in (7, 500, 10**6):
        monkeypatch.setattr(_counting, "HELD", held)
        domain = Domain()
        counts = count_users(tmp_path / "rows.csv", "user", "item", domain)
        assert dict(zip(domain, counts, strict=True)) == truth


def test_equal_hashes_do_not_merge_pairs(monkeypatch):
    """A hash says in which file a pair is kept, and nothing more."""
    monkeypatch.setattr(_counting, "PARTS", 1)
    monkeypatch.setattr(_counting, "HELD", 3)
    assert sorted(distinct(["0 a", "1 a", "0 b", "0 a", "1 a", "0 a b"])) == [0, 0, 0, 1]


def test_a_full_disk_is_reported(monkeypatch, refused_here):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_counting, "HELD", 2)
    monkeypatch.setattr(_counting, "TemporaryFile", lambda mode: Full())
    line = refused_here(*ON_ROWS, *LISTED, *SURE, "--k", 1)
    assert "No space left on device" in line
    assert "TMPDIR" in line
