"""Figures that compare many mechanisms at many epsilons."""

import dataclasses
import itertools
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.colors import to_rgb

from dp_topk import mechanisms
from tests.figures.test_figures import (
    EPSILONS,
    ROOT,
    Experiment,
    expect_arguments,
    expect_lines,
    expect_tidy,
    frame,
    lab,
    left_out,
    make_tables,
    note_of,
    rows_of,
    without,
)
from tests.figures.test_figures import draw as draw_of
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import merged
from workflow.scripts.figures import catalogue, ranking, style
from workflow.scripts.trials.metrics import METRICS, Metric

LABELS = {
    "joint": "Joint",
    "pair": "Pair",
    "laplace": "Laplace",
    "cdp_peel": "CDP-Peel",
    "canonical": "Canonical",
}
BOUNDED = {"laplace": [[1, "laplace_c1"], [2, "laplace_c2"], ["all", "laplace"]]}
KS = [5, 25, 45, 95]
GROUPS = [
    (guarantee, output, metric)
    for guarantee in ("pure", "approx", "either")
    for output, metric in (("sequence", "linf"), ("sequence", "l1"), ("set", "recall"))
]
WINNERS = "dataset guarantee output metric epsilon k winner median tied_with compared"
NAMES = ["rivals", "winners", "epsilon-needed", "contributions", "joint-and-pair"]


class Field(Experiment):
    """An experiment whose mechanisms are ranked, some of them run at some epsilons only."""

    some: ClassVar = {"pair": ("1", "0.5")}

    def __init__(self, datasets=("books", "foods"), labels=LABELS, ks=KS, suffix=""):
        super().__init__(datasets, labels, ks, suffix)
        self.update(leaderboard=True, epsilons=EPSILONS)

    def mechanism(self, name):
        return mechanisms.get(name)

    def bounded(self):
        return BOUNDED

    def epsilons_of(self, name):
        return self.some.get(name, self.epsilon_texts)


@pytest.fixture(scope="module")
def tables():
    bounded = [name for variants in BOUNDED.values() for _, name in variants[:-1]]
    made = make_tables(mechanisms=(*LABELS, *bounded), ks=KS)
    errors = made["errors"]
    of_order = errors["metric"].isin(["linf", "l1", "linf_index"])
    made["errors"] = errors[~((errors["mechanism"] == "canonical") & of_order)]
    return made | {"winners": winners()}


def winners(datasets=("books", "foods"), seed=3):
    rng = np.random.default_rng(seed)
    rows = []
    for dataset, group, epsilon, k in itertools.product(datasets, GROUPS, EPSILONS, KS):
        order = rng.permutation(list(LABELS)).tolist()
        tied = " ".join(order[1 : 1 + rng.integers(len(order))])
        rows.append((dataset, *group, epsilon, k, order[0], 1.5, tied, len(order)))
    return frame(rows, WINNERS)


def draw(name, tables, experiment=None):
    return draw_of(name, tables, experiment or Field())


@pytest.fixture(scope="module")
def drawn(tables):
    return {name: draw(name, tables) for name in [*NAMES, "datasets/foods"]}


@pytest.mark.parametrize("name", [*NAMES, "datasets/foods"])
def test_nothing_is_clipped_and_nothing_overlaps(drawn, name):
    expect_tidy(drawn[name])
    for axis in drawn[name].axes:
        assert axis.get_title("left")


@pytest.mark.parametrize("name", ["rivals", "winners", "epsilon-needed"])  # margins of their own
def test_long_names_stay_inside(tables, name):
    suffix = ", a dataset with a long title"
    expect_tidy(draw(name, tables, Field(suffix=suffix)))


def test_every_figure_has_a_function_that_takes_what_its_entry_gives():
    expect_arguments(Field().figures())


# ---------------------------------------------------------------- lines


def named(rows):
    return rows.assign(mechanism=rows["mechanism"].map(LABELS))


def tables_of_best(tables):
    """Joint is best, then Pair, Laplace and Canonical; CDP-Peel is the only approximate one."""
    errors = tables["errors"].copy()
    for place, name in enumerate(LABELS):
        own = errors["mechanism"] == name
        for metric, values in (("linf", (10.0**place, 0)), ("recall", (1 - place / 10, 1))):
            rows = own & (errors["metric"] == metric)
            errors.loc[rows, ["q25", "median", "q75"]] = values[0]
            errors.loc[rows & (errors["k"] == 5), ["q25", "median", "q75"]] = values[1]
    return tables | {"errors": errors}


def test_rivals_show_the_best_few_with_labels_at_the_ends_of_lines(tables, monkeypatch):
    monkeypatch.setattr(ranking, "FEW", {"pure": 2, "approx": 2})
    given = tables_of_best(tables)
    figure = draw("rivals", given)
    kept = given["errors"][given["errors"]["mechanism"].isin(["joint", "pair", "cdp_peel"])]
    for row, dataset in enumerate(("books", "foods")):
        sequence, missed = figure.axes[2 * row : 2 * row + 2]
        rows = rows_of(kept, dataset, "linf", epsilon=1)
        expect_lines(sequence, named(rows), 1)
        medians = rows_of(kept, dataset, "recall", epsilon=1).set_index(["mechanism", "k"])[
            "median"
        ]
        for line in missed.lines:
            name = next(name for name, label in LABELS.items() if label == line.get_label())
            wanted = [max(1 - medians[name, k], 1e-3) for k in KS]  # 0 is at the foot, 1 / 1,000
            np.testing.assert_allclose(line.get_ydata(), wanted)
        assert missed.get_yscale() == "log"
        assert missed.yaxis.get_major_formatter()(1e-3, 0) == "0"
        for axis in (sequence, missed):
            heights = {text.get_text(): text.get_position()[1] for text in axis.texts}
            assert heights.keys() == {"Joint", "Pair", "CDP-Peel"}
            apart = np.diff(sorted(heights.values()))
            assert (apart > 0.08).all()
            assert max(heights.values()) <= 1
    assert "(ε, δ)-DP with δ = 10⁻⁶: CDP-Peel. The others: ε-DP." in note_of(figure)
    expect_tidy(figure)


def test_joint_and_pair_are_compared_at_the_first_and_the_smallest_epsilon(tables):
    reason = "pair cannot at k = {} and epsilon = 0.5: too hard"
    holes = left_out([("foods", "pair", 0.5, k, reason.format(k)) for k in (25, 45)])
    figure = draw("joint-and-pair", without(tables, holes))
    kept = tables["errors"][tables["errors"]["mechanism"].isin(["joint", "pair"])]
    first, small, _, last = figure.axes
    expect_lines(first, named(rows_of(kept, "books", "linf", epsilon=1)), 1)
    expect_lines(small, named(rows_of(kept, "books", "linf", epsilon=0.5)), 1)
    broken = {line.get_label(): np.isnan(line.get_ydata()).sum() for line in last.lines}
    assert broken == {"Joint": 0, "Pair": 2}
    assert (
        "At ε = 0.5, Pair: k = 25, 45 left out on Foods (stand-in): pair cannot: too hard"
        in note_of(figure)
    )
    assert "joint-and-pair" not in Field(labels={"joint": "Joint", "gamma": "Gamma"}).figures()


def test_contributions_show_curves_of_c_and_level_lines_of_the_best_others(tables, drawn):
    axes = iter(drawn["contributions"].axes)
    errors = tables["errors"][tables["errors"]["epsilon"] == 1]
    for dataset, k in itertools.product(("books", "foods"), (25, 95)):
        axis = next(axes)
        own = rows_of(errors, dataset, "linf", k=k).set_index("mechanism")["median"] + 1
        found = {line.get_label(): list(line.get_ydata()) for line in axis.lines}
        assert found.pop("Laplace") == [own[name] for _, name in BOUNDED["laplace"]]
        assert found == {LABELS[name]: [own[name]] * 3 for name in ("joint", "pair", "cdp_peel")}
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "2", "all"]


def test_mechanisms_without_a_list_are_compared_with_those_that_need_one(tables, monkeypatch):
    errors = tables["errors"]
    returned = errors[errors["metric"] == "linf_index"].assign(metric="returned")
    monkeypatch.setitem(METRICS, "returned", Metric("Items", "items returned", ""))
    get = mechanisms.get
    monkeypatch.setattr(
        mechanisms,
        "get",
        lambda name: dataclasses.replace(get(name), needs_domain=name != "laplace"),
    )
    figure = draw("no-list", tables | {"errors": pd.concat([errors, returned])})
    labels = {line.get_label() for axis in figure.axes for line in axis.lines}
    assert labels == {"Laplace", "Joint"}
    heads = [axis.get_ylabel() for axis in figure.axes[:3]]
    assert heads == ["items returned", "1 \u2212 recall", METRICS["linf"].axis]
    assert "no-list-small-epsilon" in Field().figures()
    monkeypatch.undo()
    assert "no-list" not in Field().figures()


# ---------------------------------------------------------------- maps


def colors_of(axis):
    """Rows x columns of the colours of a map, from the bottom."""
    return np.asarray(axis.collections[0].get_array())


def expect_map(axis, rows, letters):
    """A letter on colour where the winner stands alone, two letters on white for a tie of two."""
    found = colors_of(axis)
    texts = {text.get_position(): text.get_text() for text in axis.texts}
    for row in rows.itertuples():
        y, x = sorted(EPSILONS).index(row.epsilon), KS.index(row.k)
        tied = row.tied_with.split()
        color = "#FFFFFF" if tied else style.mechanism_style(row.winner).color
        assert found[y, x] == pytest.approx(to_rgb(color))
        few = len(tied) < 2 and row.compared > 2
        wanted = "".join(sorted(letters[name] for name in (row.winner, *tied))) if few else None
        assert texts.get((x + 0.5, y + 0.47)) == wanted


@pytest.mark.parametrize("name", ["winners", "datasets/foods"])
def test_maps_show_the_winners(tables, drawn, name):
    axes = drawn[name].axes
    datasets = ("books", "foods") if name == "winners" else ("foods",)
    axes = axes if name == "winners" else axes[-4:]
    panels = [(dataset, group) for dataset in datasets for group in ranking.MAPS.values()]
    for axis, (dataset, group) in zip(axes, panels, strict=True):
        rows = tables["winners"]
        rows = rows[(rows["dataset"] == dataset)]
        for column, value in group.items():
            rows = rows[rows[column] == value]
        assert len(rows) == len(EPSILONS) * len(KS)
        expect_map(axis, rows, LETTERS)
        # Pair was run at two of the epsilons.
        assert [label.get_text() for label in axis.get_yticklabels()] == ["0.5*", "1*", "3"]
    if name == "winners":
        legend = [text.get_text() for text in drawn[name].legends[0].get_texts()]
        assert legend == [f"{LETTERS[name]}  {label}" for name, label in LABELS.items()]


LETTERS = {"joint": "J", "pair": "P", "laplace": "L", "cdp_peel": "C", "canonical": "A"}


def test_every_mechanism_has_a_letter_of_its_own():
    assert ranking.letters_of(LABELS) == LETTERS
    labels = {str(n): "AAAA" for n in range(30)}
    letters = list(ranking.letters_of(labels).values())
    assert len(set(letters[:26])) == 26
    assert letters[26:] == ["?"] * 4


def test_letters_can_be_read_on_every_colour(drawn):
    for axis in drawn["winners"].axes:
        for text in axis.texts:
            x, y = (int(at) for at in text.get_position())
            contrast = abs(lab(text.get_color())[0] - lab(colors_of(axis)[y, x])[0])
            assert contrast > (35 if len(text.get_text()) == 1 else 45)


def test_many_k_are_thinned_out_so_that_letters_fit():
    assert ranking._spread(20, 10) == [0, 2, 4, 6, 8, 11, 13, 15, 17, 19]
    assert ranking._spread(3, 10) == [0, 1, 2]
    assert ranking._spread(1, 10) == [0]


def test_a_map_says_if_not_everybody_was_run_and_if_nobody_is_compared(tables, drawn):
    rows = tables["winners"].copy()
    assert "Not every mechanism" not in note_of(drawn["winners"])
    rows.loc[rows["k"] == 45, "compared"] = 9
    figure = draw("winners", tables | {"winners": rows[rows["guarantee"] != "approx"]})
    assert "Not every mechanism was run in every cell (results/missing.csv)." in note_of(figure)
    assert "Pair was run at \u03b5 = 1 and 0.5 only (*)." in note_of(figure)
    assert [text.get_text() for text in figure.axes[1].texts] == ["\u2013"]
    expect_tidy(figure)


def test_the_smallest_perfect_epsilon_is_shown_and_also_that_there_is_none(tables):
    errors = tables["errors"].copy()
    errors.loc[errors["metric"] == "linf", "median"] = 7
    chosen = (errors["dataset"] == "books") & (errors["metric"] == "linf")
    joint = chosen & (errors["mechanism"] == "joint")
    errors.loc[joint & (errors["k"] == 5), "median"] = 0  # at every epsilon
    errors.loc[joint & (errors["k"] == 25) & (errors["epsilon"] >= 1), "median"] = 0
    errors = errors[~(joint & (errors["k"] == 95))]  # not run
    pair = errors["mechanism"] == "pair"
    errors.loc[chosen & pair & (errors["k"] == 45) & (errors["epsilon"] == 3), "median"] = 0
    errors = errors[~(pair & (errors["epsilon"] == 1))]  # not run at one of the epsilons
    figure = draw("epsilon-needed", tables | {"errors": errors})
    axis = figure.axes[0]
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == ["CDP-Peel", "Laplace", "Pair", "Joint"]  # pure ones above, from the top
    found, scale = colors_of(axis), ranking.scale(EPSILONS)
    assert found[3, 0] == pytest.approx(scale[0.5])
    assert found[3, 1] == pytest.approx(scale[1.0])
    crosses = {tuple(at - 0.5) for at in axis.collections[1].get_offsets()}
    assert crosses == {(2, 3)} | {(x, y) for x in range(4) for y in range(2)}
    # What was not run is hatched, and nothing is said to need more than was tried.
    hatched = {tuple(path.vertices[0]) for path in axis.collections[2].get_paths()}
    assert hatched == {(3, 3)} | {(x, 2) for x in range(4)}
    assert found[2, 2] == pytest.approx(scale[3.0])
    assert found[2, 1] == pytest.approx((1, 1, 1))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["ε = 0.5", "ε = 1", "ε = 3", "not at ε ≤ 3"]
    assert axis.lines[0].get_ydata()[0] == 1  # between pure and approximate


def test_colours_of_epsilons_grow_lighter():
    for number in (1, 2, 6, 9):
        scale = ranking.scale([float(n) for n in range(number)])
        light = [lab(color)[0] for color in scale.values()]
        assert all(dark + 5 < bright for dark, bright in itertools.pairwise(light))


# ---------------------------------------------------------------- the catalogue


def of_the_field(**changes):
    shipped, over = (
        yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
        for name in ("config.yaml", "workflow/field.yaml")
    )
    return Plan(merged(merged(shipped, over), changes), ROOT)


def test_the_field_has_its_figures_and_the_paper_has_not():
    plan = of_the_field()
    assert set(NAMES) <= catalogue.figures(plan).keys()
    assert not set(NAMES) & catalogue.figures(of_the_field(leaderboard=False)).keys()
    assert plan.bounded()["laplace"][0] == [1, "laplace_c1"]
    assert [c for c, _ in plan.bounded()["gaussian"]] == [1, 2, 5, 10, 20, 50, 100, "all"]


def test_a_page_depends_on_its_own_dataset_only():
    for name, entry in catalogue.figures(of_the_field()).items():
        if name.startswith("datasets/"):
            own = name.removeprefix("datasets/")
            assert all(path.split("/")[-1].split(".")[0] == own for path in entry.tables.values())
            assert entry.tables["winners"] == f"results/winners/{own}.csv"
