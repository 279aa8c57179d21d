"""Ranking the mechanisms over all cells, and the page that shows it."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import tools
from tools import answers
from workflow.scripts.common import InputError
from workflow.scripts.ranking.leaderboard import (
    ALL,
    LEADERBOARD,
    WINNERS,
    leaderboard,
    read_trials,
    winners,
    write_leaderboard,
    write_winners,
)
from workflow.scripts.ranking.pages import leaderboard_page, write_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PURE = {"guarantee": "pure", "output": "sequence"}
APPROX, SET = PURE | {"guarantee": "approx"}, PURE | {"output": "set"}


def trials(dataset="toy", **values):
    """Trials of one dataset at two k: {mechanism: (errors at k = 2, errors at k = 4)}."""
    rows = [
        {
            "dataset": dataset, "mechanism": name, "epsilon": 1.0, "k": k, "trial": t,
            "linf": e, "l1": e, "k_relative": e, "recall": 1 - (e > 0) / k,
        }
        for name, both in values.items()
        for k, errors in zip((2, 4), both, strict=True)
        for t, e in enumerate(errors, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def board(mechanisms, table):
    won = pd.DataFrame(winners(table, mechanisms), columns=WINNERS)
    rows = leaderboard(table, won, mechanisms, seed=1)
    return pd.DataFrame(rows, columns=LEADERBOARD), won


def of(table, **values):
    for column, value in values.items():
        table = table[table[column] == value]
    return table.set_index("mechanism") if "mechanism" in table else table


LOW, MIDDLE, HIGH = np.arange(40) % 3, 10 + np.arange(40) % 3, 20 + np.arange(40) % 3


def test_ranks_wins_and_regret_of_clear_cases():
    table, won = board(
        {"a": PURE, "b": PURE, "c": PURE},
        trials(a=(LOW, HIGH), b=(MIDDLE, MIDDLE), c=(HIGH, LOW)),
    )
    linf = of(table, guarantee="pure", output="sequence", metric="linf")
    assert linf["mean_rank"].to_dict() == {"a": 2, "b": 2, "c": 2}
    assert linf["wins"].to_dict() == {"a": 1, "b": 0, "c": 1}
    assert linf["sure_wins"].to_dict() == {"a": 1, "b": 0, "c": 1}
    assert linf["ties"].sum() == 0
    assert linf["cells"].tolist() == [2, 2, 2]
    # medians 1 (best), 11, 21: padded 2, 12, 22
    assert linf.loc["b", "regret"] == pytest.approx(6, abs=1e-4)
    assert linf.loc["a", "regret"] == pytest.approx(11**0.5, abs=1e-4)
    found = of(won, guarantee="pure", output="sequence", metric="linf")
    assert found["winner"].tolist() == ["a", "c"]
    assert (found["tied_with"] == "").all()


def test_what_cannot_be_told_apart_is_tied():
    table, won = board({"a": PURE, "b": PURE}, trials(a=(LOW, LOW), b=(LOW[::-1], HIGH)))
    linf = of(table, guarantee="pure", output="sequence", metric="linf")
    assert linf["ties"].to_dict() == {"a": 1, "b": 1}
    assert linf["sure_wins"].to_dict() == {"a": 1, "b": 0}
    assert linf["wins"].to_dict() == {"a": 2, "b": 1}
    assert linf["mean_rank"].to_dict() == {"a": 1.25, "b": 1.75}
    found = of(won, guarantee="pure", output="sequence", metric="linf")
    assert found["tied_with"].tolist() == ["b", ""]


def test_pure_and_approximate_are_ranked_together_only_by_name():
    table, _ = board(
        {"a": PURE, "b": PURE, "c": APPROX}, trials(a=(LOW, LOW), b=(HIGH, HIGH), c=(LOW, LOW))
    )
    groups = table.groupby("guarantee")["mechanism"].agg(set).to_dict()
    assert groups == {"pure": {"a", "b"}, "either": {"a", "b", "c"}}


def test_a_sequence_is_a_set_but_a_set_is_no_sequence():
    both = trials(a=(LOW, LOW), s=(HIGH, HIGH), b=(HIGH, HIGH))
    both.loc[both["mechanism"] == "s", ["linf", "l1"]] = np.nan
    table, _ = board({"a": PURE, "b": PURE, "s": SET}, both)
    members = table.groupby(["output", "metric"])["mechanism"].agg(set)
    assert members["sequence", "linf"] == {"a", "b"}
    assert members["sequence", "recall"] == {"a", "b"}
    assert members["set", "recall"] == {"a", "b", "s"}
    assert ("set", "linf") not in members


def test_recall_is_compared_by_missed_items():
    table, _ = board({"a": PURE, "b": PURE}, trials(a=(LOW * 0, LOW * 0), b=(HIGH, HIGH)))
    recall = of(table, guarantee="pure", output="set", metric="recall")
    assert recall.loc["b", "regret"] == pytest.approx(2)  # one item missed, padded


def test_intervals_hold_what_they_are_about_and_shrink_with_certainty():
    rng = np.random.default_rng(3)
    noisy = {n: (rng.integers(0, 30, 50), rng.integers(0, 30, 50)) for n in "ab"}
    table, _ = board({"a": PURE, "b": PURE}, trials(**noisy))
    for name in ("mean_rank", "wins", "regret"):
        assert (table[f"{name}_low"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_high"]).all()
    assert (table["mean_rank_low"] < table["mean_rank_high"]).any()
    clear, _ = board({"a": PURE, "b": PURE}, trials(a=(LOW, LOW), b=(HIGH, HIGH)))
    clear = of(clear, metric="linf")
    assert (clear["mean_rank_low"] == clear["mean_rank_high"]).all()


def test_cells_that_were_not_run_count_for_nobody():
    gap = trials(a=(LOW, LOW), b=(HIGH, HIGH), c=(MIDDLE, MIDDLE))
    gap = gap[~((gap["mechanism"] == "a") & (gap["k"] == 4))]
    table, won = board({"a": PURE, "b": PURE, "c": PURE}, gap)
    linf = of(table, guarantee="pure", output="sequence", metric="linf")
    assert linf["cells"].to_dict() == {"a": 1, "c": 2, "b": 2}
    assert of(won, output="sequence", metric="linf", guarantee="pure")["winner"].tolist() == [
        "a",
        "c",
    ]


def test_of_equal_medians_the_one_with_more_good_trials_is_named():
    often, seldom = np.repeat([0, 9], [30, 20]), np.repeat([0, 9], [49, 1])
    for order in ("ab", "ba"):
        errors = {"a": (often, often), "b": (seldom, seldom)}
        _, won = board(dict.fromkeys(order, PURE), trials(**{n: errors[n] for n in order}))
        linf = of(won, guarantee="pure", output="sequence", metric="linf")
        assert linf["winner"].tolist() == ["b", "b"]
        assert linf["tied_with"].tolist() == ["", ""]


def test_a_smaller_median_alone_is_no_sure_win():
    # b is better in most pairs of trials, a has the smaller median
    a, b = np.repeat([5, 60], [26, 24]), np.repeat([0, 6], [24, 26])
    _, won = board({"a": PURE, "b": PURE}, trials(a=(a, a), b=(b, b)))
    linf = of(won, guarantee="pure", output="sequence", metric="linf")
    assert linf["winner"].tolist() == ["a", "a"]
    assert linf["tied_with"].tolist() == ["b", "b"]


def test_all_datasets_together_come_first_and_add_up():
    both = pd.concat(
        [trials(a=(LOW, HIGH), b=(MIDDLE, MIDDLE)), trials("other", a=(LOW, LOW), b=(HIGH, HIGH))]
    )
    table, _ = board({"a": PURE, "b": PURE}, both)
    assert table["dataset"].drop_duplicates().tolist() == [ALL, "toy", "other"]
    linf = table[(table["guarantee"] == "pure") & (table["metric"] == "linf")]
    for name, own in linf.groupby("mechanism"):
        whole, parts = own[own["dataset"] == ALL], own[own["dataset"] != ALL]
        for column in ("cells", "wins", "sure_wins", "ties"):
            assert whole[column].item() == parts[column].sum(), name
        assert whole["mean_rank"].item() == pytest.approx(parts["mean_rank"].mean())
        regret = np.exp(np.log(parts["regret"]).mean())
        assert whole["regret"].item() == pytest.approx(regret, abs=1e-3)
    alone, _ = board({"a": PURE, "b": PURE}, both[both["dataset"] == "other"])
    pd.testing.assert_frame_equal(
        alone, table[table["dataset"] == "other"].reset_index(drop=True), check_dtype=False
    )


def test_bootstrap_medians_are_those_of_resampled_trials():
    values = np.random.default_rng(5).integers(0, 100, 21)
    table, _ = board({"a": PURE, "b": PURE}, trials(a=(values, values), b=(values * 0, values * 0)))
    found = of(table, guarantee="pure", output="sequence", metric="linf").loc["a"]
    again = np.random.default_rng(6)
    plain = [
        np.exp(np.mean([np.log1p(np.median(again.choice(values, 21))) for _ in range(2)]))
        for _ in range(4000)
    ]
    low, high = np.quantile(plain, [0.025, 0.975])
    # Quantiles of 200 resamples: within four standard errors, seen by repeating this.
    assert found["regret_low"] == pytest.approx(low, rel=0.15)
    assert found["regret_high"] == pytest.approx(high, rel=0.15)


@pytest.fixture
def files(tmp_path):
    """Trials with a set and a dataset called nan, as files, and what is made of them."""
    both = trials("nan", a=(LOW, HIGH), b=(MIDDLE, MIDDLE), s=(LOW, LOW), c=(HIGH, LOW))
    both.loc[both["mechanism"] == "s", ["linf", "l1"]] = np.nan
    both.to_csv(tmp_path / "trials.csv", index=False)
    about = {"a": PURE, "b": PURE, "s": SET, "c": APPROX}
    write_winners(tmp_path / "trials.csv", about, tmp_path / "winners.csv")
    write_leaderboard(
        tmp_path / "trials.csv", tmp_path / "winners.csv", about, 1, tmp_path / "leaderboard.csv"
    )
    return tmp_path, both, about


def test_files_hold_what_the_functions_give(files):
    folder, both, about = files
    read = read_trials(folder / "trials.csv")
    pd.testing.assert_frame_equal(read, both.reset_index(drop=True), check_dtype=False)
    table, won = board(about, both)
    for name, expected in (("leaderboard", table), ("winners", won)):
        found = pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_the_page_has_every_row_and_can_be_narrowed_down(files):
    folder, _, _ = files
    labels = {name: f"The {name}" for name in "abcs"}
    write_page(folder / "page.html", folder / "leaderboard.csv", {"nan": "A <title>"}, labels)
    html = (folder / "page.html").read_text(encoding="utf-8")
    table = pd.read_csv(folder / "leaderboard.csv", keep_default_na=False)
    ranking = html[html.index('<table id="ranking">') :]
    assert ranking.count("<tr data-dataset=") == len(table)
    assert "A &lt;title&gt;" in ranking
    for key in ("dataset", "guarantee", "output", "metric"):
        (select,) = re.findall(rf'<select name="{key}">(.*?)</select>', html)
        values = [value for value in re.findall(r'value="(.*?)"', select) if value]
        assert sorted(values) == sorted(table[key].unique())
    assert '<option value="nan" selected>' in html
    first = table.iloc[0]
    words = f"{first['mean_rank']:.2f} ({first['mean_rank_low']:.2f} to"
    assert words in ranking
    assert "http" not in html


@pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")
def test_a_browser_shows_the_rows_that_are_chosen(files):
    folder, _, _ = files
    labels = {name: f"The {name}" for name in "abcs"}
    write_page(folder / "page.html", folder / "leaderboard.csv", {"nan": "Nan"}, labels)
    text = (folder / "page.html").read_text(encoding="utf-8")
    text = text.replace('<option value="pure">', '<option value="pure" selected>')
    (folder / "page.html").write_text(text, encoding="utf-8")
    seen = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/user",
         "--dump-dom", f"file://{folder}/page.html"],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    table = pd.read_csv(folder / "leaderboard.csv", keep_default_na=False)
    pure = (table["guarantee"] == "pure").sum()
    assert f"<output>{pure} of {len(table)}</output>" in seen
    ranking = seen[seen.index('<table id="ranking">') :]
    assert len(re.findall(r'<tr [^>]*hidden=""', ranking)) == len(table) - pure


def test_the_page_begins_with_the_best_of_all_datasets():
    both = pd.concat(
        [trials(a=(LOW, LOW), b=(MIDDLE, MIDDLE), c=(HIGH, HIGH)), trials("z", a=(HIGH, HIGH))]
    )
    both = pd.concat([both, trials("z", b=(LOW, LOW), c=(HIGH, HIGH))])
    table, _ = board({"a": PURE, "b": PURE, "c": PURE}, both)
    rows = table.astype(str).to_dict("records")
    html = leaderboard_page(rows, {"toy": "Toy", "z": "Z"}, {n: f"The {n}" for n in "abc"})
    best = html[html.index('<table id="best">') : html.index("Every mechanism")]
    found = re.findall(r"<td.*?(The \w)<", best)
    assert len(found) == 8  # two of sequences and of sets, pure and either
    assert found[:4] == ["The b", "The a"] * 2
    assert "ranked together" in best


def errors(metric, rows):
    """A table of errors from {(mechanism, k): median} of a metric at epsilon 1."""
    columns = ["dataset", "mechanism", "epsilon", "k", "metric", "median"]
    rows = [("toy", name, 1.0, k, metric, median) for (name, k), median in rows.items()]
    return pd.DataFrame(rows, columns=columns)


def lines(answer):
    """The rows of an answer, below its heads."""
    return list(tools.table(*answer))[2:]


class Toy(dict):
    """What the answers ask of a plan."""

    dataset_names = ("toy",)

    def __init__(self):
        super().__init__(ks=[5, 15, 25], epsilons=[1.0], datasets={"toy": {"title": "Toy"}})

    def labels(self, *names):
        return {name: name.title() for name in names}

    def ranked(self):
        names = {"joint": "pure", "pnf_peel": "pure", "cdp_peel": "approx", "laplace": "pure"}
        return {name: {"guarantee": g, "output": "sequence"} for name, g in names.items()}

    def bounded(self):
        return {"laplace": [[1, "laplace_c1"], [2, "laplace_c2"], ["all", "laplace"]]}


def test_answers_stop_at_the_first_k_that_is_not_perfect():
    found = {("joint", 5): 1, ("joint", 15): 0.8, ("joint", 25): 1, ("pnf_peel", 5): 0.6}
    answer = answers.perfect_up_to(errors("recall", found), Toy(), ["joint", "pnf_peel"])
    assert list(tools.table(*answer)) == [
        "|  | \u03b5 = 1: Joint | \u03b5 = 1: Pnf_Peel |",
        "|---|--:|--:|",
        "| Toy | 5 | none |",
    ]


def test_answers_stop_at_the_first_k_at_which_another_is_surely_better():
    columns = ["dataset", "guarantee", "output", "metric", "epsilon", "k", "winner", "tied_with"]
    cells = [(5, "joint", ""), (15, "pnf_peel", "cdp_peel joint"), (25, "pnf_peel", "cdp_peel")]
    rows = [("toy", "either", "sequence", "linf", 1, *cell) for cell in cells]
    rows.append(("toy", "pure", "sequence", "linf", 1, 25, "joint", ""))
    won = pd.DataFrame(rows, columns=columns)
    answer = answers.best_up_to(won, Toy(), {"sequence": ["joint", "cdp_peel"]})
    assert lines(answer) == ["| Toy | 15 | none |"]


def trials_of(samples):
    """Trials of the metric linf: {(mechanism, k): its values}."""
    return pd.DataFrame(
        {"dataset": "toy", "mechanism": name, "epsilon": 1.0, "k": k}
        | dict.fromkeys(("linf", "l1", "k_relative"), float(value))
        | {"recall": 1.0}
        for (name, k), values in samples.items()
        for value in values
    )


def test_answers_without_a_list_change_to_the_second_where_it_is_surely_better():
    less, more = range(20), range(100, 120)
    trials = trials_of(
        {("a", 5): less, ("b", 5): more, ("a", 15): less, ("b", 15): less, ("a", 25): more}
        | {("b", 25): less}
    )
    answer = answers.without_list(trials, Toy(), {"sequence": ("a", "b")})
    assert lines(answer) == ["| Toy | up to k = 15 A, then B |"]


@pytest.mark.parametrize(("best", "reached"), [(4, "2"), (9, "all"), (0, "none"), (1, "1")])
def test_answers_compare_contributions_with_the_best_of_the_same_guarantee(best, reached):
    medians = {"joint": best, "pnf_peel": 50, "cdp_peel": 0}
    medians |= {"laplace_c1": 1, "laplace_c2": 4, "laplace": 9}
    table = errors("linf", {(name, 25): median for name, median in medians.items()})
    assert lines(answers.contributions(table, Toy())) == [f"| Toy | {reached} |  |  |"]


def test_answers_tell_what_a_mechanism_needs():
    _, rows, _ = answers.about_mechanisms()
    needs = {name.strip("`"): needs for name, _, _, needs, _ in rows}
    assert needs["joint"] == "a list of items"
    assert needs["laplace"] == "a list of items, can use a bound c"
    assert needs["limited_joint"] == "no list, δ"
    assert needs["threshold_laplace"] == "no list, δ, users with at most c items"


def test_answers_without_results_say_what_to_do(tmp_path):
    with pytest.raises(InputError, match="run `make field` first"):
        answers.main("ranking", tmp_path)
