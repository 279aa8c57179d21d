"""The ledger: nothing is drawn that it does not hold, and nothing is overspent."""

import json
import multiprocessing
import os
import secrets
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dp_topk.release import command, ledger
from dp_topk.release.command import main
from dp_topk.release.ledger import LedgerError, charge, check, read

ROOT = Path(__file__).parents[2]
BUDGET = ("1", "1e-6")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def spent(path, dataset="shop"):
    return ledger.accounts(read(path))[dataset].spent


def test_numbers_are_added_up_exactly(path):
    """Ten tenths are one: as doubles they are less, and three times a tenth is more than 0.3."""
    for number in range(1, 11):
        assert charge(path, "shop", 0.1, "1e-7", budget=BUDGET).entry == number
    assert spent(path) == (1, Fraction(1, 10**6))
    with pytest.raises(LedgerError, match=r"epsilon 1e-400 .* epsilon 0 and delta 0 is left"):
        charge(path, "shop", "1e-400")
    charge(path, "other", "1/3", budget=("1/3", 0))
    with pytest.raises(LedgerError, match="nothing was drawn"):
        charge(path, "other", "1e-30")
    assert len(read(path)) == 11


def test_lines_are_only_added(path):
    charge(path, "shop", "0.25", budget=BUDGET)
    before = path.read_bytes()
    charge(path, "shop", "0.25", release="Joint, k = 3")
    after = path.read_bytes()
    assert after.startswith(before)
    entry = json.loads(after[len(before) :])
    assert entry.pop("date").endswith("Z")
    assert entry == {
        "entry": 2, "dataset": "shop", "epsilon": "0.25", "delta": "0",
        "neighbors": "add-remove", "budget": ["1", "0.000001"], "release": "Joint, k = 3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "options", "about"),
    [
        (("shop", "0.76"), {}, "epsilon 0.75 and delta 0.000001 is left"),
        (("shop", "0.5", "2e-6"), {}, "this needs epsilon 0.5 and delta 0.000002"),
        (("shop", "0.5"), {"budget": ("2", "0")}, "can be lowered, but not raised"),
        (("shop", "0.5"), {"budget": ("1", "1e-3")}, "can be lowered, but not raised"),
        (("shop", "0.5"), {"budget": ("0.7", "0")}, "epsilon 0.45 and delta 0 is left"),
        (("shop", "0.1"), {"budget": ("0.2", "0")}, "epsilon 0 and delta 0 is left"),
        (("shop", "0.5"), {"neighbors": "swap"}, "cannot be added"),
        (("shpo", "0.5"), {}, "no dataset 'shpo' yet; check the name"),
        (("", "0.5"), {"budget": BUDGET}, "needs a name"),
        (("new", "2"), {"budget": BUDGET}, "is left"),
    ],
)
def test_what_does_not_fit_is_refused_and_not_written(path, arguments, options, about):
    charge(path, "shop", "0.25", budget=BUDGET)
    before = path.read_bytes()
    for refuse in (charge, check):
        with pytest.raises(LedgerError, match=about):
            refuse(path, *arguments, **options)
    assert path.read_bytes() == before


def test_a_budget_that_is_lowered_stays_lowered(path):
    charge(path, "shop", "0.25", budget=BUDGET)
    charge(path, "shop", "0.25", budget=("0.6", "0"))
    with pytest.raises(LedgerError, match=r"0\.1 and delta 0 is left"):
        charge(path, "shop", "0.25")
    with pytest.raises(LedgerError, match="not raised"):
        charge(path, "shop", "0.05", budget=BUDGET)


def test_a_refused_first_entry_leaves_no_file(path):
    with pytest.raises(LedgerError):
        charge(path, "shop", "2", budget=BUDGET)
    with pytest.raises(LedgerError):
        charge(path, "shop", "2")
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "about"),
    [
        ("user,item\nann,fig\n", "line 1, is not an entry"),
        ('{"entry": 1}\n', "line 1, is not an entry"),
        ("[]\n", "line 1, is not an entry"),
        ("[" * 100_000 + "\n", "line 1, is not an entry"),
        ("{GOOD}\n\n", "line 2, is not an entry"),
        ('{GOOD}\n{"entry": 2', "line 2, is cut off"),
        ("{GOOD}\n{GOOD}\n", "line 2, is not entry 2"),
        ("\0" * 20 + "\n", "line 1, is not an entry"),
        ("\xff\n", "line 1, is not an entry"),
    ],
)
def test_a_file_that_is_no_ledger_is_not_written_to(path, content, about):
    charge(path, "shop", "0.25", budget=BUDGET)
    good = path.read_text().rstrip("\n")
    path.write_text(content.replace("{GOOD}", good), encoding="latin-1")
    before = path.read_bytes()
    for arguments in ((charge, path, "shop", "0.1"), (read, path)):
        with pytest.raises(LedgerError, match=about) as caught:
            arguments[0](*arguments[1:])
        assert "ann" not in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("tampered", ["-0.25", "0", "nan", 0, None, "1_0"])
def test_an_entry_cannot_take_back(path, tampered):
    charge(path, "shop", "0.25", budget=BUDGET)
    entry = json.loads(path.read_text())
    path.write_text(json.dumps(entry | {"epsilon": tampered}) + "\n")
    with pytest.raises(LedgerError, match="line 1"):
        read(path)


def test_links_and_devices_are_refused(path, tmp_path):
    (tmp_path / "real.jsonl").touch()
    path.symlink_to("real.jsonl")
    with pytest.raises(LedgerError, match="is a link"):
        charge(path, "shop", "0.25", budget=BUDGET)
    with pytest.raises(LedgerError, match="not a regular file"):
        charge("/dev/null", "shop", "0.25", budget=BUDGET)
    with pytest.raises(LedgerError, match="no folder"):
        charge(tmp_path / "no" / "ledger", "shop", "0.25", budget=BUDGET)
    with pytest.raises(LedgerError, match="cannot be used"):
        charge(tmp_path, "shop", "0.25", budget=BUDGET)
    assert (tmp_path / "real.jsonl").read_bytes() == b""


def test_a_full_disk_leaves_the_ledger_as_it_was(path, monkeypatch):
    charge(path, "shop", "0.25", budget=BUDGET)
    before = path.read_bytes()

    def half(descriptor, data):
        os.write(descriptor, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger, "write_all", half)
    with pytest.raises(OSError, match="No space"):
        charge(path, "shop", "0.25")
    with pytest.raises(OSError, match="No space"):
        charge(path.with_name("new"), "shop", "0.25", budget=BUDGET)
    assert path.read_bytes() == before
    assert not path.with_name("new").exists()


def take(path, start):
    start.wait(30)
    try:
        charge(path, "shop", "0.1", budget=("0.5", 0))
    except LedgerError:
        sys.exit(3)


def test_of_parallel_runs_only_those_fit_that_fit_one_after_the_other(path):
    """Eight that want a tenth of a half, all at once, and the file is not there yet."""
    context = multiprocessing.get_context("fork")
    start = context.Event()
    processes = [context.Process(target=take, args=(path, start)) for _ in range(8)]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(60)
    assert sorted(process.exitcode for process in processes) == [0] * 5 + [3] * 3
    assert spent(path) == (Fraction(1, 2), 0)


# ---------------------------------------------------------------- with the command

RELEASE = ("release", "counts.csv", "--item", "item", "--count", "votes", "--domain-is-public")
CHARGED = (*RELEASE, "--k", "1", "--epsilon", "0.75", "--ledger", "ledger.jsonl",
           "--dataset", "shop", "--budget", "1,1e-6")  # fmt: skip


@pytest.fixture
def shop(tmp_path, monkeypatch):
    (tmp_path / "counts.csv").write_text("item,votes\nfig,70\nplum,40\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_entry_is_on_the_disk_before_anything_is_drawn(shop, monkeypatch):
    """When the draw begins it can be read and has been synced; else a crash would cost nothing."""
    seen, synced = [], []
    real_fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda number: (synced.append(os.fstat(number).st_ino), real_fsync(number))
    )

    def draw(table, *arguments, **options):
        seen.extend(read("ledger.jsonl"))
        assert os.stat("ledger.jsonl").st_ino in synced
        assert os.stat(".").st_ino in synced
        return ["fig"]

    monkeypatch.setattr(command.release, "top_k", draw)
    main([*CHARGED, "--receipt", "receipt.json"])
    assert [(entry.spent.epsilon, entry.release) for entry in seen] == [
        (Fraction(3, 4), "Joint, k = 1")
    ]
    receipt = json.loads((shop / "receipt.json").read_text())
    assert receipt["ledger"] == {
        "dataset": "shop", "entry": 1, "budget": {"epsilon": "1", "delta": "0.000001"},
    }  # fmt: skip


def test_no_random_bit_is_used_before_the_entry_is_there(shop, monkeypatch):
    """Neither by what draws nor by anything else that uses the operating system's randomness."""
    used = []

    def randbits(n, real=secrets.randbits):
        used.append((shop / "ledger.jsonl").exists() and len(read("ledger.jsonl")))
        return real(n)

    monkeypatch.setattr(
        command.release,
        "top_k",
        lambda *arguments, real=command.release.top_k, **options: real(
            *arguments, **options, randbits=randbits
        ),
    )
    main(CHARGED)
    assert used
    assert set(used) == {1}


def test_a_crash_counts_as_spent(shop, monkeypatch, capfd):
    code = (
        "import os, signal; from dp_topk.release import command;"
        "command.release.top_k = lambda *a, **o: os.kill(os.getpid(), signal.SIGKILL);"
        f"command.main({list(CHARGED)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
    assert spent("ledger.jsonl") == (Fraction(3, 4), 0)
    with pytest.raises(SystemExit) as caught:
        main(CHARGED)
    assert caught.value.code == 2
    output, errors = capfd.readouterr()
    assert output == ""
    assert "epsilon 0.25 and delta 0.000001 is left" in errors


def test_a_run_that_overspends_draws_nothing_and_leaves_nothing(shop, monkeypatch, capfd):
    """Also when another run takes the rest after the first look."""
    monkeypatch.setattr(command.release, "top_k", lambda *a, **o: pytest.fail("drawn"))
    late = (*CHARGED[:-2], "--receipt", "r.json", "--output", "o.csv")
    charge("ledger.jsonl", "shop", "0.5", budget=BUDGET)
    before = sorted(os.listdir())
    for first_look in (ledger.check, lambda **account: None):
        monkeypatch.setattr(ledger, "check", first_look)
        with pytest.raises(SystemExit) as caught:
            main(late)
        assert caught.value.code == 2
        output, errors = capfd.readouterr()
        assert (output, len(errors.splitlines())) == ("", 1)
        assert "is left in ledger.jsonl; nothing was drawn" in errors
        assert sorted(os.listdir()) == before


def test_epsilon_of_the_counts_and_delta_are_charged(shop):
    unknown = (*RELEASE[:-1], "--unknown-domain", "--delta", "1e-7", "--k", "1", *CHARGED[9:])
    main([*unknown, "--counts-epsilon", "0.2"])
    assert spent("ledger.jsonl") == (Fraction(95, 100), Fraction(1, 10**7))


def test_a_dry_run_spends_nothing(shop):
    main([*CHARGED, "--dry-run"])
    assert not (shop / "ledger.jsonl").exists()


def test_the_table(shop, capfd):
    main(CHARGED)
    name = "na\x1bme\u202e\udcff"
    charge("ledger.jsonl", name, "1/3", "0.5", budget=(1, "0.5"), neighbors="swap")
    capfd.readouterr()
    main(["ledger", "ledger.jsonl"])
    output, errors = capfd.readouterr()
    assert errors == ""
    rows = [line.split("  ") for line in output.splitlines()]
    rows = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert rows[0] == ["entry", "date", "dataset", "release", "epsilon", "delta"]
    assert rows[1][0] == "1"
    assert rows[1][2:] == ["shop", "Joint, k = 1", "0.75", "0"]
    assert rows[4:] == [
        ["dataset", "neighbors", "spent", "budget", "left"],
        ["shop", "add-remove", "epsilon", "0.75", "1", "0.25"],
        ["delta", "0", "0.000001", "0.000001"],
        ["na\\x1bme\\u202e\\udcff", "swap", "epsilon", "1/3", "1", "2/3"],
        ["delta", "0.5", "0.5", "0"],
    ]
    for arguments in (["ledger", "none.jsonl"], ["ledger", "counts.csv"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        output, errors = capfd.readouterr()
        assert output == ""
        assert errors.startswith("dp-topk ledger: error: ")
