"""A config gives a complete plan, or one sentence that says what to change."""

import copy
import math
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from snakemake.cli import parse_config
from snakemake.utils import update_config

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config.check import check, epsilon_text
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_config, read_yaml
from workflow.scripts.config.structure import SCHEMA

ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "config.yaml").read_text(encoding="utf-8")
DEFAULT = yaml.safe_load(MANUAL)
SMALL = yaml.safe_load((ROOT / "tests" / "config.yaml").read_text(encoding="utf-8"))


def checked(config, root=ROOT, **further):
    return check(config, root, **further)


def changed(changes):
    """The default config with changes (a dict, or YAML) laid over it, as by --configfile."""
    config = copy.deepcopy(DEFAULT)
    update_config(config, yaml.safe_load(changes) if isinstance(changes, str) else changes)
    return config


def sentence(config, **further):
    """The one sentence with which a config is refused."""
    with pytest.raises(InputError) as refusal:
        checked(config, **further)
    return in_good_form(str(refusal.value))


def in_good_form(message):
    assert message.isprintable(), message
    assert 10 < len(message) <= 400, message
    assert not re.search("Traceback|properties|jsonschema", message), message
    return message


# ------------------------------------------------------------------ valid configs


def test_the_default_config_is_the_experiment_of_the_paper():
    plan = checked(DEFAULT)
    assert list(plan["datasets"]) == ["books", "foods", "games", "movies", "news", "tweets"]
    assert (plan["epsilons"], plan["delta"]) == ([1.0], 1e-6)
    assert plan["ks"] == list(range(5, 200, 10))
    assert plan["trials"] == 50
    assert (plan["timing"]["dataset"], plan["timing"]["trials"]) == ("foods", 5)


def test_a_plan_says_everything_explicitly():
    plan = checked(DEFAULT)
    for dataset in plan["datasets"].values():
        assert dataset["source"] == "embedded"
        assert dataset["status"] in ("real", "real-head", "from-figure")
        assert dataset["counts"]["skip"] == (1 if dataset["title"] == "Books" else 0)
        assert dataset["download"]["max_bytes"] == 1_000_000_000
    assert plan["timing"]["mechanisms"]["joint"] == plan["ks"]
    assert plan["timing"]["mechanisms"]["joint_alg1"] == [5, 65, 135, 195]
    assert all(type(epsilon) is float for epsilon in plan["epsilons"])


def test_the_small_config_exercises_chunks_and_leaves_out_datasets():
    plan = checked(changed(SMALL))
    assert list(plan["datasets"]) == ["books", "games"]
    assert plan["mechanisms"] == DEFAULT["mechanisms"]
    assert plan["trials_per_job"] < plan["trials"] < 2 * plan["trials_per_job"]
    assert plan["timing"]["mechanisms"] == {
        "joint": [2, 5, 10],
        "pnf_peel": [2, 5, 10],
        "cdp_peel": [2, 5, 10],
        "joint_alg1": [2],
        "pnf_peel_alg2": [2],
        "cdp_peel_alg3": [2],
    }


def test_nulls_are_left_out():
    plan = checked(
        changed(
            "timing: {dataset: books, mechanisms: {joint_alg1: null}}\n"
            "datasets: {foods: null, books: {counts: {column: null, rows_per: title}}}"
        )
    )
    assert "foods" not in plan["datasets"]
    assert "joint_alg1" not in plan["timing"]["mechanisms"]
    assert plan["figures"]["index_datasets"] == ["games"]
    assert plan["datasets"]["books"]["counts"] == {
        "rows_per": "title",
        "skip": 1,
        "absorb": "authors",
    }


def test_only_restricts_the_run_and_the_rest_follows():
    plan = checked(changed("{only: [news, books], ks: [7, 200], epsilons: [1, 2]}"))
    assert list(plan["datasets"]) == ["books", "news"]
    assert plan["timing"]["dataset"] == "books"
    assert plan["agreement"]["datasets"] == ["books"]
    assert plan["figures"]["index_datasets"] == ["books", "news"]
    assert plan["figures"]["all_mechanisms_dataset"] == "books"
    assert plan["figures"]["epsilon_figure_k"] == 7
    given = from_command_line("only=[games]")
    assert list(checked(**given)["datasets"]) == ["games"]


OWN = "{title: Own, source: file, file: own.csv, counts: {profile: true}}"


def test_a_file_is_looked_for_beside_the_config_that_names_it_then_here(tmp_path, monkeypatch):
    beside, here = tmp_path / "beside", tmp_path / "here"
    for folder in (beside, here):
        folder.mkdir()
    (beside / "mine.yaml").write_text(f"datasets: {{own: {OWN}}}", encoding="utf-8")
    monkeypatch.chdir(here)

    def plan(*files):
        given = changed(f"datasets: {{own: {OWN}}}")
        root = Path(os.path.relpath(ROOT))
        return check(**read_config(ROOT / "config.yaml", given, files=files), root=root)

    with pytest.raises(InputError) as refusal:
        plan(beside / "mine.yaml")
    assert f"looked for it in {beside} and {here}" in in_good_form(str(refusal.value))
    (here / "own.csv").touch()
    assert plan(beside / "mine.yaml")["datasets"]["own"]["file"] == "own.csv"
    (beside / "own.csv").touch()
    assert plan(beside / "mine.yaml")["datasets"]["own"]["file"] == str(beside / "own.csv")
    assert plan()["datasets"]["own"]["file"] == "own.csv"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"trials: 2\nks: [5]\ntrials: 3\n", "line 3: trials is already in line 1; keep one"),
        (
            b"trials: 2\ndatasets:\n  a: {title: A, title: B}\n",
            "line 3: title is already in",
        ),
        (b"trials: 2\n# \xe9t\xe9\n", "line 2: not UTF-8; save the file as UTF-8"),
        (b"trials: [2\nks: 3\n", "line 2: not YAML: "),
        (b"- 5\n", "holds a list; it must hold keys and values"),
    ],
)
def test_a_file_that_is_not_a_config_is_refused_with_its_line(data, said, tmp_path):
    (tmp_path / "mine.yaml").write_bytes(data)
    with pytest.raises(InputError) as refusal:
        read_yaml(tmp_path / "mine.yaml")
    assert f"{tmp_path / 'mine.yaml'}" in str(refusal.value)
    assert said in in_good_form(str(refusal.value))


def test_a_mistyped_name_of_a_config_is_answered_with_the_right_one(tmp_path):
    (tmp_path / "mine.yaml").touch()
    with pytest.raises(
        InputError, match=r"no config file .*mien.yaml \(did you mean mine.yaml\?\)"
    ):
        read_yaml(tmp_path / "mien.yaml")


def test_what_is_given_is_laid_over_config_yaml():
    given = {"trials": 2, "datasets": {"games": {"title": "Play"}}}
    config = read_config(ROOT / "config.yaml", given)["config"]
    assert (config["trials"], config["seed"]) == (2, DEFAULT["seed"])
    assert config["datasets"]["games"] == DEFAULT["datasets"]["games"] | {"title": "Play"}


def test_a_list_of_datasets_in_a_file_is_answered_by_a_sentence(tmp_path):
    (tmp_path / "mine.yaml").write_text("datasets: [books]", encoding="utf-8")
    given = read_config(
        ROOT / "config.yaml", {"datasets": ["books"]}, files=[tmp_path / "mine.yaml"]
    )
    assert "datasets is a list" in sentence(**given)


@pytest.mark.parametrize(
    ("changes", "run"),
    [
        ({"epsilons": [0.5], "mechanisms": ["joint", "laplace"]}, {"joint": ["0.5"]}),
        ({"epsilons": [1, 0.5], "mechanisms": ["joint", "pair"]}, {"pair": ["1"]}),
    ],
)
def test_the_field_can_be_run_at_other_epsilons(changes, run):
    field = yaml.safe_load((ROOT / "workflow" / "field.yaml").read_text(encoding="utf-8"))
    config = changed(field)
    update_config(config, changes)
    plan = Plan(config, ROOT)
    for name, epsilons in run.items():
        assert plan.epsilons_of(name) == epsilons


def test_data_is_the_source_of_datasets_that_name_none():
    plan = checked(changed("{data: download, datasets: {games: {source: embedded}}}"))
    sources = {name: dataset["source"] for name, dataset in plan["datasets"].items()}
    assert sources.pop("games") == "embedded"
    assert set(sources.values()) == {"download"}


def test_your_own_dataset_takes_four_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = "datasets: {pets: {title: Pets, source: file, file: pets.csv, counts: {column: votes}}}"
    assert "datasets.pets.file is 'pets.csv', and there is no such file" in sentence(changed(own))
    Path("pets.csv").write_text("votes\n5\n", encoding="utf-8")
    assert checked(changed(own))["datasets"]["pets"] == {
        "title": "Pets",
        "source": "file",
        "status": "real",
        "file": str(tmp_path / "pets.csv"),  # absolute, as its root is
        "counts": {"column": "votes", "skip": 0},
    }


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.csv?version=1",
        "https://example.org:8443/a%20b.zip",
        "http://127.0.0.1:8000/a.csv",
        "http://localhost/a.csv",
        "http://[::1]:80/a.csv",
        "kaggle:some-one/a.dataset/All Tweets (1).csv",
    ],
)
def test_addresses_that_are_allowed(url):
    plan = checked(changed({"datasets": {"books": {"download": {"url": url}}}}))
    assert plan["datasets"]["books"]["download"]["url"] == url


# ------------------------------------------------------------------ the command line


def from_command_line(*entries):
    """The config and the settings as Snakemake makes them of `--config` entries."""
    given = parse_config(entries)
    return with_settings(changed(given), given)


def with_settings(config, given):
    """What is read where the command line gave something."""
    settings = SimpleNamespace(config=given, overwrite_config=given, replace_workflow_config=False)
    return read_config(ROOT / "config.yaml", config, settings)


def test_values_of_the_command_line_are_read_like_those_of_a_file():
    plan = checked(
        **from_command_line(
            "trials=7",
            "delta=1e-7",
            "data=download",
            "epsilons=[0.5, 2e-1]",
            "mechanisms=[joint, gamma]",
            "timing={dataset: games, trials: 3, mechanisms: {joint: [2, 5], pnf_peel: null}}",
            "datasets={foods: null}",
        )
    )
    assert (plan["trials"], plan["delta"], plan["data"]) == (7, 1e-7, "download")
    assert plan["epsilons"] == [0.5, 0.2]
    assert plan["mechanisms"] == ["joint", "gamma"]
    assert plan["timing"]["trials"] == 3
    assert plan["timing"]["mechanisms"] == {
        "joint": [2, 5],
        "cdp_peel": DEFAULT["ks"],
        "joint_alg1": [5, 65, 135, 195],
        "pnf_peel_alg2": [5, 65, 135, 195],
        "cdp_peel_alg3": [5, 65, 135, 195],
    }
    assert "foods" not in plan["datasets"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("trials=1e2", "trials is 100.0; write 100"),
        ("trials=many", "trials is the text 'many'"),
        ("trials=", "trials is null"),
        ("trials=true", "trials is true"),
        ("epsilons=2", "epsilons is 2; write [2]"),
        ("epsilons=[nan]", "epsilons has nan"),
        ("mechanisms=joint", "mechanisms is the text 'joint'; write [joint]"),
        ("trails=5", "trails is not a key (did you mean trials?)"),
        ("data=null", "data is null"),
    ],
)
def test_mistakes_on_the_command_line(entry, words):
    assert words in sentence(**from_command_line(entry))


# ------------------------------------------------------------------ mistakes

MISTAKES = {
    # unknown and missing keys
    "trails: 5": "trails is not a key (did you mean trials?); the keys here are seed, mechanisms",
    "datasets: {books: {cuonts: 3}}": "datasets.books.cuonts is not a key (did you mean counts?)",
    "datasets: {books: {counts: {skipp: 1}}}": "datasets.books.counts.skipp (did you mean skip?)",
    "datasets: {books: {download: {sha: ab}}}": "datasets.books.download.sha keys url sha256",
    "figures: {colour: red}": "figures.colour keys of figures appendix_mechanisms",
    "datasets: {pets: {source: file}}": "datasets.pets.title is missing",
    "datasets: {bokos: {status: real}}": "datasets.bokos.title is missing (did you mean books?)",
    "datasets: {books: {download: {url: null}}}": "datasets.books.download.url is missing https://",
    "datasets: {books: {download: {filename: null}}}": "datasets.books.download.filename missing",
    "1: 2": "the config has the key 1 quotes",
    "datasets: {no: {title: No}}": "datasets has the key false quotes",
    "2022-01-01: x": "the config has the key a date quotes",
    # numbers
    "trials: 0": "trials is 0 at least 1",
    "trials: -3": "trials is -3 at least 1",
    "trials: 50.0": "trials is 50.0; write 50",
    "trials: 2.5": "trials is 2.5 whole number",
    "trials: '50'": "trials is the text '50'; write 50 (no quotes)",
    "trials: '-5'": "trials is the text '-5' at least 1",
    "trials: fifty": "trials is the text 'fifty' whole number",
    "trials: yes": "trials is true whole number",
    "trials: [50]": "trials is a list whole number",
    "trials: 10000000": "trials is 10000000 at most 10^6",
    "trials_per_job: 0": "trials_per_job is 0 at least 1",
    "seed: -1": "seed is -1 at least 0",
    "seed: null": "seed is null whole number",
    "seed: 2022-01-01": "seed is a date whole number",
    "seed: 0x" + "f" * 5000: "seed has a huge number",
    "delta: 1e-6": "delta is the text '1e-6'; write 1.0e-6",
    "delta: -0.1": "delta is -0.1 at least 0 and below 1",
    "delta: 1.0": "delta is 1.0 at least 0 and below 1",
    "delta: .nan": "delta is nan at least 0",
    "delta: false": "delta is false at least 0",
    "{delta: 0, mechanisms: [joint, gaussian]}": "delta is 0 mechanisms has gaussian 1.0e-6",
    "{delta: 0, timing: {mechanisms: {gaussian: all}}}": "delta is 0 timing.mechanisms gaussian",
    "epsilons: [0]": "epsilons has 0 above 0",
    "epsilons: [1, -2.5]": "epsilons has -2.5 above 0",
    "epsilons: [.nan]": "epsilons has nan",
    "epsilons: [.inf]": "epsilons has inf",
    "epsilons: [1e400]": "epsilons has the text '1e400'",
    "epsilons: [1, true]": "epsilons has true",
    "epsilons: ['0.5']": "epsilons has the text '0.5'; write 0.5",
    "ks: [0]": "ks has 0 at least 1",
    "ks: [5, 1.5]": "ks has 1.5 whole number",
    "ks: [5, null]": "ks has null whole number",
    "ks: [[5]]": "ks has a list whole number",
    # lists
    "epsilons: []": "epsilons is an empty list at least one",
    "epsilons: 1.0e-7": "epsilons is 1e-07; write [1.0e-7]",
    "epsilons: [1, 2, 1.0]": "epsilons has 1.0 twice",
    "ks: []": "ks is an empty list at least one",
    "ks: 5": "ks is 5; write [5]",
    "ks: {5: 1}": "ks has the key 5",
    "ks: [5, 15, 5]": "ks has 5 twice",
    "mechanisms: []": "mechanisms is an empty list",
    "mechanisms: joint, gamma": "mechanisms is the text 'joint, gamma'; write [joint, gamma]",
    "mechanisms: [joint, joint]": "mechanisms has the text 'joint' twice",
    # mechanisms
    "mechanisms: [jiont]": "mechanisms: 'jiont' (did you mean joint?) possible: pnf_peel",
    "mechanisms: [x; rm]": "mechanisms: 'x; rm' is not a mechanism",
    "mechanisms: [3]": "mechanisms has 3 in quotes",
    "timing: {mechanisms: {gama: all}}": "timing.mechanisms: 'gama' (did you mean gamma?)",
    "timing: {mechanisms: {gama: null}}": "timing.mechanisms: 'gama' (did you mean gamma?)",
    "scaling: {mechanisms: [pnf]}": "scaling.mechanisms: 'pnf' is not a mechanism",
    "figures: {appendix_mechanisms: [gama]}": "figures.appendix_mechanisms (did you mean gamma?)",
    # choices
    "neighbors: swop": "neighbors is the text 'swop' add-remove or swap (did you mean swap?)",
    "neighbors: null": "neighbors is null add-remove or swap",
    "data: file": "data is the text 'file' embedded or download source",
    "data: downlaod": "data (did you mean download?)",
    "datasets: {books: {status: reel}}": "datasets.books.status real-head (did you mean real?)",
    # timing, scaling and figures
    "timing: null": "timing is null mapping",
    "timing: {dataset: food}": "timing.dataset: 'food' not a dataset (did you mean foods?) books",
    "timing: {mechanisms: {joint: al}}": "timing.mechanisms.joint `all` or a list",
    "timing: {mechanisms: {joint: []}}": "timing.mechanisms.joint is an empty list",
    "timing: {mechanisms: {joint: [5, 5]}}": "timing.mechanisms.joint has 5 twice",
    "timing: {mechanisms: {joint: [0]}}": "timing.mechanisms.joint has 0",
    "timing: {mechanisms: {joint: null, pnf_peel: null, cdp_peel: null, joint_alg1: null, "
    "pnf_peel_alg2: null, cdp_peel_alg3: null}}":
        "timing.mechanisms is an empty mapping at least one mechanism",
    "scaling: {k_for_items: 1001}":
        "scaling.k_for_items has 1001, more than the 1000 of scaling.items",
    "scaling: {items_for_k: 199}": "scaling.ks has 200, more than the 199 of scaling.items_for_k",
    "figures: {index_datasets: [gams]}": "figures.index_datasets 'gams' (did you mean games?)",
    "figures: {all_mechanisms_dataset: 3}": "figures.all_mechanisms_dataset is 3 in quotes",
    "agreement: {k: [5]}": "agreement.k is not a key (did you mean ks?)",
    "k: [5]": "k is not a key (did you mean ks?)",
    "agreement: {ks: [99999, 11127]}":
        "agreement.ks has no k that books and games have enough items for at most 11126",
    # variants
    "variants: {a: {mechanism: laplac}}":
        "variants.a.mechanism: 'laplac' (did you mean laplace?)",
    "variants: {joint: {mechanism: laplace}}": "variants.joint is the name of another mechanism",
    "variants: {a: {mechanism: laplace, options: {c: 1}}}":
        "variants.a.options: 'c' is not an option of laplace possible: contributions",
    "variants: {a: {mechanism: joint, options: {c: 1}}}":
        "is not an option of joint possible: none",
    "{mechanisms: [a], variants: {a: {mechanism: joint, epsilons: [2]}}}":
        "variants.a.epsilons shares no value with epsilons, so a would not be run",
    "variants: {a: {options: {c: 1}}}": "variants.a.mechanism is missing",
    "variants: {a b: {mechanism: joint}}": "variants has the name 'a b' lower-case letters",
    "cells_per_job: 0": "cells_per_job is 0 `all` or a whole number, at least 1",
    "cells_per_job: some": "cells_per_job is the text 'some' `all` or a whole number",
    # datasets that are left out
    "only: [bokos]": "only: 'bokos' is not a dataset (did you mean books?)",
    "only: books": "only is the text 'books'; write [books]",
    "{only: [books], datasets: {books: null}}":
        "only has 'books', which is left out under datasets (null)",
    "datasets: {books: null, foods: null, games: null, movies: null, news: null, tweets: null}":
        "datasets is an empty mapping at least one",
    "datasets: {bokos: null}": "datasets.bokos no such dataset (did you mean books?)",
    "datasets: null": "datasets is null mapping",
    "datasets: [books]": "datasets is a list mapping",
    "datasets: {pets: 5}": "datasets.pets is 5 mapping null",
    # names that must never reach a path or a shell
    "datasets: {'a;b': {title: A}}": "datasets has the name 'a;b' lower-case letters",
    "datasets: {'a\"b': {title: A}}": "datasets has the name 'a\"b' lower-case letters",
    "datasets: {'a''b': {title: A}}": "datasets has the name lower-case letters",
    "datasets: {'$(id)': {title: A}}": "datasets has the name '$(id)' lower-case letters",
    "datasets: {'{k}': {title: A}}": "datasets has the name '{k}' lower-case letters",
    "datasets: {'../a': {title: A}}": "datasets has the name '../a' lower-case letters",
    "datasets: {'a b': {title: A}}": "datasets has the name 'a b' lower-case letters",
    "datasets: {'': {title: A}}": "datasets has the name '' lower-case letters",
    "datasets: {Books: {title: A}}": "datasets has the name 'Books' lower-case letters",
    "datasets: {1st: {title: A}}": "datasets has the name '1st' beginning with a letter",
    'datasets: {"books\\n": {title: A}}': "datasets has the name 'books\\n' lower-case letters",
    f"datasets: {{{'a' * 41}: {{title: A}}}}": "datasets has the name 1 to 40",
    "datasets: {books: {title: ''}}": "datasets.books.title is the text '' on one line",
    'datasets: {books: {title: "a\\nb"}}': "datasets.books.title is the text 'a\\nb' on one line",
    "datasets: {books: {title: 2022}}": "datasets.books.title is 2022 in quotes",
    # downloads
    "datasets: {tweets: {download: {url: 'http://example.org/a'}}}":
        "datasets.tweets.download.url http:// needs datasets.tweets.download.sha256 https://",
    "datasets: {tweets: {download: {url: ['https://a.org/a', 'http://example.org/a']}}}":
        "datasets.tweets.download.url http://example.org/a needs datasets.tweets.download.sha256",
    "datasets: {books: {download: {url: []}}}": "datasets.books.download.url list of addresses",
    "datasets: {books: {download: {url: ['ftp://a.org']}}}": "datasets.books.download.url https://",
    "datasets: {books: {download: {url: 'http://localhost@example.org/a'}}}":
        "datasets.books.download.url https://",
    "datasets: {books: {download: {url: 'http://localhost:80@example.org/a'}}}":
        "datasets.books.download.url https://",
    "datasets: {tweets: {download: {url: 'http://localhost.example.org/a'}}}":
        "datasets.tweets.download.url http:// sha256",
    "datasets: {books: {counts: {delimiter: ab}}}": "datasets.books.counts.delimiter character",
    "datasets: {games: {counts: {item: game}}}":
        "datasets.games.counts.item needs datasets.games.counts.column",
    "datasets: {books: {counts: {distinct: title}}}":
        "datasets.books.counts.distinct needs datasets.books.counts.rows_per",
    "datasets: {games: {counts: {distinct: game}}}":
        "datasets.games.counts.distinct datasets.games.counts.rows_per both users",
    "datasets: {games: {counts: {distinct: users}}}":
        "datasets.games.counts.distinct users did you mean user",
    "datasets: {books: {download: {url: 'https://user:word@example.org/a'}}}":
        "datasets.books.download.url https://",
    "datasets: {books: {download: {url: 'file:///etc/passwd'}}}":
        "datasets.books.download.url https://",
    "datasets: {books: {download: {url: 'kaggle:../../a'}}}":
        "datasets.books.download.url kaggle:OWNER/DATASET/FILE",
    "datasets: {books: {download: {url: 'https://example.org/a b'}}}":
        "datasets.books.download.url https://",
    "datasets: {books: {download: {page: 'http://example.org/'}}}":
        "datasets.books.download.page https://",
    "datasets: {books: {download: {filename: ../a}}}": "datasets.books.download.filename without /",
    "datasets: {books: {download: {filename: a/b}}}": "datasets.books.download.filename without /",
    "datasets: {books: {download: {filename: ..}}}": "datasets.books.download.filename dot",
    'datasets: {books: {download: {filename: "a\\n"}}}': "datasets.books.download.filename 'a\\n'",
    "datasets: {games: {download: {member: /a}}}": "datasets.games.download.member relative",
    "datasets: {games: {download: {member: a/../b}}}": "datasets.games.download.member without ..",
    "datasets: {games: {download: {member: ..}}}": "datasets.games.download.member without ..",
    "datasets: {games: {download: {member: null}}}":
        "datasets.games.download.member_sha256 needs datasets.games.download.member",
    "datasets: {books: {download: {sha256: abc}}}":
        "datasets.books.download.sha256 is the text 'abc' 64 hexadecimal digits",
    "datasets: {books: {download: {sha256: 123}}}": "datasets.books.download.sha256 in quotes",
    "datasets: {books: {download: {bytes: 0}}}": "datasets.books.download.bytes is 0 at least 1",
    # sources
    "datasets: {books: {source: web}}": "datasets.books.source is the text 'web' download or file",
    "datasets: {pets: {title: Pets}}": "datasets.pets.source embedded no pets.csv `source: file`",
    "datasets: {pets: {title: Pets, source: download, counts: {column: a}}}":
        "datasets.pets.download is missing",
    "datasets: {pets: {title: Pets, source: file, counts: {column: a}}}":
        "datasets.pets.file is missing",
    "datasets: {pets: {title: Pets, source: file, file: pets.csv}}":
        "datasets.pets.counts is missing",
    "{data: download, datasets: {books: {counts: null}}}": "datasets.books.counts is missing",
    "datasets: {books: {file: a.csv}}": "datasets.books.file embedded `source: file`",
    # derivations
    "datasets: {books: {counts: {column: null}}}":
        "datasets.books.counts has none of them exactly one of column, rows_per and profile",
    "datasets: {books: {counts: {rows_per: title}}}":
        "datasets.books.counts has column and rows_per exactly one",
    "datasets: {books: {counts: {profile: false}}}": "datasets.books.counts.profile is false true",
    "datasets: {books: {counts: {column: 3}}}": "datasets.books.counts.column is 3 in quotes",
    "datasets: {books: {counts: {column: ''}}}": "datasets.books.counts.column is the text ''",
    "datasets: {books: {counts: {skip: one}}}": "datasets.books.counts.skip is the text 'one'",
    "datasets: {books: {counts: {skip: -1}}}": "datasets.books.counts.skip is -1 at least 0",
    "datasets: {foods: {counts: {names: [a, a]}}}": "datasets.foods.counts.names 'a' twice",
    "datasets: {foods: {counts: {rows_per: itm}}}":
        "datasets.foods.counts.rows_per: 'itm' is not in names (did you mean item?)",
    "datasets: {games: {counts: {where: {behaviour: play}}}}":
        "datasets.games.counts.where 'behaviour' names (did you mean behavior?)",
    "datasets: {games: {counts: {where: {behavior: 1}}}}":
        "datasets.games.counts.where.behavior is 1 in quotes",
    "datasets: {games: {counts: {where: {behavior: null}}}}":
        "datasets.games.counts.where is an empty mapping",
    "datasets: {games: {counts: {absorb: title}}}": "datasets.games.counts.absorb 'title' names",
    "datasets: {games: {counts: {rows_per: null, profile: true}}}":
        "datasets.games.counts.profile: 'count' is not in names",
}  # fmt: skip


@pytest.mark.parametrize("changes", MISTAKES)
def test_a_mistake_is_answered_by_one_sentence(changes):
    """The sentence has the words of the table, in that order, whatever stands between them."""
    config, words = changed(changes), MISTAKES[changes].split()
    assert re.search(".*".join(map(re.escape, words)), sentence(config)), sentence(config)


def test_a_mechanism_of_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = sentence(changed("timing: {mechanisms: {opendp_topk: all}}"))
    assert said.startswith("timing.mechanisms has opendp_topk, but opendp_topk needs the package")
    assert "pip install opendp" in said


@pytest.mark.parametrize("config", [None, [], [1], "text", 5, True, {}])
def test_a_config_must_be_a_mapping_with_keys(config):
    assert re.search("must be a mapping|is missing", sentence(config))


@pytest.mark.parametrize("key", [key for key in DEFAULT if key != "variants"])
def test_every_key_is_needed(key):
    config = {name: value for name, value in DEFAULT.items() if name != key}
    assert sentence(config).startswith(f"{key} is missing; it must be ")


@pytest.mark.parametrize("path", ["seed", "timing.dataset", "datasets.books.title"])
def test_a_misspelt_key_is_named_and_not_the_one_that_is_missing(path):
    config = copy.deepcopy(DEFAULT)
    *parents, key = path.split(".")
    section = config
    for parent in parents:
        section = section[parent]
    section[f"{key}e"] = section.pop(key)
    assert sentence(config).startswith(f"{path}e is not a key (did you mean {key}?)")


def test_an_alias_inside_itself_is_refused():
    for text in ("ks: &a [*a]", "datasets: &a {books: *a}", "&a {timing: *a}"):
        assert "nested too deeply" in sentence(yaml.safe_load(text))


def test_long_and_strange_texts_are_cut():
    for text in ("x" * 10**6, "\U0010ffff" * 1000, "a\nb\x1b[31m" * 100, "'\"" * 500):
        for config in (
            changed({text: 1}),
            changed({"neighbors": text}),
            changed({"mechanisms": [text]}),
            changed({"datasets": {text: {text: text}}}),
            changed({"datasets": {"books": {"counts": {"names": [text]}}}}),
        ):
            sentence(config)


# ------------------------------------------------------------------ any config at all

NAMES = [*DEFAULT, *DEFAULT["datasets"], *mechanisms.names(), "all", "embedded", "download", "file"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(0, 300)
    | st.floats()
    | st.text(max_size=20)
    | st.dates()
    | st.sampled_from([*NAMES, "1e-6", "5", "../a", "a;b", 10**400, -0.0, 5e-324, 1e308, "x" * 999])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(NAMES) | st.text(max_size=5) | st.integers(), inner, max_size=4
        )
    ),
    max_leaves=8,
)


def places(value):
    """Every (mapping or list, key or position) of a config."""
    found = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        found.append((value, key))
        if isinstance(inner, dict | list):
            found += places(inner)
    return found


# Nudges come more often, for they leave a config valid the most often.
ACCIDENTS = ["nudge", "nudge", "nudge", "replace", "delete", "rename", "repeat", "empty", "add"]


@st.composite
def mutations(draw):
    """The default config after one to three accidents."""
    config = copy.deepcopy(DEFAULT)
    for _ in range(draw(st.integers(1, 3))):
        if not (all_places := places(config)):
            return config
        parent, key = draw(st.sampled_from(all_places))
        accident = draw(st.sampled_from(ACCIDENTS))
        if accident == "nudge" and type(parent[key]) is int:
            parent[key] = draw(st.integers(1, 250))
        elif accident == "nudge" and isinstance(parent[key], list):
            parent[key] = parent[key][draw(st.integers(0, 2)) :]
        elif accident == "replace":
            parent[key] = draw(VALUES)
        elif accident == "empty":
            parent[key] = draw(st.sampled_from([None, [], {}, ""]))
        elif accident == "delete":
            del parent[key]
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
        elif accident == "rename":
            at = draw(st.integers(0, len(str(key))))
            parent[str(key)[:at] + draw(st.sampled_from(["", "s", ";"])) + str(key)[at + 1 :]] = (
                parent.pop(key)
            )
        elif accident == "repeat":
            parent[f"{key}_2"] = copy.deepcopy(parent[key])
        else:
            parent[draw(st.sampled_from(NAMES) | st.text(max_size=5))] = draw(VALUES)
    return config


def leaves(value, path=()):
    """(path, value) of whatever is not a mapping, without nulls."""
    if not isinstance(value, dict):
        return [] if value is None else [(path, value)]
    return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]


def assert_plan_or_sentence(config):
    before = repr(config)
    try:
        plan = checked(config)
    except InputError as error:
        in_good_form(str(error))
        return
    finally:
        assert repr(config) == before, "the check changed its input"
    assert checked(plan) == plan
    assert all(math.isfinite(epsilon) and epsilon > 0 for epsilon in plan["epsilons"])
    assert all(type(k) is int and k >= 1 for k in plan["ks"])
    assert set(plan["mechanisms"]) <= {*mechanisms.names(), *plan["variants"]}
    assert {plan["timing"]["dataset"], *plan["figures"]["index_datasets"]} <= set(plan["datasets"])
    for name, dataset in plan["datasets"].items():
        assert re.fullmatch("[a-z][a-z0-9_-]*", name)
        assert dataset["source"] in ("embedded", "download", "file")
    # Nothing that the config says is lost or replaced, but for abbreviations and left-outs.
    said = dict(leaves(plan))
    for path, value in leaves(config):
        left_out = path[0] == "datasets" and path[1] not in plan["datasets"]
        if value != "all" and path not in FOLLOWS and not left_out:
            assert said[path] == value, path


# What follows if it names datasets or a k that are not in the run.
FOLLOWS = {
    ("timing", "dataset"),
    ("agreement", "datasets"),
    ("figures", "index_datasets"),
    ("figures", "all_mechanisms_dataset"),
    ("figures", "epsilon_figure_k"),
}


# The same examples each time, so that a failure is one for everybody.
FUZZ = {"derandomize": True, "deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=150, **FUZZ)
@given(mutations())
def test_accidents_give_a_plan_or_a_sentence(config):
    assert_plan_or_sentence(config)


@settings(max_examples=100, **FUZZ)
@given(VALUES)
def test_anything_gives_a_plan_or_a_sentence(config):
    assert_plan_or_sentence(config)


@settings(max_examples=100, **FUZZ)
@given(st.sampled_from(sorted(DEFAULT)), VALUES)
def test_anything_on_the_command_line_gives_a_plan_or_a_sentence(key, value):
    try:
        checked(**with_settings(DEFAULT, {key: value}))
    except InputError as error:
        in_good_form(str(error))


# ------------------------------------------------------------------ schema and manual


def schemas(schema):
    """The schema and every schema inside it."""
    yield schema
    for key in ("properties", "$defs"):
        for inner in schema.get(key, {}).values():
            yield from schemas(inner)
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(key), dict):
            yield from schemas(schema[key])


def test_the_schema_describes_every_key():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    for inner in schemas(schema):
        assert "$ref" in inner or inner.get("title"), inner
        if "properties" in inner:
            assert inner["additionalProperties"] is False
            assert all(key.get("description") for key in inner["properties"].values())


def test_the_manual_names_every_key_of_the_schema():
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    dataset = schema["$defs"]["dataset"]["properties"]
    for section in (dataset, dataset["download"]["properties"], dataset["counts"]["properties"]):
        for key in section:
            assert re.search(rf"^# +{key}\s|`{key}`", MANUAL, re.MULTILINE), key
    for section, config in (
        (schema, DEFAULT),
        *((schema["properties"][key], DEFAULT[key]) for key in ("timing", "scaling", "figures")),
    ):
        shown = [key for key in section["properties"] if key != "only"]
        assert shown == list(config)
    assert re.search(r"^# only: \[", MANUAL, re.MULTILINE)


# ------------------------------------------------------------------ epsilon in file names


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (0.5, "0.5"),
        (1e-3, "0.001"),
        (10, "10"),
        (1e-6, "1e-06"),
        (1e16, "1e16"),
    ],
)
def test_epsilon_text(epsilon, text):
    assert epsilon_text(epsilon) == text


@settings(max_examples=100, **FUZZ)
@given(st.floats(0, exclude_min=True, allow_infinity=False))
def test_epsilon_text_reads_back_and_is_fit_for_file_names(epsilon):
    text = epsilon_text(epsilon)
    assert float(text) == epsilon
    assert re.fullmatch(r"[0-9][0-9.e-]*", text)
