"""What the README shows is run as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import mechanisms
from tests.pipeline import Project

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def example(name):
    """The code block after the comment <!-- test: name -->."""
    return re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", README, re.DOTALL)[1]


def test_using_the_samplers():
    names = {}
    exec(example("use"), names)
    assert len(set(names["items"].tolist())) == 3
    assert set(names["items"].tolist()) <= set(range(len(names["counts"])))


def test_the_table_of_mechanisms_is_complete():
    listed = re.findall(r"^\| `(\w+)` \|.*?\| (ε-DP|\(ε, δ\)-DP) \|", README, re.MULTILINE)
    guarantees = {"ε-DP": "pure", "(ε, δ)-DP": "approx"}
    assert {name: guarantees[text] for name, text in listed} == {
        name: mechanisms.get(name).guarantee for name in mechanisms.SHIPPED
    }


def test_files_that_the_readme_links_to_exist():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_make_targets_that_the_readme_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE))
    assert "figures" in named
    assert named <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


@pytest.mark.slow
def test_adding_a_dataset_an_epsilon_and_a_mechanism(tmp_path):
    config = yaml.safe_load(example("dataset")) | yaml.safe_load(example("epsilon"))
    config |= {"mechanisms": ["joint", "em_peel"], "trials_per_job": 4, "k": [2, 5]}
    config["datasets"] |= {"books": None}
    project = Project(tmp_path / "project", config)
    votes = np.random.default_rng(1).integers(0, 1000, 50)
    rows = "".join(f"{pet},{count}\n" for pet, count in enumerate(votes))
    (project.root / "pets.csv").write_text(f"pet,votes\n{rows}")
    (project.root / "mechanisms" / "em_peel.py").write_text(example("mechanism"))
    project.finishes()

    errors = (project.root / "results" / "errors.csv").read_text().splitlines()
    cells = {tuple(line.split(",")[:3]) for line in errors[1:]}
    for mechanism in ("joint", "em_peel"):
        for epsilon in ("0.5", "1", "2"):
            assert ("pets", mechanism, epsilon) in cells
    for figure in ("datasets/pets", "error-against-epsilon", "figure-1-gaps-and-errors"):
        assert (project.root / "figures" / f"{figure}.png").stat().st_size > 10_000

    contract = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "em_peel"]
    done = subprocess.run(
        [*contract, "tests/test_contract.py"], cwd=project.root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20


def test_the_readme_tells_the_verdicts_that_docs_claims_has():
    verdict = re.compile(r"^\| \*\*([a-z ]+)\*\*( †)? \| (.+?) \|", re.MULTILINE)
    full = {
        statement: (word, mark)
        for word, mark, statement in verdict.findall((ROOT / "docs/claims.md").read_text("utf-8"))
    }
    shown = verdict.findall(README)
    assert len(shown) > 10
    for word, mark, statement in shown:
        assert full[statement] == (word, mark)
    numbers = re.search(
        r"paper's (\d+) statements .* (\d+) hold, (\d+) hold partly and (\d+) do not", README
    ).groups()
    summary = "The paper: {} statements; {} hold, {} hold partly, {} do not hold".format(*numbers)
    assert summary in (ROOT / "docs/claims.md").read_text("utf-8")
