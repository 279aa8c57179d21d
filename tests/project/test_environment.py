"""The files that install the project agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINNED = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", LOCK, re.MULTILINE))


def package(requirement):
    return re.match(r"[a-z0-9.-]+", requirement)[0].replace(".", "-")


def test_environment_yml_has_the_versions_of_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    wanted = map(package, [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pipeline"]])
    assert pip == [*(f"{name}=={PINNED[name]}" for name in wanted), "--editable ."]
    assert "python=3.11" in environment["dependencies"]
    assert PROJECT["requires-python"] == ">=3.11"


def test_conda_environments_of_rules_are_that_of_people_without_the_project():
    """Snakemake makes them from a copy of the file, beside which there is no project."""
    people, rules = (
        yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
        for name in ("environment.yml", "workflow/envs/pipeline.yml")
    )
    del people["name"]
    people["dependencies"][-1]["pip"].remove("--editable .")
    assert rules == people


def test_the_lock_pins_every_package_with_hashes_and_without_addresses():
    for name in sorted(path.name for path in ROOT.glob("requirements*.lock")):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
        for entry in map(str.strip, entries):
            assert re.fullmatch(
                r"[a-z0-9-]+==\S+ (; [^\n]+ )?\\\n(    --hash=sha256:[0-9a-f]{64}( \\\n)?)+", entry
            )
    extras = PROJECT["optional-dependencies"]
    locked = [*PROJECT["dependencies"], *extras["pipeline"], *extras["dev"]]
    assert {package(name) for name in locked} <= set(PINNED)


@pytest.mark.parametrize(
    ("extra", "needed"),
    [("slurm", "snakemake-executor-plugin-slurm"), ("extras", "opendp"), ("extras", "pyspark")],
)
def test_the_locks_of_extras_do_not_contradict_the_lock(extra, needed):
    text = (ROOT / f"requirements-{extra}.lock").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    assert needed in pins
    assert {name: pins[name] for name in pins.keys() & PINNED.keys()} == {
        name: PINNED[name] for name in pins.keys() & PINNED.keys()
    }


def test_a_checkout_has_the_line_ends_of_the_repository_whatever_git_is_told():
    """Profiles with other line ends are refused."""
    lines = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "* text=auto eol=lf"
