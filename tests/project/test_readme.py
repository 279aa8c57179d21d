"""What the README shows is run as it stands there."""

import gzip
import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from dp_topk import mechanisms
from tests.copies import Project

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "data/README.md"])


def example(name):
    """The code block after the comment <!-- test: name -->."""
    return re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)[1]


def package_elsewhere(folder, name):
    """Put a package into a folder that registers the README's mechanism as `name`."""
    metadata = folder / "elsewhere-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[dp_topk.mechanisms]\n{name} = elsewhere.peel\n")
    (folder / "elsewhere").mkdir()
    code = example("mechanism").replace("EM-Peel", "Peel of another package")
    (folder / "elsewhere" / "peel.py").write_text(code)


def test_the_table_of_mechanisms_is_complete():
    page = (ROOT / "docs/mechanisms.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|.*?\| (ε-DP|\(ε, δ\)-DP) \|", page, re.MULTILINE)
    guarantees = {"ε-DP": "pure", "(ε, δ)-DP": "approx"}
    assert {name: guarantees[text] for name, text in listed} == {
        name: mechanisms.get(name).guarantee for name in mechanisms.names()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_links_to_exist(page):
    text = page.read_text(encoding="utf-8")
    links = [*re.findall(r"\]\(([^)#: ]+)\)", text), *re.findall(r"^\[[^]]+\]: ([^:\s]+)$", text)]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_targets_and_commands_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert named <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for module in re.findall(r"python -m ((?:benchmarks|tools|workflow|dp_topk)[\w.]*)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


@pytest.mark.parametrize(
    "module", [*(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py"))]
)
def test_programs_behind_the_numbers_can_be_started(module):
    """They are not run here; but what they import must be there."""
    assert importlib.import_module(f"benchmarks.{module}").__doc__


@pytest.mark.slow
def test_adding_a_dataset_an_epsilon_and_a_mechanism(tmp_path):
    config = yaml.safe_load(example("dataset")) | yaml.safe_load(example("epsilon"))
    config |= {"mechanisms": ["joint", "em_peel", "far_peel"], "trials_per_job": 4, "ks": [2, 5]}
    project = Project(tmp_path / "project", config)
    votes = np.random.default_rng(1).integers(0, 1000, 50)
    rows = "".join(f"{pet},{count}\n" for pet, count in enumerate(votes))
    (project.root / "pets.csv").write_text(f"pet,votes\n{rows}")
    (project.root / "mechanisms" / "em_peel.py").write_text(example("mechanism"))
    package_elsewhere(tmp_path / "packages", "far_peel")
    figures = ("datasets/pets", "error-against-epsilon", "figure-1-gaps-and-errors")
    made = ("results/errors.csv", *(f"figures/{figure}.png" for figure in figures))
    project.finishes(*made, PYTHONPATH=str(tmp_path / "packages"))

    errors = (project.root / "results" / "errors.csv").read_text().splitlines()
    cells = {tuple(line.split(",")[:3]) for line in errors[1:]}
    for mechanism in config["mechanisms"]:
        for epsilon in ("0.5", "1", "2"):
            assert ("pets", mechanism, epsilon) in cells
    for figure in figures:
        assert (project.root / "figures" / f"{figure}.png").stat().st_size > 10_000

    contract = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "em_peel"]
    contract.append("tests/mechanisms/test_contract.py")
    done = subprocess.run(contract, cwd=project.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20


@pytest.mark.slow
def test_the_own_dataset_example_as_it_stands(tmp_path):
    """A semicolon-separated gzip file of 50 items, fewer than the largest k, to its page."""
    project = Project(tmp_path / "project")
    (project.root / "mine.yaml").write_text(example("dataset").replace("pets.csv", "pets.csv.gz"))
    votes = np.random.default_rng(2).integers(0, 1000, 50)
    rows = "".join(f"pet {i};{count}\n" for i, count in enumerate(votes))
    (project.root / "pets.csv.gz").write_bytes(gzip.compress(f"pet;votes\n{rows}".encode()))
    page = "figures/datasets/pets.png"
    printed = project.finishes(page, "--configfile", project.root / "mine.yaml")
    assert (project.root / page).stat().st_size > 10_000
    assert not re.search("books|foods|games|movies|news|tweets", printed.lower())
    missing = (project.root / "results/missing/pets.csv").read_text().splitlines()
    assert "pets,joint,1,55,pets has only 50 items" in missing
