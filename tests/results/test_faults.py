"""Whatever cuts a run short, a second run finishes, with the same bytes; and whatever is wrong
with a file or with the config is named in one sentence.

A run that was killed leaves Snakemake's lock behind; `snakemake --unlock` takes it away.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from dp_topk.mechanisms import Profile
from tests.copies import (
    ERRORS,
    SLOW,
    TINY,
    Project,
    ended,
    mounted,
    until,
)
from tests.data.faulty_server import FaultyServer, stalled
from workflow.scripts.common import InputError, intact, logged, write_csv, written
from workflow.scripts.data.profiles import read_profile, write_facts, write_profile
from workflow.scripts.trials.cells import run_cells

# ------------------------------------------------------------------ cut short

# Who gets the signal, and which signals: for each of them a run is started and hit.
FAULTS = {
    "snakemake": ("SIGKILL", "SIGINT", "SIGTERM", "SIGKILL", "SIGTERM", "SIGINT", "SIGKILL"),
    "one job": ("SIGKILL", "SIGTERM", "SIGINT"),
    # Ctrl-C, a closed terminal, power loss
    "all": ("SIGINT", "SIGHUP", "SIGKILL"),
}
COUNTED = [f"{len(signals)} faults to {target}" for target, signals in FAULTS.items()]


@pytest.mark.slow
@pytest.mark.parametrize("target", FAULTS, ids=COUNTED)
def test_a_run_that_was_cut_short_is_finished_by_the_next(target, tmp_path, finished):
    project, moments = Project(tmp_path / "project", TINY), random.Random(target)
    for name in FAULTS[target]:
        assert any(hit(project, target, name, moments) for _ in range(5)), "always too late"

    project.resumes(*ERRORS)
    assert project.lasting() == finished.lasting()
    assert not project.unfinished()


def hit(project, target, name, moments):
    """Start a run and send a signal at a random moment; whether the run was still going on."""
    made, more = trials_made(project), moments.randrange(-1, 3)
    project.finishes("--unlock")
    process = project.start(*ERRORS)
    if more < 0:  # before the first job starts
        time.sleep(moments.uniform(0, 1.5))
    while process.poll() is None and trials_made(project) < made + more:
        time.sleep(0.01)
    time.sleep(moments.uniform(0, 0.3))
    in_time = send(name, process, target)
    done = ended(process)
    if not in_time and done.returncode == 0:
        shutil.rmtree(project.root / "results")  # there was nothing left to do
    return in_time


def trials_made(project):
    return len(list(project.root.glob("results/trials/*/*/*[0-9].csv")))


def send(name, process, target):
    """Send a signal to Snakemake, to one of its jobs, or to all; False if Snakemake has ended."""
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            snakemake = psutil.Process(process.pid)
            children = snakemake.children(recursive=True)
            jobs = [child for child in children if is_job(child.cmdline())]
            victims = {"snakemake": [snakemake], "one job": jobs[:1], "all": [snakemake, *children]}
            for victim in victims[target]:
                victim.send_signal(signal.Signals[name])
            if victims[target]:
                return True
        time.sleep(0.01)
    return False


def is_job(command):
    return len(command) == 2 and ".snakemake/scripts/" in command[1]


def test_a_killed_run_is_named_and_unlocked_and_its_jobs_do_no_harm(tmp_path, finished):
    config = {**TINY, "mechanisms": ["slow"], "ks": [2], "trials": 1}
    project = finished.copy(tmp_path / "project", config)
    (project.root / "mechanisms" / "slow.py").write_text(SLOW, encoding="utf-8")
    first = project.start(*ERRORS)
    until((project.root / "begun").exists, first)
    first.kill()
    ended(first)

    assert "removed with the --unlock argument" in " ".join(project.run(*ERRORS).stdout.split())
    project.finishes("--unlock")
    (project.root / "begun").unlink()
    second = project.start(*ERRORS)
    until((project.root / "begun").exists, second)  # beside the job of the first
    (project.root / "go-on").touch()
    done = ended(second)
    assert done.returncode == 0, done.stdout
    time.sleep(1)  # for the job of the first
    assert len(list(project.root.glob("results/trials/games/slow/*"))) == 2
    assert not project.unfinished()


@pytest.mark.slow
def test_no_result_stays_as_it_was_when_all_jobs_that_change_it_were_killed(tmp_path, finished):
    project = finished.copy(tmp_path / "project", {**TINY, "delta": 0.01})
    process = project.start(*ERRORS, "--keep-going")
    while send("SIGKILL", process, "one job"):
        pass
    assert ended(process).returncode == 1
    assert trials_made(project) == 6  # of joint, which does not look at delta

    project.finishes(*ERRORS)
    assert trials_made(project) == 12
    counts = project.root / "data" / "counts" / "games.csv"
    profile = Profile(*read_profile(counts, counts.with_suffix(".json")))
    setting = {"mechanism": "cdp_peel", "delta": 0.01, "neighbors": "add-remove"}
    rows, _ = run_cells(
        profile, "games", "cdp_peel", "0.01", TINY["ks"], range(1, 4), 2022, setting
    )
    # All k items are returned, so that the column that says how many is left out.
    expected = [",".join(map(str, ("games", "cdp_peel", *row[:-1]))) for row in rows]
    made = (project.root / "results" / "trials.csv").read_text(encoding="utf-8").splitlines()
    assert [line for line in made if "cdp_peel" in line] == expected


def test_an_original_put_there_after_the_download_was_cut_off_is_used(tmp_path):
    with FaultyServer() as server:
        url = server.at("/pets.csv", stalled(b"pet,votes\n", 4))
        download = {"url": url, "page": "https://example.org", "filename": "pets.csv"}
        pets = {"title": "Pets", "source": "download", "download": download}
        pets |= {"counts": {"column": "votes"}}
        project = Project(tmp_path, {**TINY, "datasets": {**TINY["datasets"], "pets": pets}})
        process = project.start("data/counts/pets.csv")
        until(lambda: server.requests, process)
        os.killpg(process.pid, signal.SIGKILL)
        ended(process)
    original = tmp_path / "data" / "raw" / "pets" / "pets.csv"
    original.write_text("pet,votes\ncat,3\ndog,3\n", encoding="utf-8")
    project.resumes("data/counts/pets.csv")
    assert (tmp_path / "data/counts/pets.csv").read_text(encoding="utf-8") == "count,items\n3,2\n"


# ------------------------------------------------------------------ a full disk


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_run_goes_on_when_there_is_space(tmp_path, finished):
    project = Project(tmp_path / "project", TINY)
    results = project.root / "results"
    try:
        with mounted(results, "size=48k"):
            printed = project.fails(*ERRORS)
            assert re.search("^error: results/.*: No space left on device$", printed, re.M)
            assert not project.unfinished()
            expected = finished.lasting()
            made = project.lasting()
            assert len(made) < len(expected)
            assert made == {name: expected[name] for name in made}

            subprocess.run(["mount", "-o", "remount,size=8m", results], check=True)
            project.finishes(*ERRORS)
            assert project.lasting() == expected
    except PermissionError as reason:
        pytest.skip(f"cannot mount a small file system: {reason}")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_log_that_cannot_be_written_hides_no_reason(capsys):
    with pytest.raises(SystemExit), logged("/dev/full"):
        raise InputError("pets.csv is empty")
    assert capsys.readouterr().err == "error: pets.csv is empty\n"
    with pytest.raises(SystemExit), logged("/dev/full"):
        print("counting")
    assert capsys.readouterr().err == "error: No space left on device\n"


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text("old", encoding="utf-8")
    with contextlib.suppress(KeyboardInterrupt), written(path) as file:
        file.write("new")
        file.flush()
        assert path.read_text(encoding="utf-8") == "old"
        raise KeyboardInterrupt
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["pets.csv"]
    (tmp_path / ".pets.csv.99999999.part").write_text("left by a killed job", encoding="utf-8")
    with written(path) as file:
        file.write("new")
    assert path.read_text(encoding="utf-8") == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["pets.csv"]


# ------------------------------------------------------------------ files that were altered


def alterations(data):
    """A file cut at every place, with every byte garbled, without a line, with one twice, ..."""
    yield from (data[:length] for length in range(len(data)))
    yield from (data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :] for i in range(len(data)))
    lines = data.splitlines(keepends=True)
    yield from (b"".join(lines[:i] + lines[i + 1 :]) for i in range(len(lines)))
    yield from (b"".join([*lines, line]) for line in lines)
    yield b"\xef\xbb\xbf" + data
    yield data.replace(b"\n", b"\r\n")


def test_no_altered_profile_is_read(tmp_path):
    path, facts = tmp_path / "pets.csv", tmp_path / "pets.json"
    write_profile(path, np.array([12, 7, 1]), np.array([1, 2, 30]))
    write_facts(facts, *read_profile(path), dataset="pets", source="file")
    read_profile(path, facts)
    refused(path, lambda: read_profile(path, facts), at_least=60)
    for cut in range(len(facts.read_bytes()) - 2):
        facts.write_bytes(facts.read_bytes()[:cut])
        with pytest.raises(InputError, match=re.escape(str(facts))):
            read_profile(path, facts)


def refused(path, read, at_least, name=None):
    """Every alteration of the file is refused by name; the file stays as it was."""
    data, tried = path.read_bytes(), 0
    for altered in alterations(data):
        path.write_bytes(altered)
        with pytest.raises(InputError, match=f"^{re.escape(name or str(path))} "):
            read()
        tried += 1
    path.write_bytes(data)
    assert tried >= at_least


@pytest.mark.slow
def test_altered_files_are_never_averaged_and_made_anew_once_deleted(tmp_path, finished):
    project = finished.copy(tmp_path / "project")
    trials = next(project.root.glob("results/trials/games/joint/*[0-9].csv"))
    trials.write_bytes(without_last_line(trials))
    printed = project.fails(*ERRORS, "--keep-going")
    assert re.search(f"^error: {name_in(project, trials)} is not as it was made", printed, re.M)
    facts = project.root / "data" / "counts" / "games.json"
    facts.write_bytes(b"")
    printed = project.fails(*ERRORS, "--keep-going")
    assert re.search(f"^error: {name_in(project, facts)} is cut short", printed, re.M)
    for result in ("errors/games.csv", "trials/games.csv", "datasets.csv"):
        assert not (project.root / "results" / result).exists()
    kept = (project.root / "results" / "errors.csv").read_bytes()  # of the last good run
    assert kept == finished.lasting()["results/errors.csv"]

    for path in (trials, facts):
        path.unlink()
    project.finishes(*ERRORS)
    assert project.lasting() == finished.lasting()


@pytest.mark.slow
def test_tables_that_are_not_as_they_were_made_are_named_where_they_are_read(tmp_path, finished):
    project = finished.copy(tmp_path / "project")
    results = project.root / "results"
    cut, changed = results / "trials" / "games.csv", results / "errors" / "games.csv"
    cut.write_bytes(without_last_line(cut))
    changed.write_bytes(changed_digit(changed))
    changed = results / "timing_summary.csv"
    changed.write_bytes(changed_digit(changed))
    printed = project.fails("--keep-going")
    said = re.findall("^error: results/(.*) is not as it was made .*: delete it", printed, re.M)
    assert {*said} == {"trials/games.csv", "errors/games.csv", "timing_summary.csv"}
    for name in {*said}:
        (results / name).unlink()
    project.finishes(*ERRORS)
    assert project.lasting() == finished.lasting()


def changed_digit(path):
    head, comma, tail = path.read_bytes().rpartition(b",")
    return head + comma + bytes([tail[0] ^ 1]) + tail[1:]


def test_a_table_is_intact_until_it_is_altered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("results/gaps.csv", [["k", "gap"], [5, 7]])
    assert intact("results/gaps.csv") == "results/gaps.csv"
    path = tmp_path / "results" / "gaps.csv"
    refused(path, lambda: intact("results/gaps.csv"), at_least=20, name="results/gaps.csv")
    write_csv("results/gaps.csv", [["k", "gap"], [5, 8]])
    intact("results/gaps.csv")
    Path("other.csv").write_text("k\n", encoding="utf-8")
    intact("other.csv")  # nobody knows what it was


def test_what_the_last_run_did_not_make_is_shown_and_deleted(tmp_path, monkeypatch, finished):
    project = finished.copy(tmp_path / "project")
    made = sorted(project.root.glob("figures/**/*.*"))
    old = [project.root / name for name in ("figures/datasets/pets.png", "results/leaderboard.csv")]
    for path in (*old, project.root / "figures" / "scaling.png"):
        path.touch()
    command = [sys.executable, "-m", "workflow.scripts.results.manifest"]
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True)
    assert done.stdout == "figures/datasets/pets.png\nresults/leaderboard.csv\n"
    assert not any(path.exists() for path in old)
    assert set(made) < set(project.root.glob("figures/**/*.*"))
    assert project.pending() == set()


def without_last_line(path):
    return b"".join(path.read_bytes().splitlines(keepends=True)[:-1])


def name_in(project, path):
    return re.escape(str(path.relative_to(project.root)))


# ------------------------------------------------------------------ mistakes

TIMID = """
label, guarantee, relations = "Timid", "pure", ("add-remove",)


def prepare(profile, k, epsilon, delta, neighbors):
    return lambda rng: rng.permutation(k)
"""
PETS = {"title": "Pets", "source": "file", "file": "pets.csv", "counts": {"column": "votes"}}
WITH_PETS = {"datasets": {**TINY["datasets"], "pets": PETS}}


@pytest.mark.parametrize(
    ("change", "pets", "sentence", "log"),
    [
        (
            {"epsilon": 1},
            "",
            r"^config: epsilon is not a key \(did you mean epsilons\?\)",
            None,
        ),
        (
            {"neighbors": "swap", "mechanisms": ["timid"]},
            "",
            "^(error|config): .*timid has no guarantee for 'swap' neighbors",
            "trials/games/timid/epsilon=0.01_ks=2-2_trials=1-1",
        ),
        (
            WITH_PETS,
            None,
            "^config: datasets.pets.file is 'pets.csv', and there is no such file",
            None,
        ),
        (
            WITH_PETS,
            "pet,likes\ncat,3\n",
            "^error: pets.csv has no column 'votes'",
            "counts/pets",
        ),
        (
            WITH_PETS,
            "pet,votes\ncat,3\n",
            "^error: pets has 1 item, fewer than the smallest k, 2; .*ks",
            "counts/pets",
        ),
    ],
    ids=["typo", "swap refused", "no file", "no column", "k above d"],
)
def test_a_mistake_is_answered_by_one_sentence(change, pets, sentence, log, tmp_path, finished):
    project = finished.copy(tmp_path / "project", {**TINY, "ks": [2], "trials": 1, **change})
    (project.root / "mechanisms" / "timid.py").write_text(TIMID, encoding="utf-8")
    if pets is not None:
        (project.root / "pets.csv").write_text(pets, encoding="utf-8")
    assert re.search(sentence, project.fails(*ERRORS), re.M)
    if log:
        written = (project.root / "logs" / f"{log}.log").read_text(encoding="utf-8")
        assert "Traceback" in written
        assert "InputError: " in written
