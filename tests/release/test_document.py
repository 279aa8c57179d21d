"""What docs/release.md and the README show is run as it stands there."""

import csv
import hashlib
import json
import re
import shlex
from pathlib import Path

import pytest

from benchmarks.release import LOG
from dp_topk.release.command import main

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table():
    """The commands of the first table. An ellipsis stands for the last whole one above it."""
    found = []
    for words in re.findall(r"^\|[^|]+\| `((?:dp-topk|…) [^`]+)` \|", DOCUMENT, re.MULTILINE):
        if not words.startswith("…"):
            whole = words
        found.append(words.replace("…", whole))
    return found


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Twelve items; the first ten have 600, 580, ... users, the others one."""
    items = [f"item {number}" for number in range(12)]
    users = [*range(600, 400, -20), 1, 1]
    rows = [
        f"user {user},{item}\n"
        for item, number in zip(items, users, strict=True)
        for user in range(number)
    ]
    counts = [f"{item},{number}\n" for item, number in zip(items, users, strict=True)]
    (tmp_path / "purchases.csv").write_text("user,item\n" + "".join(rows))
    (tmp_path / "counts.csv").write_text("item,users\n" + "".join(counts))
    (tmp_path / "items.txt").write_text("\n".join(items) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_has_all_options_that_choose_what_is_promised():
    words = {word for command in table() for word in command.split()}
    assert words >= {
        "--domain", "--domain-is-public", "--unknown-domain", "--set", "--delta", "--whole",
        "--counts", "--counts-epsilon", "--max-items", "--ledger", "--budget", "--dry-run",
    }  # fmt: skip


@pytest.mark.parametrize("command", table())
def test_commands_of_the_table(shop, capfd, command):
    main(shlex.split(command)[1:])
    output, told = capfd.readouterr()
    if "dp-topk query" in command:
        assert "GROUP BY" in output
        return
    assert ("NOT FOR PUBLICATION" in told) == ("--dry-run" in command)
    items = output.splitlines()["rank,item" in output :]
    if "--dry-run" in command:
        assert items == []
    elif "--unknown-domain" in command:
        assert len(items) in ((0, 10) if "--whole" in command else range(11))
    else:
        assert len(items) == 10


def test_the_worked_example(shop, capfd):
    """The README, the document and the benchmark have the same command."""
    (block,) = re.findall(r"```console\n(\$ dp-topk release.*?)```", DOCUMENT, re.DOTALL)
    release, ledger = (shlex.split(line) for line in block.replace("\\\n", " ").split("$ ")[1:])
    assert release == ["dp-topk", "release", "purchases.csv", *LOG.split()]
    assert " ".join(release) in README
    main(release[1:])
    with open("top.csv") as file:
        rows = list(csv.DictReader(file))
    assert all([*row] == ["rank", "item", "count", "low", "high"] for row in rows)
    receipt = json.loads(Path("receipt.json").read_text())
    assert receipt["output"]["sha256"] == hashlib.sha256(Path("top.csv").read_bytes()).hexdigest()
    capfd.readouterr()
    main(ledger[1:])
    assert re.search(r"purchases +add-remove +epsilon +2 +4 +2", capfd.readouterr().out)
