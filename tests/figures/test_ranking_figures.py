"""Figures that compare many mechanisms at many epsilons."""

import inspect
import itertools
from typing import ClassVar

import numpy as np
import pytest
import yaml
from matplotlib.colors import to_rgb

from tests.figures.test_figures import (
    EPSILONS,
    ROOT,
    Experiment,
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
from workflow.scripts.figures import catalogue, drawing, maps, ranking, style

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

    def ranked(self):
        approximate = ("cdp_peel",)
        return {
            name: {"guarantee": "approx" if name in approximate else "pure", "output": "sequence"}
            for name in self.known
        }

    def bounded(self):
        return BOUNDED

    def epsilons_of(self, name):
        return self.some.get(name, self.epsilon_texts)


@pytest.fixture(scope="module")
def tables():
    bounded = [name for pairs in BOUNDED.values() for _, name in pairs[:-1]]
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


@pytest.mark.parametrize("name", NAMES)
def test_long_names_stay_inside(tables, name):
    suffix = ", a dataset with a long title"
    expect_tidy(draw(name, tables, Field(suffix=suffix)))


def test_every_entry_names_a_function_that_takes_what_it_gives():
    for entry in Field().figures().values():
        wanted = inspect.signature(getattr(drawing, entry.function)).parameters
        given = {*entry.tables, *entry.shows}
        if "counts" in given:
            given = given - {"counts", "facts"} | {"profile"}
        assert given == set(wanted)


# ---------------------------------------------------------------- lines


def named(rows):
    return rows.assign(mechanism=rows["mechanism"].map(LABELS))


def test_rivals_show_both_errors_of_all_that_have_them(tables, drawn):
    axes = iter(drawn["rivals"].axes)
    kept = tables["errors"][tables["errors"]["mechanism"].isin(LABELS)]
    for dataset, metric in itertools.product(("books", "foods"), ("linf", "recall")):
        rows = rows_of(kept, dataset, metric, epsilon=1)
        expect_lines(next(axes), named(rows), int(metric == "linf"))
    assert "(ε, δ)-DP: CDP-Peel; all others: ε-DP." in note_of(drawn["rivals"])


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


def test_contributions_show_curves_of_c_and_level_lines(tables, drawn):
    axes = iter(drawn["contributions"].axes)
    errors = tables["errors"][tables["errors"]["epsilon"] == 1]
    panels = itertools.product(("books", "foods"), ("linf", "recall"), (25, 95))
    for axis, (dataset, metric, k) in zip(axes, panels, strict=True):
        own = rows_of(errors, dataset, metric, k=k).set_index("mechanism")["median"]
        own = own + (metric == "linf")
        found = {line.get_label(): list(line.get_ydata()) for line in axis.lines}
        assert found.pop("Laplace") == [own[name] for _, name in BOUNDED["laplace"]]
        level = [name for name in LABELS if name in own.index and name != "laplace"]
        assert found == {LABELS[name]: [own[name]] * 3 for name in level}
        assert ("Canonical" in found) == (metric == "recall")
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "", "all"]


# ---------------------------------------------------------------- maps


def colors_of(axis):
    """Rows x columns of the colours of a map, from the bottom."""
    return np.asarray(axis.collections[0].get_array())


def expect_map(axis, rows):
    """The map shows the winners, which of them are sure, and the second of those that are not."""
    found = colors_of(axis)
    dots = {}
    for mesh in axis.collections[1:]:
        for x, y in mesh.get_offsets():
            dots[x - 0.5, y - 0.5] = tuple(mesh.get_facecolor()[0, :3])
    for row in rows.itertuples():
        y, x = sorted(EPSILONS).index(row.epsilon), KS.index(row.k)
        tied = row.tied_with.split()
        color = style.mechanism_style(row.winner).color
        if len(tied) + 1 == row.compared:
            wanted = to_rgb(maps.NO_DIFFERENCE)
        else:
            wanted = maps.pale(color) if tied else to_rgb(color)
            second = style.mechanism_style(tied[0]).color if tied else None
            assert dots.get((x, y)) == (second and pytest.approx(to_rgb(second)))
        assert found[y, x] == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["winners", "datasets/foods"])
def test_maps_show_the_winners(tables, drawn, name):
    axes = drawn[name].axes
    datasets = ("books", "foods") if name == "winners" else ("foods",)
    axes = axes if name == "winners" else axes[-4:]
    panels = [(dataset, group) for dataset in datasets for group in ranking.MAPS]
    for axis, (dataset, group) in zip(axes, panels, strict=True):
        rows = tables["winners"]
        rows = rows[(rows["dataset"] == dataset)]
        for column, value in zip(("guarantee", "output", "metric"), group, strict=True):
            rows = rows[rows[column] == value]
        assert len(rows) == len(EPSILONS) * len(KS)
        expect_map(axis, rows)
        assert [label.get_text() for label in axis.get_yticklabels()] == ["0.5", "1", "3"]


def test_the_mark_of_a_winner_stands_on_a_cell_that_it_wins():
    assert list(maps.middle([(0, 0), (0, 1), (0, 2)])) == [0, 1]
    ring = [(y, x) for y in range(3) for x in range(9) if (y, x) != (1, 4)]
    assert tuple(maps.middle(ring)) in ring


def test_a_map_says_if_not_everybody_was_run_and_if_nobody_is_compared(tables):
    rows = tables["winners"].copy()
    assert "Not every mechanism" not in note_of(draw("winners", tables))
    rows.loc[rows["k"] == 45, "compared"] = 9
    figure = draw("winners", tables | {"winners": rows[rows["guarantee"] != "approx"]})
    assert "Not every mechanism was run in every cell (results/missing.csv)." in note_of(figure)
    assert "Pair was run at \u03b5 = 1 and 0.5 only." in note_of(figure)
    assert [text.get_text() for text in figure.axes[1].texts] == ["nobody to compare"]
    expect_tidy(figure)


def test_the_smallest_perfect_epsilon_is_shown_and_also_that_there_is_none(tables):
    errors = tables["errors"].copy()
    errors.loc[errors["metric"] == "linf", "median"] = 7
    chosen = (errors["dataset"] == "books") & (errors["metric"] == "linf")
    joint = chosen & (errors["mechanism"] == "joint")
    errors.loc[joint & (errors["k"] == 5), "median"] = 0  # at every epsilon
    errors.loc[joint & (errors["k"] == 25) & (errors["epsilon"] >= 1), "median"] = 0
    errors = errors[~(joint & (errors["k"] == 95))]  # not run
    figure = draw("epsilon-needed", tables | {"errors": errors})
    axis = figure.axes[0]
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == ["CDP-Peel", "Laplace", "Pair", "Joint"]  # pure ones above, from the top
    found, scale = colors_of(axis), maps.scale(EPSILONS)
    assert found[3, 0] == pytest.approx(scale[0.5])
    assert found[3, 1] == pytest.approx(scale[1.0])
    crosses = {tuple(at - 0.5) for at in axis.collections[1].get_offsets()}
    assert crosses == {(2, 3)} | {(x, y) for x in range(4) for y in range(3)}
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["ε = 0.5", "ε = 1", "ε = 3", "not at ε ≤ 3"]
    assert axis.lines[0].get_ydata()[0] == 1  # between pure and approximate


def test_colours_of_epsilons_grow_lighter():
    for number in (1, 2, 6, 9):
        scale = maps.scale([float(n) for n in range(number)])
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
