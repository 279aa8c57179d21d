"""`make field`, on little data."""

import shlex
import subprocess

import pytest
import yaml

from tests.copies import ROOT, Project
from workflow.scripts.results.tables import write_table

MINE = {
    "only": ["pets"],
    "epsilons": [1, 4],
    "trials": 3,
    "mechanisms": ["joint", "canonical", "pnf_peel", "cdp_peel", "gaussian", "gaussian_c1"],
    "datasets": {
        "pets": {
            "title": "Pets",
            "source": "file",
            "file": "pets.csv",
            "counts": {"column": "votes"},
        }
    },
}
MADE = (
    "results/leaderboard.csv", "results/leaderboard.html", "results/winners.csv",
    "results/winners/pets.csv", "figures/winners.png", "figures/rivals.pdf",
    "figures/epsilon-needed.png", "figures/contributions.png", "figures/datasets/pets.png",
)  # fmt: skip


def command():
    """The arguments of Snakemake in `make field`."""
    asked = subprocess.run(
        ["make", "--dry-run", "field", "CONFIG=mine.yaml", "SNAKEMAKE=snakemake"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = [line for line in asked.stdout.splitlines() if line.startswith("snakemake ")]
    return shlex.split(line)[1:]


@pytest.mark.slow
def test_own_data_goes_through_the_field_and_results_stay_apart(tmp_path):
    project = Project(tmp_path / "project")
    small = yaml.safe_load((ROOT / "tests/config.yaml").read_text(encoding="utf-8"))
    (project.root / "mine.yaml").write_text(yaml.safe_dump(small | MINE), encoding="utf-8")
    write_table(project.root / "pets.csv", ["pet", "votes"], [(n, n * n) for n in range(40)])
    before = {path.name for path in project.root.iterdir()}
    project.finishes(*command())
    assert {path.name for path in project.root.iterdir()} - before == {"field"}
    field = project.root / "field"
    assert [name for name in MADE if not (field / name).stat().st_size] == []
    assert {path.stem for path in (field / "results/errors").iterdir()} == {"pets"}
    assert "Nothing to be done" in project.finishes(*command())
