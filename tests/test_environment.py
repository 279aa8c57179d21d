"""The files that install the project agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINNED = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", LOCK, re.MULTILINE))


def package(requirement):
    return re.match(r"[a-z0-9-]+", requirement)[0]


def test_environment_yml_has_the_versions_of_the_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    wanted = {package(requirement) for requirement in PROJECT["dependencies"]}
    assert pip == [f"{name}=={PINNED[name]}" for name in map(package, PROJECT["dependencies"])]
    assert len(pip) == len(wanted)
    assert "python=3.11" in environment["dependencies"]
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_lock_pins_every_package_with_hashes_and_without_addresses():
    for name in ("requirements.lock", "requirements-slurm.lock", "requirements-extras.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
        for entry in map(str.strip, entries):
            assert re.fullmatch(
                r"[a-z0-9-]+==\S+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\\n)?)+", entry
            )
    extras = PROJECT["optional-dependencies"]["dev"]
    assert {package(name) for name in [*PROJECT["dependencies"], *extras]} <= set(PINNED)


@pytest.mark.parametrize(
    ("extra", "needed"),
    [("slurm", "snakemake-executor-plugin-slurm"), ("extras", "opendp"), ("extras", "pyarrow")],
)
def test_the_locks_of_extras_do_not_contradict_the_lock(extra, needed):
    text = (ROOT / f"requirements-{extra}.lock").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    assert needed in pins
    assert {name: pins[name] for name in pins.keys() & PINNED.keys()} == {
        name: PINNED[name] for name in pins.keys() & PINNED.keys()
    }
