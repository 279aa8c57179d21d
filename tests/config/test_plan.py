"""What follows from a config, and from the project's files."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from dp_topk import mechanisms
from workflow.scripts.config.code import imported_files
from workflow.scripts.config.plan import Plan
from workflow.scripts.data.profiles import write_facts, write_profile

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def plan(**changes):
    return Plan(CONFIG | changes, ROOT)


def test_one_job_for_each_dataset_mechanism_and_epsilon():
    jobs = [job for dataset in plan().dataset_names for job in plan().jobs(dataset)]
    assert len(jobs) == 6 * len(CONFIG["mechanisms"])
    assert len({job["cells"] for job in jobs}) == len(jobs)
    assert all(job["ks"] == CONFIG["ks"] for job in jobs)
    assert {(job["first"], job["last"]) for job in jobs} == {(1, 50)}


@pytest.mark.parametrize("trials_per_job", [1, 7, 50, 51])
@pytest.mark.parametrize("cells_per_job", ["all", 1, 3, 20, 21])
def test_jobs_cover_every_trial_of_every_cell_once(trials_per_job, cells_per_job):
    cut = plan(
        trials_per_job=trials_per_job, cells_per_job=cells_per_job, mechanisms=["joint"]
    ).jobs("books")
    trials = [
        (k, t) for job in cut for k in job["ks"] for t in range(job["first"], job["last"] + 1)
    ]
    assert sorted(trials) == [(k, t) for k in CONFIG["ks"] for t in range(1, 51)]
    assert len({job["cells"] for job in cut}) == len(cut)


def test_a_k_at_the_end_of_the_list_leaves_the_other_jobs_alone():
    before = {job["cells"] for job in plan(cells_per_job=4).jobs("books")}
    after = {job["cells"] for job in plan(cells_per_job=4, ks=[*CONFIG["ks"], 7]).jobs("books")}
    assert before < after


def test_delta_matters_to_approximate_mechanisms_only():
    assert plan().setting("joint") == {"mechanism": "joint", "neighbors": "add-remove"}
    assert plan().setting("cdp_peel") == {
        "mechanism": "cdp_peel",
        "neighbors": "add-remove",
        "delta": 1e-6,
    }


def test_the_map_names_every_module_in_the_row_of_its_room():
    pages = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `\w+\.smk` \| `(\w+)/` \| (.*) \|$", pages, re.MULTILINE))
    modules = {
        (path.parent.name, path.stem)
        for path in (ROOT / "workflow/scripts").glob("*/*.py")
        if not path.stem.startswith(("__", "rule_", "section_", "appendix_"))
    }
    assert {room for room, _ in modules} == rows.keys()
    assert [(room, name) for room, name in modules if f"`{name}`" not in rows[room]] == []


def test_the_walk_of_one_number_opens_files_that_are_there_each_once():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = page[page.index("Following one number") : page.index("From there to figure 1")]
    files = re.findall(r"`((?:…|mechanisms|workflow/rules)/[\w/.]+|Snakefile)`", walk)
    assert len(files) == len(set(files)) <= 14
    for file in files:
        assert (ROOT / file.replace("…", "workflow/scripts")).is_file(), file


def test_only_the_entry_of_a_rule_sees_snakemake_and_nothing_imports_it():
    for path in (ROOT / "workflow/scripts").rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        entry = path.stem.startswith("rule_")
        uses = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        assert ("snakemake" in uses) == entry, path
        assert not re.search(r"import\b.*\brule_|import snakemake|from snakemake", code), path
        assert not entry or len(code.splitlines()) <= 25, path


def test_rules_hold_no_functions():
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        assert not re.search(r"^\s*def ", path.read_text(encoding="utf-8"), re.MULTILINE), path


def test_with_a_delta_of_zero_every_mechanism_is_ranked_as_pure():
    assert plan().ranked()["cdp_peel"]["guarantee"] == "approx"
    assert plan(delta=0).setting("cdp_peel")["delta"] == 0
    assert {kind["guarantee"] for kind in plan(delta=0).ranked().values()} == {"pure"}


def test_a_variant_is_a_mechanism_with_options():
    assert plan().setting("laplace_c1") == {
        "mechanism": "laplace",
        "neighbors": "add-remove",
        "contributions": 1,
    }
    assert plan().labels("laplace_c1", "joint")["joint"] == "Joint"
    assert plan().code_of("laplace_c1") == plan().code_of("laplace")


def test_a_mechanism_depends_on_its_own_files_only():
    for name in mechanisms.names():
        files = files_of(name)
        module = f"dp_topk/mechanisms/{name}"
        assert files & {f"{module}.py", f"{module}/__init__.py"}
        assert {"dp_topk/mechanisms/__init__.py", "dp_topk/mechanisms/_profile.py"} <= files
    joint = files_of("joint")
    assert "dp_topk/mechanisms/_sequences.py" in joint
    assert "dp_topk/mechanisms/_peeling.py" not in joint
    own = {f"dp_topk/mechanisms/{name}.py" for name in ("joint", "fast_joint")}
    assert files_of("fast_joint") ^ joint == own


def files_of(mechanism):
    return imported_files(ROOT, "dp_topk.mechanisms", f"dp_topk.mechanisms.{mechanism}")


def test_relative_imports_are_followed(tmp_path):
    package = tmp_path / "dp_topk" / "mechanisms"
    package.mkdir(parents=True)
    for name, text in {
        "__init__": "from . import _base",
        "_base": "",
        "_noise": "",
        "toy": "from ._noise import x\nfrom . import _deep",
        "_deep": "import dp_topk.mechanisms._far",
        "_far": "",
        "other": "",
    }.items():
        (package / f"{name}.py").write_text(text)
    files = imported_files(tmp_path, "dp_topk.mechanisms.toy")
    assert {Path(file).stem for file in files} >= {"toy", "_noise", "_deep", "_far"}
    assert "dp_topk/mechanisms/other.py" not in files


def test_every_file_of_the_samplers_is_known_to_be_used():
    names = (*mechanisms.names(), *mechanisms.EXTERNAL)
    files = imported_files(ROOT, *(f"dp_topk.mechanisms.{name}" for name in names))
    folder = ROOT / "dp_topk" / "mechanisms"
    there = {str(path.relative_to(ROOT)) for path in folder.rglob("*.py")}
    assert files | {"dp_topk/mechanisms/__init__.py"} == there


def test_digest_is_about_what_changes_errors():
    assert plan().digest() == plan(trials_per_job=7, cells_per_job=1).digest()
    other = {"laplace_c1": {"mechanism": "laplace", "options": {"contributions": 2}}}
    changes = ({"seed": 1}, {"trials": 51}, {"ks": [5]}, {"delta": 1e-5}, {"mechanisms": ["joint"]},
               {"variants": other})  # fmt: skip
    assert len({plan(**change).digest() for change in ({}, *changes)}) == 7


def test_a_downloaded_original_is_real_whatever_the_config_says():
    assert plan().about()["foods"] == {
        "title": "Foods",
        "status": "from-figure",
        "modelled_below": 50,
        "resolution": 16,
    }
    assert plan(data="download").about()["foods"] == {"title": "Foods", "status": "real"}


def test_files_that_are_there_before_the_run_are_marked():
    marked = Plan(CONFIG | {"only": ["games"]}, ROOT, mark=lambda path: f"mark:{path}")
    origin = marked.origin("games").values()
    for path in (*origin, *marked.code_of("joint"), *marked.code_of_step("trials.rule_trials")):
        assert path.startswith("mark:")


def test_memory_of_the_published_algorithm_grows_with_d_and_k(tmp_path):
    facts = tmp_path / "toy.json"
    about = {"dataset": "toy", "source": "embedded"}
    profile = np.array([7, 1]), np.array([1, 166048])
    write_profile(tmp_path / "toy.csv", *profile)
    write_facts(facts, *profile, **about)
    files = tmp_path / "toy.csv", facts
    assert plan().memory_mb("joint", 195, *files) == 500
    assert 2000 < plan().memory_mb("joint_alg1", 195, *files) < 3000
    assert plan().memory_mb("laplace_c1", 5, *files, written_out=True) > 500
    assert plan().memory_mb("pair", 195, *files) == 1000
    facts.write_text("")  # the job will say what is wrong with it
    assert plan().memory_mb("joint", 195, *files) == 500


def test_a_job_of_many_trials_or_of_pair_may_take_longer():
    assert plan().trial_minutes("joint", [5, 195], 1, 50) == 2
    assert plan().trial_minutes("joint", [5, 195], 1, 10_000) == 12
    assert plan().trial_minutes("pair", [5, 195], 1, 50) == 4


def test_the_picture_of_the_rules_is_that_of_snakemake():
    command = [Path(sys.executable).with_name("snakemake"), "--rulegraph", "mermaid-js"]
    command += ["--config", "only=[games]", "mechanisms=[joint]"]  # fewer jobs, the same rules
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", done.stdout))
    edges = {(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", done.stdout)}
    edges = {(a, b) for a, b in edges if b not in ("all", "manifest")}
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^    (\w+) --> (\w+)$", page, re.MULTILINE)) == edges
