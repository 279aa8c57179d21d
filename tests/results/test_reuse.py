"""Other workflows use the rules: as modules or included, they make the bytes of a plain run."""

import ast
import re
import shutil

import pytest
import yaml

from tests.copies import ROOT, TINY, Project
from workflow.scripts.config.reading import merged, read_yaml

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
CONFIG = merged(read_yaml(ROOT / "tests" / "config.yaml"), TINY)  # that of `finished`

TWICE = """\
module first:
    snakefile: {snakefile!r}
    config: {config!r}

use rule * from first as first_*

module second:
    snakefile: {snakefile!r}
    config: {{"trials": 1, "only": ["games"], "ks": [3], "mechanisms": ["joint"]}}
    prefix: "two"

use rule * from second as second_*

rule all:
    default_target: True
    input:
        "results/errors.csv", rules.first_datasets.output, "two/figures/datasets/games.png",
"""
INCLUDED = """\
configfile: "mine.yaml"
include: {snakefile!r}

rule count_lines:
    input: "results/errors.csv"
    output: "lines.txt"
    shell: "wc -l < {{input}} > {{output}}"
"""


@pytest.fixture
def caller(finished, tmp_path):
    """Runs a Snakefile in a folder of its own, beside the project that it names."""
    folder = tmp_path / "caller"
    folder.mkdir()

    def run(text, *targets, config=CONFIG):
        made = text.format(snakefile=str(finished.root / "Snakefile"), config=config)
        (folder / "Snakefile").write_text(made, encoding="utf-8")
        (folder / "mine.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        # --configfile belongs to whoever calls: the module must not see it
        finished.finishes(*targets, "--configfile", folder / "mine.yaml", cwd=folder)
        return folder

    return run


@pytest.mark.slow
def test_two_modules_with_configs_of_their_own_one_with_a_prefix(caller, finished):
    there = sorted(finished.root.rglob("*.csv"))
    folder = caller(TWICE)
    assert finished.lasting(folder) == finished.lasting()
    assert (folder / "two/figures/datasets/games.png").stat().st_size > 10_000
    rows = (folder / "two/results/errors/games.csv").read_text(encoding="utf-8").splitlines()
    assert {tuple(row.split(",")[:4]) for row in rows[1:]} == {("games", "joint", "1", "3")}
    made = {path.name for path in folder.iterdir() if path.is_dir()}
    assert made == {".snakemake", "data", "logs", "results", "two"}
    assert sorted(finished.root.rglob("*.csv")) == there


@pytest.mark.slow
def test_included_rules_take_the_config_of_the_file_that_includes_them(caller, finished):
    folder = caller(INCLUDED, "lines.txt", config={**CONFIG, "mechanisms": ["joint"]})
    made, expected = finished.lasting(folder), finished.lasting()
    trials = [name for name in made if "/joint/" in name]
    assert len(trials) == 2 * len(TINY["ks"]) * TINY["trials"]
    assert [made[name] for name in trials] == [expected[name] for name in trials]
    lines = made["results/errors.csv"].count(b"\n")
    assert int((folder / "lines.txt").read_text(encoding="utf-8")) == lines


@pytest.mark.slow
def test_the_example_of_the_page_with_the_project_inside_the_folder(tmp_path):
    (example,) = re.findall(r"<!-- test: reuse -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    config = re.search("config: (.*)", example)[1]
    project = Project(tmp_path / "dp-topk", ast.literal_eval(config))
    (tmp_path / "Snakefile").write_text(example, encoding="utf-8")
    (tmp_path / "plain.yaml").write_text(config, encoding="utf-8")
    project.finishes("--configfile", tmp_path / "plain.yaml", cwd=tmp_path)
    project.finishes("results/errors.csv", "--configfile", tmp_path / "plain.yaml")
    made, expected = project.lasting(tmp_path / "private"), project.lasting()
    assert len(made) > 5
    assert made == expected


def test_rules_that_were_fetched_without_the_files_beside_them_say_so(tmp_path):
    """As `github(...)` does: it fetches what is included and run, nothing else."""
    project = Project(tmp_path / "project", {"trials": 1})
    for name in ("config.yaml", "dp_topk", "mechanisms"):
        path = project.root / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    printed = project.fails("--dry-run")
    assert "config: the rules need the files beside them" in printed
