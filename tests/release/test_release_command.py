"""`dp-topk release`, as users run it: what it prints, what it refuses, what it leaves behind."""

import csv
import hashlib
import io
import json
import re
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

import dp_topk
from dp_topk import release
from dp_topk.release import command
from dp_topk.release.command import main

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "dp_topk.release")
ROWS = """user,item,price
ann,apple,1
ann,apple,2
ann,"pear, green",1
bob,apple,1
bob,plum,3
cyd,apple,1
cyd,"pear, green",1
dan,apple,1
"""
ITEMS = "apple\nplum\npear, green\nfig\n"
COUNTS = "item,votes\napple,4000\nplum,10\nfig,2000\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "items.txt").write_text(ITEMS)
    (tmp_path / "counts.csv").write_text(COUNTS)
    return tmp_path


def run(folder, *arguments, **options):
    """The command in a process of its own, as `python -m dp_topk.release`."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        **options,
    )


ON_ROWS = ("rows.csv", "--user", "user", "--item", "item")
ON_COUNTS = ("counts.csv", "--item", "item", "--count", "votes")
LISTED = ("--domain", "items.txt")
PUBLIC = ("--domain-is-public",)
UNKNOWN = ("--unknown-domain", "--delta", "1e-6")
SURE = ("--epsilon", "1e6")  # so large that the result is the true top


def sentence(text):
    (line,) = text.splitlines()
    assert line.startswith(("dp-topk release: error: ", "dp-topk: error: ", "dp-topk ledger: "))
    assert line.endswith((".", "?"))
    assert not line.endswith("?.")
    return line


@pytest.fixture
def released(folder, monkeypatch, capfd):
    """What the command prints, without a process of its own, which takes a hundred times as long.

    `released.told` is what it says to the holder of the data.
    """
    monkeypatch.chdir(folder)

    def released(*arguments):
        main(["release", *map(str, arguments)])
        output, released.told = capfd.readouterr()
        return output

    return released


@pytest.fixture
def refused(folder, monkeypatch, capfd):
    """The one sentence, which is all that is printed; nothing is left behind."""
    monkeypatch.chdir(folder)

    def refused(*arguments):
        before = sorted(path.name for path in folder.iterdir())
        with pytest.raises(SystemExit) as caught:
            main(["release", *map(str, arguments)])
        output, errors = capfd.readouterr()
        assert sorted(path.name for path in folder.iterdir()) == before
        assert (caught.value.code, output) == (2, "")
        return sentence(errors)

    return refused


# ---------------------------------------------------------------- what comes out


def test_in_a_process_of_its_own(folder):
    done = run(folder, *ON_ROWS, *LISTED, *SURE, "--k", 3)
    assert (done.returncode, done.stdout) == (0, "apple\npear, green\nplum\n")
    done = run(folder, *ON_ROWS, *LISTED, "--epsilon", 0, "--k", 1)
    assert (done.returncode, done.stdout) == (2, "")
    assert "epsilon is '0'" in sentence(done.stderr)


def test_counts_best_first(released):
    output = released(*ON_COUNTS, *PUBLIC, *SURE, "--k", 3, "--neighbors", "swap")
    assert output == "apple\nfig\nplum\n"


def test_csv_has_a_header_and_quotes(released):
    output = released(*ON_ROWS, *LISTED, *SURE, "--k", 2, "--format", "csv")
    assert output == 'rank,item\n1,apple\n2,"pear, green"\n'
    output = released(*ON_ROWS, *LISTED, *SURE, "--k", 2, "--format", "csv", "--set")
    header, *items = csv.reader(output.splitlines())
    assert header == ["item"]
    assert sorted(items) == [["apple"], ["pear, green"]]


def test_json(released):
    output = released(*ON_ROWS, *LISTED, *SURE, "--k", 2, "--format", "json")
    expected = [{"rank": 1, "item": "apple"}, {"rank": 2, "item": "pear, green"}]
    assert json.loads(output) == expected
    output = released(*ON_ROWS, *UNKNOWN, "--epsilon", 1, "--k", 2, "--format", "json")
    assert json.loads(output) == []


def test_a_user_counts_once_for_an_item(folder, released):
    """Else ann alone would lift figs over plums."""
    (folder / "rows.csv").write_text("user,item\n" + 50 * "ann,fig\n" + "bob,plum\ncyd,plum\n")
    assert released(*ON_ROWS, *LISTED, *SURE, "--k", 2) == "plum\nfig\n"


def test_items_without_rows_count_nothing_and_unknown_items_are_left_out(folder, released):
    (folder / "items.txt").write_text("\ufefffig\r\nplum\r\n\r\n", encoding="utf-8")
    assert released(*ON_ROWS, *LISTED, *SURE, "--k", 2) == "plum\nfig\n"
    assert released(*ON_COUNTS, *LISTED, *SURE, "--k", 2) == "fig\nplum\n"


def test_output_is_random(folder, released):
    """Thirty items in nearly any order: the same twice has a probability of about 1/30!."""
    (folder / "items.txt").write_text("".join(f"item {n}\n" for n in range(30)))
    one, other = (released(*ON_ROWS, *LISTED, "--epsilon", "1/1000", "--k", 30) for _ in range(2))
    assert sorted(one.splitlines()) == sorted(other.splitlines())
    assert one != other


def test_it_says_that_epsilon_is_spent_and_nothing_about_the_data(released):
    released(*ON_COUNTS, *PUBLIC, "--epsilon", "1/3", "--k", 2)
    (line,) = released.told.splitlines()
    assert "spends epsilon = 1/3" in line
    assert "again" in line
    assert not re.search(r"[1-9]\d", line)


def test_a_large_epsilon_is_named_and_the_version_told(released, capfd):
    for epsilon, named in (("10", False), ("10.5", True)):
        released(*ON_COUNTS, *PUBLIC, "--k", "1", "--epsilon", epsilon)
        assert ("promises next to nothing" in released.told) == named
    released(*ON_COUNTS, *LISTED, "--k", 1, "--epsilon", 6, "--counts-epsilon", 5)
    assert "promises next to nothing" in released.told
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capfd.readouterr().out.startswith("dp-topk ")


@pytest.mark.parametrize(
    ("arguments", "mechanism"),
    [
        ((*LISTED,), "Joint"),
        ((*LISTED, "--set"), "Canonical"),
        ((*LISTED, "--delta", "1e-6"), "peeling"),
        ((*UNKNOWN,), "limited peeling"),
        ((*UNKNOWN, "--whole"), "limited Joint"),
        ((*UNKNOWN, "--whole", "--set", "--limit", "9"), "limited Canonical"),
        ((*LISTED, "--counts", "--max-items", "2"), "histogram"),
    ],
)
def test_every_mechanism_names_the_top(folder, released, arguments, mechanism, monkeypatch):
    """Apple has 4,000 users, fig 2,000, and all others 10 or none: nothing else comes out."""
    summaries = []
    monkeypatch.setattr(
        command, "warn", lambda plan, published, entry: summaries.append(plan.mechanism)
    )
    output = released(*ON_COUNTS, *arguments, *SURE, "--k", 2, "--format", "csv")
    rows = list(csv.DictReader(output.splitlines()))
    assert {row["item"] for row in rows} == {"apple", "fig"}
    if "--set" not in arguments:
        assert [(row["rank"], row["item"]) for row in rows] == [("1", "apple"), ("2", "fig")]
    assert summaries == [mechanism]


def test_each_mechanism_is_called_as_its_options_say(released, monkeypatch):
    """epsilon, delta, limit and the relation reach the function that draws."""
    calls = {}
    for name in ("top_k", "top_k_set", "top_k_unknown", "noisy_top_k", "noisy_counts"):
        original = getattr(release, name)

        def spy(*arguments, name=name, original=original, **named):
            calls[name] = arguments[1:], named
            return original(*arguments, **named)

        monkeypatch.setattr(release, name, spy)
    million, half = Fraction(10**6), Fraction(1, 2)
    swap = ("--neighbors", "swap")
    released(*ON_COUNTS, *LISTED, *SURE, *swap, "--k", 2, "--delta", "0.5")
    assert calls["top_k"] == ((2, million), {"delta": half, "neighbors": "swap"})
    released(*ON_COUNTS, *LISTED, *SURE, *swap, "--k", 2, "--set")
    assert calls["top_k_set"] == ((2, million), {"neighbors": "swap"})
    released(*ON_COUNTS, *UNKNOWN[:-1], "0.5", *SURE, *swap, "--k", 2, "--whole")
    assert calls["top_k_unknown"] == (
        (2, million, half),
        {"limit": 10, "whole": True, "as_set": False, "neighbors": "swap"},
    )
    released(*ON_COUNTS, *LISTED, *SURE, *swap, "--k", 2, "--counts", "--max-items", 7)
    assert calls["noisy_top_k"] == ((2, million), {"max_items": 7, "neighbors": "swap"})
    for options, sensitivity in (
        ((), 4),
        (("--max-items", 1), 1),
        (("--max-items", 1, *swap), 2),
        (("--max-items", 9, *swap), 4),
    ):
        released(*ON_COUNTS, *LISTED, *SURE, "--k", 4, "--counts-epsilon", "0.5", *options)
        assert calls["noisy_counts"] == ((half,), {"sensitivity": sensitivity})


def test_counts_beside_the_names(released):
    """Noise of scale 2/1000: the counts are right but for a probability of e^-500."""
    wanted = (*ON_COUNTS, *SURE, "--k", 2, "--counts-epsilon", 1000)
    for items in (LISTED, UNKNOWN, (*UNKNOWN, "--whole")):
        output = released(*wanted, *items)
        assert output == "rank,item,count,low,high\n1,apple,4000,4000,4000\n2,fig,2000,2000,2000\n"
        assert "epsilon = 1001000" in released.told
    assert json.loads(released(*wanted, *LISTED, "--format", "json"))[1] == {
        "rank": 2, "item": "fig", "count": 2000, "low": 2000, "high": 2000,
    }  # fmt: skip
    output = released(*wanted, *LISTED, "--set")
    assert sorted(output.splitlines()) == [
        "apple,4000,4000,4000", "fig,2000,2000,2000", "item,count,low,high",
    ]  # fmt: skip


def test_the_header_has_the_counts_even_if_nothing_comes_out(folder, released):
    (folder / "rows.csv").write_text("user,item\nann,fig\n")
    told = []
    for more in ((), ("--whole",), ("--whole", "--set")):
        output = released(
            *ON_ROWS, *UNKNOWN, "--epsilon", 1, "--k", 1, "--counts-epsilon", 1, *more
        )
        assert output in ("rank,item,count,low,high\n", "item,count,low,high\n")
        told.append(released.told)
    assert all("no items came out" in text for text in told)


def test_what_is_not_there_is_no_error_without_a_list(folder, released):
    """The exit code must not tell whether the one user who may be there is."""
    for rows in ("user,item\n", "user,item\nann,fig\n"):
        (folder / "rows.csv").write_text(rows)
        for more in ((), ("--whole",), ("--whole", "--set")):
            output = released(*ON_ROWS, *UNKNOWN, "--epsilon", 1, "--k", 3, *more)
            assert output == ""


# ---------------------------------------------------------------- the receipt


def test_the_receipt_holds_the_promise_and_nothing_about_the_data(folder, released):
    settings = ("--k", 2, "--epsilon", "0.50", "--neighbors", "swap", "--receipt")
    output = released(*ON_COUNTS, *PUBLIC, *settings, "receipt.json")
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    assumptions = receipt.pop("assumptions")
    assert receipt.pop("software") == f"dp-topk {dp_topk.__version__}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", receipt.pop("date"))
    assert "no floating-point number" in receipt.pop("sampling")
    assert receipt == {
        "mechanism": "exponential mechanism over sequences (Joint)",
        "guarantee": "epsilon-differential privacy",
        "in words": "With one user in place of another, the probability of any set of outputs is "
        "at most e^0.5 (about 1.649) times what it was.",
        "epsilon": "0.5",
        "delta": "0",
        "neighbors": "swap",
        "protects": "one user in place of another, with any number of items",
        "k": 2,
        "d": 3,
        "output": {"format": "lines", "sha256": hashlib.sha256(output.encode()).hexdigest()},
        "ledger": None,
    }
    assert any("vouches" in text for text in assumptions)
    assert any("public" in text for text in assumptions)

    released(*ON_ROWS, *LISTED, *settings, "other.json", "--set")
    other = json.loads((folder / "other.json").read_text(encoding="utf-8"))
    assert other["mechanism"] == "exponential mechanism over sets (Canonical)"
    assert other["d"] == 4
    assert not any("vouches" in text for text in other["assumptions"])
    assert {path.name for path in folder.iterdir()} == {
        "rows.csv", "items.txt", "counts.csv", "receipt.json", "other.json",
    }  # fmt: skip


@pytest.mark.parametrize("receipt_format", ["plain", "registry"])
@pytest.mark.parametrize(
    "items",
    [LISTED, UNKNOWN, (*UNKNOWN, "--whole", "--limit", "7"), (*LISTED, "--delta", "1e-9")],
    ids=" ".join,
)
def test_the_receipt_is_the_same_for_other_data(folder, released, items, receipt_format):
    """But for the digest of the output: it depends on the options and the list alone."""
    texts = []
    for number, rows in enumerate((ROWS, "user,item\nzoe,fig\n", "user,item\n")):
        (folder / "rows.csv").write_text(rows)
        settings = ("--k", 2, "--epsilon", 1, "--receipt-format", receipt_format)
        output = released(*ON_ROWS, *items, *settings, "--receipt", f"receipt {number}.json")
        text = (folder / f"receipt {number}.json").read_text(encoding="utf-8")
        digest = hashlib.sha256(output.encode()).hexdigest()
        assert text.count(digest) == 1
        texts.append(text.replace(digest, ""))
    assert texts[0] == texts[1] == texts[2]


def test_the_receipt_of_an_unknown_domain_with_counts(folder, released):
    settings = ("--k", 2, "--epsilon", "1/3", "--counts-epsilon", "0.5", "--max-items", 3)
    released(*ON_COUNTS, *UNKNOWN, *settings, "--receipt", "receipt.json")
    receipt = json.loads((folder / "receipt.json").read_text(encoding="utf-8"))
    assert receipt["guarantee"] == "(epsilon, delta)-differential privacy"
    assert (receipt["epsilon"], receipt["delta"]) == ("5/6", "0.000001")
    assert receipt["epsilon of the selection"] == "1/3"
    assert receipt["epsilon of the counts"] == "0.5"
    assert receipt["in words"].endswith(
        "at most e^(5/6) (about 2.301) times what it was, plus 0.000001."
    )
    assert receipt["limit"] == 10
    assert "d" not in receipt
    assert receipt["max_items"] == 3
    assert receipt["protects"] == "one user more or less, with at most 3 items"
    assert "; then discrete Laplace noise" in receipt["mechanism"]
    assert any("not that there is none" in text for text in receipt["assumptions"])
    assert any("has at most 3 items" in text for text in receipt["assumptions"])


# What the records of the registry (opendp/deployments-registry-data) had in September 2026.
REGISTRY = {
    "basic": {"name", "data_curators", "description", "intended_use", "data_product_type",
              "data_product_region", "publication_date"},
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters",
                     "privacy_parameters_details"},
    "deployment_model": {"model_name", "actors", "release_type", "data_source_type",
                         "access_type"},
    "accounting": {"post_processing", "composition"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
    "administrative": {"sources", "registry_authors"},
}  # fmt: skip


def test_the_receipt_for_the_registry(folder, released):
    settings = ("--k", 2, "--epsilon", "0.5", "--receipt-format", "registry", "--receipt")
    released(*ON_COUNTS, *UNKNOWN, *settings, "r.json", "--counts-epsilon", "0.25")
    record = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert set(record) == {"url_slug", "status", "tier", "deployment"}
    parts = record["deployment"]
    assert {name: set(part) for name, part in parts.items()} == REGISTRY
    assert parts["dp_variant"]["variant_name"] == "Approximate DP"
    assert parts["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.75, "delta": 1e-6}
    assert "limited domain" in parts["implementation"]["mechanisms"]
    released(*ON_ROWS, *LISTED, *settings, "pure.json")
    pure = json.loads((folder / "pure.json").read_text(encoding="utf-8"))["deployment"]
    assert pure["dp_variant"]["variant_name"] == "Pure DP"
    assert pure["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    extreme = ("--k", 2, "--epsilon", "1e400", "--unknown-domain", "--delta", "1e-400")
    released(*ON_COUNTS, *extreme, *settings[4:], "extreme.json")
    far = json.loads((folder / "extreme.json").read_text(encoding="utf-8"))["deployment"]
    assert far["privacy_loss"]["privacy_parameters"] == {"epsilon": 10**400, "delta": 1e-300}


# ---------------------------------------------------------------- the command itself


def test_help_says_who_vouches_and_that_epsilon_is_spent(capfd):
    with pytest.raises(SystemExit) as caught:
        main(["release", "--help"])
    assert caught.value.code == 0
    text = " ".join(capfd.readouterr().out.split())
    assert "it is you who vouches" in text
    assert "Every run spends epsilon (and delta) again" in text
    assert "Take --whole if" in text


def test_the_entry_point_is_this_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert scripts == {"dp-topk": "dp_topk.release.command:main"}


def test_it_starts_without_what_it_does_not_need(folder):
    """pandas and Matplotlib never, DuckDB for files only."""
    code = (
        "import sys; from dp_topk.release.command import parser; parser();"
        "print({'pandas', 'matplotlib', 'duckdb', 'dp_topk.counting'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        ((*ON_ROWS, *SURE, "--k", 2), "--domain FILE"),
        ((*ON_ROWS, *LISTED, "--epsilon", "1"), "--k"),
        ((*ON_ROWS, *LISTED, "--k", 2), "--epsilon"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", "two"), "'two' is not an integer above 0"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 0), "--k"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", "9" * 5000), "not an integer above 0"),
        ((*ON_ROWS, *UNKNOWN, *SURE, "--k", 1, "--limit", 10**15), "of up to 15 digits"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 5), "number of items, 4"),
        ((*ON_COUNTS, *PUBLIC, *SURE, "--k", 4), "number of items, 3"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "0"), "epsilon is '0'"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "-1"), "epsilon is '-1'"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "nan"), "epsilon is 'nan'"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "1e99999999999"), "1e-400 and 1e400"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", " １_0/٣"), "it must be a finite number"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", "1_0"), "it must be a finite number"),
        ((*ON_ROWS, *LISTED, "--k", 2, "--epsilon", " 1"), "it must be a finite number"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--delta", "1"), "delta is '1'"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--delta", "1e-6 "), "delta is '1e-6 '"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--delta", ""), "delta is ''"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--counts-epsilon", "0"), "--counts-epsilon is '0'"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--neighbors", "some"), "--neighbors"),
        ((*ON_COUNTS, *LISTED, *PUBLIC, *SURE, "--k", 2), "take one of --domain"),
        ((*ON_ROWS, *LISTED, *UNKNOWN, *SURE, "--k", 2), "take one of --domain"),
        ((*ON_ROWS, "--domain-is-pub", *SURE, "--k", 2), "--domain-is-pub"),
        ((*ON_ROWS, "--unknown-domain", *SURE, "--k", 2), "needs --delta"),
        ((*ON_ROWS, "--unknown-domain", "--delta", "0", *SURE, "--k", 2), "needs --delta"),
        ((*ON_ROWS, *UNKNOWN, *SURE, "--k", 2, "--limit", 1), "--limit is 1"),
        ((*ON_ROWS, *UNKNOWN, *SURE, "--k", 2, "--set"), "--set needs --whole"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--limit", 9), "--limit goes with"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--whole"), "--whole goes with"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--set", "--delta", "1e-6"), "needs no --delta"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--counts"), "--max-items"),
        ((*ON_ROWS, *UNKNOWN, *SURE, "--k", 2, "--counts", "--max-items", 2), "--counts needs"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--counts", "--max-items", 2, "--set"), "leave out"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--counts-epsilon", 1, "--format", "lines"),
         "no place for counts"),
        ((*ON_ROWS, "--count", "price", *LISTED, *SURE, "--k", 2), "and not both"),
        (("rows.csv", "--item", "item", *LISTED, *SURE, "--k", 2), "give --user"),
        (("none.csv", *ON_ROWS[1:], *LISTED, *SURE, "--k", 2), "none.csv"),
        (("-", "-", *ON_ROWS[1:], *LISTED, *SURE, "--k", 2), "can be read once only"),
        ((*ON_ROWS, "--table", "t", *LISTED, *SURE, "--k", 2), "rows.csv is not a DuckDB database"),
        ((*ON_ROWS, "--domain", "none.txt", *SURE, "--k", 2), "none.txt"),
        (("rows.csv", "--user", "person", "--item", "item", *LISTED, *SURE, "--k", 2),
         "no column 'person'"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt", "rows.csv"), "rows.csv exists"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt", "no/r.json"), "no folder no"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt", ""), "--receipt: a name is needed"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--output", "rows.csv"), "rows.csv exists"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--output", ""), "--output: a name is needed"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--output", "new/"), "new/ names a folder; name a"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt", "new/."), "new/. names a folder"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--output", "r", "--receipt", "./r"), "same file"),
        ((*ON_ROWS, "--domain", "/dev/full", *SURE, "--k", 2), "/dev/full is a device"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--ledger", "r", "--receipt", "r", "--dataset", "d",
          "--budget", "1e9"), "same file"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--ledger", "l"), "--dataset NAME"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--budget", "1"), "--ledger"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--dataset", "d"), "--ledger"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--ledger", "l", "--dataset", "d", "--budget", "9,"),
         "delta is ''"),
        ((*ON_ROWS, *LISTED, *SURE, "--k", 2, "--receipt-format", "registry"), "needs --receipt"),
    ],
)  # fmt: skip
def test_bad_options(refused, arguments, about):
    assert about in refused(*arguments)


@pytest.mark.parametrize(
    ("rows", "about"),
    [
        ("ann,fig\nbob,fig\n", "no column 'user'"),
        ("user,item\nann,fig\nbob\n", "line 3"),
        ("user,item\nann,fig\n,fig\n", "line 3: no user in column 'user'"),
        ('user,item\nann,"fig"s\n', "line 2"),
    ],
)
@pytest.mark.parametrize("items", [LISTED, UNKNOWN, (*LISTED, "--dry-run")], ids=" ".join)
def test_bad_rows(folder, refused, rows, about, items):
    """The counting module is tested by itself; here, that its sentences arrive."""
    (folder / "rows.csv").write_text(rows)
    line = refused(*ON_ROWS, *items, *SURE, "--k", 1, "--receipt", "receipt.json")
    assert about in line
    assert not re.search(r"\bann\b", line)


def test_bad_domains(folder, refused):
    for content, about in [
        ("", "no items"),
        ("fig\nplum\n\nfig\n", "line 4, repeats line 1"),
        ("item\nfig\n", "begins with names of the input's columns"),
        ("fig\nplum \n", "line 2, has blanks around it"),
        ("fig\n\xff\xfe", "not text in UTF-8"),
    ]:
        (folder / "items.txt").write_text(content, encoding="latin-1")
        line = refused(*ON_ROWS, *LISTED, *SURE, "--k", 1)
        assert about in line
        assert "fig" not in line


def test_lines_read_back(folder, released):
    """What goes in comes out, in all formats."""
    items = ['q"uote', "comma, item", "ж 𝛑", " x", "#=1+1", "back\\slash", "'", "Z\u200dW"]
    with open(folder / "counts.csv", "w", encoding="utf-8", newline="") as file:
        rows = [(item, 1000 * place) for place, item in enumerate(items, 1)]
        csv.writer(file).writerows([("item", "votes"), *rows])
    settings = (*ON_COUNTS, *PUBLIC, *SURE, "--k", len(items), "--format")
    assert released(*settings, "lines").splitlines() == items[::-1]
    table = csv.DictReader(io.StringIO(released(*settings, "csv"), newline=""))
    assert [row["item"] for row in table] == items[::-1]
    assert [row["item"] for row in json.loads(released(*settings, "json"))] == items[::-1]
