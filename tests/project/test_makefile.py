"""What `make setup` installs stays; a Python that stands in for the real one notes its calls."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from tests.copies import ROOT

# Makes `.venv` with a copy of itself; `pip` fails where the file `offline` is there.
PYTHON = """\
#!/bin/sh
echo "$@" >> calls
case "$1 $2" in
    "-m venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python;;
    "-m pip") test ! -e offline || { echo "no network"; exit 1; };;
    *version_info\\ \\<*) ;;
    *) echo "${VERSION:-3.11}";;
esac
"""


@pytest.fixture
def project(tmp_path):
    for path in [ROOT / "Makefile", *ROOT.glob("requirements*.lock")]:
        shutil.copy(path, tmp_path)
    (tmp_path / "python3").write_text(PYTHON, encoding="utf-8")
    (tmp_path / "python3").chmod(0o755)
    return tmp_path


def make(project, *arguments, **variables):
    """Its exit code and what it printed; what Python was called with."""
    (project / "calls").unlink(missing_ok=True)
    variables = {"PATH": f"{project}:{os.environ['PATH']}", **variables}
    done = subprocess.run(
        ["make", "setup", *arguments], cwd=project, env=variables, capture_output=True, text=True
    )
    calls = project / "calls"
    lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
    return done.returncode, done.stdout + done.stderr, lines


def installed(calls):
    return [name for line in calls for name in line.split() if name.endswith(".lock")]


def test_extras_that_were_chosen_once_stay_without_the_network(project):
    code, printed, calls = make(project, "EXTRAS=extras")
    assert code == 0, printed
    assert installed(calls) == ["requirements.lock", "requirements-extras.lock"]

    (project / "offline").touch()
    assert make(project) == (0, "", [])
    assert make(project, "EXTRAS=extras") == (0, "", [])

    (project / "offline").unlink()
    _, _, calls = make(project, "EXTRAS=slurm")
    assert installed(calls)[1:] == ["requirements-extras.lock", "requirements-slurm.lock"]


def test_nothing_is_removed_before_its_replacement_is_installed(project):
    make(project)
    (project / ".venv" / "a-package").touch()
    (project / "requirements.lock").write_text("newer", encoding="utf-8")
    (project / "offline").touch()
    code, printed, calls = make(project)
    assert code != 0
    assert "no network" in printed
    assert not [line for line in calls if "venv" in line.split()]
    assert (project / ".venv" / "a-package").exists()


def test_another_python_than_that_of_the_environment_is_named(project):
    make(project)
    (project / "python3.13").write_text(
        PYTHON.replace("${VERSION:-3.11}", "3.13"), encoding="utf-8"
    )
    (project / "python3.13").chmod(0o755)
    code, printed, _ = make(project, "PYTHON=./python3.13")
    assert code != 0
    assert "python3.13 is Python 3.13, but .venv has Python 3.11: delete .venv" in printed
    assert make(project, "PYTHON=./python3")[0] == 0


def test_an_extra_that_is_not_there_is_named(project):
    code, printed, calls = make(project, "EXTRAS=slurmm")
    assert code != 0
    assert "There is no requirements-slurmm.lock: EXTRAS may hold extras" in printed
    assert not calls


def test_commits_are_checked_by_what_make_check_runs():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^check: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    commands = re.findall(r"\$\(BIN\)/(.*?)(?: \.)?$", recipe, re.MULTILINE)
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook["entry"] for repo in config["repos"] for hook in repo["hooks"]]
    assert hooks == [f".venv/bin/{command}" for command in commands]
