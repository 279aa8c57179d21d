"""Whatever cuts a run short, a second run finishes, with the same bytes; and whatever is wrong
with a file or with the config is named in one sentence.

A run that was killed leaves Snakemake's lock behind; `snakemake --unlock` takes it away.
"""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from dp_topk.mechanisms import Profile
from tests.copies import ERRORS, SLOW, TINY, Project, mounted
from tests.data.faulty_server import FaultyServer, stalled
from workflow.scripts.common import InputError, intact, logged, write_csv, written
from workflow.scripts.config.plan import CELLS
from workflow.scripts.data.profiles import (
    read_facts,
    read_profile,
    require_enough_items,
    write_facts,
    write_profile,
)
from workflow.scripts.results.manifest import left_over
from workflow.scripts.trials.cells import run_cells

# ------------------------------------------------------------------ cut short

# Who gets which signal: for each of them a run is started and hit. Ctrl-C and a power cut hit all;
# the system kills a job that takes too much memory.
FAULTS = (
    ("snakemake", "SIGKILL"),
    ("one job", "SIGKILL"),
    ("all", "SIGINT"),
    ("snakemake", "SIGTERM"),
    ("all", "SIGKILL"),
)


@pytest.mark.slow
def test_a_run_that_was_cut_short_is_finished_by_the_next(tmp_path, finished):
    project, moments = Project(tmp_path / "project", TINY), random.Random(2022)
    for target, name in FAULTS:
        assert any(hit(project, target, name, moments) for _ in range(5)), "always too late"

    project.resumes(*ERRORS)
    assert project.lasting() == finished.lasting()
    assert not project.unfinished()


def hit(project, target, name, moments):
    """Start a run and send a signal at a random moment; whether the run was still going on."""
    made, more = trials_made(project), moments.randrange(-1, 3)
    project.unlock()
    process = project.start(*ERRORS)
    if more < 0:  # before the first job starts
        time.sleep(moments.uniform(0, 0.6))
    while process.poll() is None and trials_made(project) < made + more:
        time.sleep(0.01)
    time.sleep(moments.uniform(0, 0.3))
    in_time = send(name, process, target)
    code, _ = process.ended()
    if not in_time and code == 0:
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


def test_a_run_locks_the_folder_and_the_jobs_of_a_killed_run_do_no_harm(tmp_path):
    project = Project(tmp_path, {**TINY, "mechanisms": ["slow"], "ks": [2], "trials": 1})
    (project.root / "mechanisms" / "slow.py").write_text(SLOW, encoding="utf-8")
    first = project.start(*ERRORS)
    first.until((project.root / "begun").exists)

    printed = " ".join(project.fails(*ERRORS).split())
    assert "directory cannot be locked" in printed.lower()
    assert "removed with the --unlock argument" in printed
    jobs = psutil.Process(first.pid).children()
    os.kill(first.pid, signal.SIGKILL)
    first.ended()
    project.finishes("--unlock")
    (project.root / "begun").unlink()
    second = project.start(*ERRORS)
    second.until((project.root / "begun").exists)  # beside the job of the first
    assert [job for job in jobs if job.is_running()]
    (project.root / "go-on").touch()
    code, printed = second.ended()
    assert code == 0, printed
    psutil.wait_procs(jobs, timeout=60)
    assert len(list(project.root.glob("results/trials/games/slow/*"))) == 2
    assert not project.unfinished()


CELL = {"dataset": "games", "mechanism": "cdp_peel", "epsilon": "0.01", "ks": "2-2"}
CELL |= {"first": 1, "last": 1}


@pytest.mark.slow
def test_no_result_stays_as_it_was_when_all_jobs_that_change_it_were_killed(tmp_path, finished):
    config = {**TINY, "ks": [2], "trials": 1, "delta": 0.01}
    project, made = finished.copy(tmp_path / "project", config), CELLS.format(**CELL)
    process = project.start(*ERRORS, "--keep-going")
    while send("SIGKILL", process, "one job"):
        pass
    assert process.ended()[0] == 1
    assert not (project.root / made).exists()
    assert (project.root / made.replace("cdp_peel", "joint")).exists()  # which ignores delta

    project.finishes(*ERRORS)
    counts = project.root / "data" / "counts" / "games.csv"
    profile = Profile(*read_profile(counts, counts.with_suffix(".json")))
    setting = {"mechanism": "cdp_peel", "delta": 0.01, "neighbors": "add-remove"}
    (row,), _ = run_cells(profile, "games", "cdp_peel", "0.01", [2], [1], 2022, setting)
    # All k items are returned, so that the column that says how many is left out.
    expected = ",".join(map(str, ("games", "cdp_peel", *row[:-1])))
    made = (project.root / "results" / "trials.csv").read_text(encoding="utf-8").splitlines()
    assert [line for line in made if "cdp_peel" in line] == [expected]


def test_an_original_put_there_after_the_download_was_cut_off_is_used(tmp_path):
    with FaultyServer() as server:
        url = server.at("/pets.csv", stalled(b"pet,votes\n", 4))
        download = {"url": url, "page": "https://example.org", "filename": "pets.csv"}
        pets = {"title": "Pets", "source": "download", "download": download}
        pets |= {"counts": {"column": "votes"}}
        project = Project(tmp_path, {**TINY, "datasets": {**TINY["datasets"], "pets": pets}})
        process = project.start("data/counts/pets.csv")
        process.until(lambda: server.requests)
        process.kill_all()
        process.ended()
    original = tmp_path / "data" / "raw" / "pets" / "pets.csv"
    original.write_text("pet,votes\ncat,3\ndog,3\n", encoding="utf-8")
    project.resumes("data/counts/pets.csv")
    assert (tmp_path / "data/counts/pets.csv").read_text(encoding="utf-8") == "count,items\n3,2\n"


# ------------------------------------------------------------------ a full disk


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_run_goes_on_when_there_is_space(tmp_path, finished):
    project = Project(tmp_path / "project", {**TINY, "mechanisms": ["joint"]})
    results, expected = project.root / "results", finished.lasting()

    def trials():
        return {name: data for name, data in project.lasting().items() if "/joint/" in name}

    try:
        with mounted(results, "size=24k"):
            printed = project.fails(*ERRORS)
            assert re.search("^error: results/.*: No space left on device$", printed, re.M)
            assert not project.unfinished()
            made = len(trials())
            assert trials().items() <= expected.items()

            subprocess.run(["mount", "-o", "remount,size=8m", results], check=True)
            project.finishes(*ERRORS)
            assert made < len(trials()) == 2 * len(TINY["ks"]) * TINY["trials"]
            assert trials().items() <= expected.items()
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


def test_an_interrupted_step_is_quiet_on_the_terminal(tmp_path, capsys):
    with pytest.raises(SystemExit), logged(tmp_path / "log"):
        raise KeyboardInterrupt  # while it imports, for example
    assert capsys.readouterr().err == "error: interrupted\n"
    assert "Traceback" in (tmp_path / "log").read_text(encoding="utf-8")


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
def test_altered_files_are_named_where_they_are_read_and_made_anew_once_deleted(tmp_path, finished):
    project = finished.copy(tmp_path / "project")
    results = project.root / "results"
    cell = next(results.glob("trials/games/joint/*[0-9].csv"))
    cell.write_bytes(without_last_line(cell))
    times = results / "timing_summary.csv"
    times.write_bytes(changed_digit(times))
    printed = project.fails("--keep-going")
    said = re.findall("^error: (.*) is cut short or altered: delete it", printed, re.M)
    assert {*said} == {str(path.relative_to(project.root)) for path in (cell, times)}
    for result in ("errors/games.csv", "trials/games.csv"):
        assert not (results / result).exists()
    kept = (results / "errors.csv").read_bytes()  # of the last good run
    assert kept == finished.lasting()["results/errors.csv"]

    for path in (cell, times):
        path.unlink()
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
    copy = ".snakemake/storage/gaps.csv"
    write_csv(copy, [["k", "gap"], [5, 8]])
    for name in ("other.csv", copy):
        Path(name).write_text("k\n", encoding="utf-8")
        intact(name)  # nobody here knows what it was


def test_what_the_last_run_did_not_make_is_left_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = ["figures/datasets/games.png", "results/errors.csv"]
    old = ["figures/datasets/pets.png", "results/leaderboard.csv"]
    for name in (*made, *old, "figures/scaling.png"):
        with written(name):
            pass
    with pytest.raises(InputError, match="does not exist, so nothing is known"):
        left_over()
    with written("results/manifest.json") as file:
        json.dump({"sha256": dict.fromkeys(made)}, file)
    assert [str(path) for path in left_over()] == old


def without_last_line(path):
    return b"".join(path.read_bytes().splitlines(keepends=True)[:-1])


# ------------------------------------------------------------------ mistakes

TIMID = """
label, guarantee, relations = "Timid", "pure", ("add-remove",)


def prepare(profile, k, epsilon, delta, neighbors):
    return lambda rng: rng.permutation(k)
"""
PETS = {"title": "Pets", "source": "file", "file": "pets.csv", "counts": {"column": "votes"}}


def test_mistakes_are_answered_by_one_sentence_each(tmp_path):
    datasets = {**TINY["datasets"], "pets": PETS}
    config = {**TINY, "neighbors": "swap", "mechanisms": ["timid"], "datasets": datasets}
    project = Project(tmp_path, {**config, "ks": [2], "trials": 1})
    (tmp_path / "mechanisms" / "timid.py").write_text(TIMID, encoding="utf-8")
    (tmp_path / "pets.csv").write_text("pet,votes\ncat,3\n", encoding="utf-8")
    printed = project.fails(*ERRORS, "--keep-going")
    for sentence, log in (
        ("pets has 1 item, fewer than the smallest k, 2; .*ks", "counts/pets"),
        (".*timid has no guarantee for 'swap' neighbors", CELLS_OF_TIMID),
    ):
        assert re.search(f"^error: {sentence}", printed, re.M), printed
        written = (tmp_path / "logs" / f"{log}.log").read_text(encoding="utf-8")
        assert "Traceback" in written
        assert "InputError: " in written

    assert "No rule to produce data/counts/nope.csv" in project.fails("data/counts/nope.csv")
    project.config["epsilon"] = 1
    assert "config: epsilon is not a key (did you mean epsilons?)" in project.fails("--dry-run")


CELLS_OF_TIMID = "trials/games/timid/epsilon=0.01_ks=2-2_trials=1-1"


def test_a_dataset_with_too_few_items_is_refused_whatever_ran_before(tmp_path):
    """The counts may be there from a run with smaller k."""
    path, facts = tmp_path / "pets.csv", tmp_path / "pets.json"
    write_profile(path, np.array([9, 4]), np.array([1, 6]))
    write_facts(facts, *read_profile(path), dataset="pets", source="file")
    d = read_facts(facts)["d"]
    require_enough_items("pets", d, [5, 10])
    with pytest.raises(InputError, match=r"pets has 7 items, fewer than the smallest k, 10; .*ks"):
        require_enough_items("pets", d, [10, 20])
