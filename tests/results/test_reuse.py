"""Other workflows use the rules: as modules or included, they make the bytes of a plain run."""

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
    prefix: "one"

use rule * from first as first_*

module second:
    snakefile: {snakefile!r}
    config: {{"trials": 1, "only": ["games"], "ks": [3], "mechanisms": ["joint"]}}
    prefix: "two"

use rule * from second as second_*

rule all:
    default_target: True
    input:
        "one/results/errors.csv", rules.first_datasets.output,
        "one/figures/datasets/games.png", "two/results/errors.csv",
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
def test_two_modules_with_prefixes_and_configs_of_their_own(caller, finished):
    there = sorted(finished.root.rglob("*.csv"))
    folder = caller(TWICE)
    made, expected = finished.lasting(folder / "one"), finished.lasting()
    assert made == expected
    assert (folder / "one/figures/datasets/games.png").stat().st_size > 10_000
    rows = (folder / "two/results/errors.csv").read_text(encoding="utf-8").splitlines()
    assert {tuple(row.split(",")[:4]) for row in rows[1:]} == {("games", "joint", "1", "3")}
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {".snakemake", "one", "two"}
    assert sorted(finished.root.rglob("*.csv")) == there


@pytest.mark.slow
def test_included_rules_take_the_config_of_the_file_that_includes_them(caller, finished):
    folder = caller(INCLUDED, "lines.txt", "results/datasets.csv")
    expected = finished.lasting()
    assert finished.lasting(folder) == expected
    lines = expected["results/errors.csv"].count(b"\n")
    assert int((folder / "lines.txt").read_text(encoding="utf-8")) == lines


@pytest.mark.slow
def test_the_example_of_the_page_with_the_project_inside_the_folder(tmp_path):
    (example,) = re.findall(r"<!-- test: reuse -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    project = Project(tmp_path / "dp-topk")
    (tmp_path / "Snakefile").write_text(example, encoding="utf-8")
    (tmp_path / "none.yaml").write_text("{}", encoding="utf-8")
    config = ("--configfile", tmp_path / "none.yaml")
    project.finishes(*config, cwd=tmp_path)
    project.finishes("results/errors.csv", *config, "--config", "trials=10", "only=[games]")
    made, expected = project.lasting(tmp_path / "private"), project.lasting()
    assert made.keys() == expected.keys()
    assert made == expected


def test_rules_that_were_fetched_without_the_files_beside_them_say_so(tmp_path):
    """As `github(...)` does: it fetches what is included and run, nothing else."""
    project = Project(tmp_path / "project", {"trials": 1})
    for name in ("config.yaml", "dp_topk", "mechanisms"):
        path = project.root / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    printed = project.fails("--dry-run")
    assert "config: the rules need the files beside them" in printed
