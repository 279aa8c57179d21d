"""Figures are read back: what is drawn is what results/*.csv say, and a reader can see it."""

import base64
import inspect
import itertools
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from dp_topk import mechanisms
from tools import gallery
from workflow.scripts.common import InputError
from workflow.scripts.config.plan import Plan
from workflow.scripts.data.describe import rows_of_histograms
from workflow.scripts.data.profiles import write_facts, write_profile
from workflow.scripts.figures import catalogue, columns, drawing, panels, style

ROOT = Path(__file__).parents[2]

LABELS = {
    "joint": "Joint",
    "pnf_peel": "PNF-Peel",
    "cdp_peel": "CDP-Peel",
    "pnf_joint": "PNF-Joint",
}
# In figures of errors.
SHOWN = LABELS | {"cdp_peel": "CDP-Peel (approximate)"}
KS = list(range(5, 130, 10))
EPSILONS = [1.0, 0.5, 3.0]
METRICS = ["linf", "l1", "k_relative", "linf_index", "recall"]
PADDED = {"linf": 1, "l1": 1, "k_relative": 1, "linf_index": 0, "recall": 0}
MAX_K = 45
STATUS = {"foods": "stand-in", "games": "from-figure", "movies": "real-head"}
TITLES = {"foods": "Foods (stand-in)", "games": "Games (read from a figure)"}
UNKNOWN = {"foods": {"modelled_below": 100, "resolution": 30}}


class Experiment(dict):
    """What the catalogue asks of a plan, for datasets that need not exist."""

    epsilon_texts = ("1", "0.5", "3")

    def __init__(self, datasets=("books", "foods"), labels=LABELS, ks=KS, suffix=""):
        self.dataset_names, self.known, self.suffix = list(datasets), labels, suffix
        timed = dict.fromkeys(labels, ks)
        super().__init__(
            mechanisms=list(labels),
            ks=list(ks),
            trials=50,
            delta=1e-6,
            neighbors="add-remove",
            seed=1,
            leaderboard=False,
            epsilons=EPSILONS,
            timing={"dataset": "foods", "trials": 5, "mechanisms": timed},
            scaling={"mechanisms": list(labels)},
            figures={
                "appendix_mechanisms": [],
                "hidden_mechanisms": [],
                "index_datasets": list(datasets),
                "all_mechanisms_dataset": "foods",
                "pnf_joint_max_k": MAX_K,
                "epsilon_figure_k": 95,
            },
        )

    def labels(self, *names):
        return {name: self.known[name] for name in names}

    def about(self):
        return {
            name: {"title": name.title() + self.suffix, "status": STATUS.get(name, "real")}
            | UNKNOWN.get(name, {})
            for name in self.dataset_names
        }

    def ranked(self):
        return {
            name: {"guarantee": "approx" if name == "cdp_peel" else "pure", "output": "sequence"}
            for name in self.known
        }

    about_mechanisms = ranked

    def figures(self):
        return catalogue.figures(self) | {"scaling": catalogue.scaling(self)}


def make_tables(names=("books", "foods"), mechanisms=tuple(LABELS), ks=KS, seed=0):
    """Results in the formats of results/*.csv: random, with zeros, no two lines alike."""
    rng = np.random.default_rng(seed)
    errors, gaps, bins = [], [], []
    for name in names:
        for mechanism, epsilon, k in itertools.product(mechanisms, EPSILONS, ks):
            for metric in METRICS:
                top = rng.integers(0, 5000)
                quartiles = np.sort(rng.integers(0, top + 1, 3) + (metric == "linf_index"))
                if metric == "recall":
                    quartiles = np.sort(rng.uniform(size=3))
                errors.append((name, mechanism, epsilon, k, metric, *quartiles, 50))
        count = 10**6
        for k in range(1, max(ks) + 6):
            gap = int(rng.integers(0, 1000))
            gaps.append((name, k, count, gap))
            count -= gap
        edges = [0, 1, 2, 4, 10, 100, 1000, 10**6 + 1]
        bins += [(name, *edge, rng.integers(0, 500)) for edge in itertools.pairwise(edges)]
    timing = [
        ("foods", mechanism, 1, k, *np.sort(rng.uniform(1e-3, 90, 3)), 5)
        for mechanism in mechanisms
        for k in (ks if mechanism != "cdp_peel" else ks[:3])
    ]
    cost = [
        (mechanism, sweep, d, k, *np.sort(rng.uniform(1e-4, 10, 3)), 3)
        for mechanism in mechanisms
        for sweep, d, k in [*(("d", 10**n, 100) for n in (3, 4, 5)), *(("k", 500, k) for k in ks)]
    ]
    return {
        "errors": frame(errors, "dataset mechanism epsilon k metric q25 median q75 trials"),
        "missing": frame([], "dataset mechanism epsilon k reason"),
        "gaps": frame(gaps, "dataset k count gap"),
        "histograms": frame(bins, "dataset low high items"),
        "timing_summary": frame(timing, "dataset mechanism epsilon k q25 median q75 trials"),
        "scaling": frame(cost, "mechanism sweep d k q25 median q75 calls"),
    }


def frame(rows, columns):
    return pd.DataFrame(rows, columns=columns.split())


# Counts of the dataset that has a page: 7 items of count 0, gaps at the top of 0 to 9,999.
TOP = np.cumsum(np.random.default_rng(5).integers(0, 10**4, 200))[::-1]
PROFILE = (
    np.append(np.unique(TOP)[::-1], 0),
    np.append(np.unique(TOP, return_counts=True)[1][::-1], 7),
)

KINDS = ("png", "pdf", "html")
NAMES = [name for name in Experiment().figures() if name != "datasets/books"]
PAGE = "datasets/foods"
SAVED = [PAGE, "figure-3-time"]  # every kind of panel
ONE_DATASET = ("figure-3-time", "figure-6-all-mechanisms")
PER_DATASET = [
    name for name in NAMES if name not in (*ONE_DATASET, "scaling") and "datasets/" not in name
]


def draw(name, tables, experiment=None, profile=PROFILE, **changes):
    """A figure of the catalogue, from tables instead of files."""
    entry = (experiment or Experiment()).figures()[name]
    given = entry.shows | changes
    for table in entry.tables:
        if table in tables:
            rows = tables[table]
            if name.startswith("datasets/"):
                rows = rows[rows["dataset"] == name.removeprefix("datasets/")]
            given[table] = columns.Table.of([list(rows), *rows.itertuples(index=False)])
    if "counts" in entry.tables:
        given["profile"] = profile
    return drawing.function_of(name)(**given)


@pytest.fixture(scope="module")
def tables():
    return make_tables()


def write(tables, folder):
    """All files that figures are drawn from, where the catalogue says that they are."""
    for name, table in tables.items():
        path = folder / f"results/{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False)
        if name in ("errors", "missing"):
            (folder / "results" / name).mkdir(exist_ok=True)
            for dataset in ("books", "foods"):
                own = table[table["dataset"] == dataset]
                own.to_csv(folder / f"results/{name}/{dataset}.csv", index=False)
    for dataset in ("books", "foods"):
        write_profile(folder / f"data/counts/{dataset}.csv", *PROFILE)
        about = {"dataset": dataset, "source": "file"}
        write_facts(folder / f"data/counts/{dataset}.json", *PROFILE, **about)


def save(name, folder):
    """Save a figure in `folder` from its files there, as a rule would."""
    entry = Experiment().figures()[name]._asdict()
    entry["tables"] = {table: folder / path for table, path in entry["tables"].items()}
    files = (folder / f"figures/{name}.{kind}" for kind in KINDS)
    drawing.draw(name, entry, *files)


@pytest.fixture(scope="module")
def saved(tables, tmp_path_factory):
    """A folder with all tables and with SAVED."""
    folder = tmp_path_factory.mktemp("figures")
    write(tables, folder)
    for name in SAVED:
        save(name, folder)
    return folder


@pytest.fixture(scope="module")
def drawn(tables):
    return {name: draw(name, tables) for name in NAMES}


def expect_lines(axis, rows, pad, x="k"):
    """The panel has one line and one band for each mechanism: exactly the rows of the table."""
    found = {line.get_label(): line for line in axis.lines}
    labels = LABELS if "seconds" in axis.get_ylabel() else SHOWN
    wanted = {labels.get(name, name): own for name, own in rows.groupby("mechanism")}
    assert found.keys() == wanted.keys()
    assert len(axis.collections) == len(wanted)
    bands = dict(zip(found, axis.collections, strict=True))
    for label, own in wanted.items():
        own = own.sort_values(x)
        np.testing.assert_array_equal(found[label].get_xdata(), own[x])
        np.testing.assert_allclose(found[label].get_ydata(), own["median"] + pad, rtol=1e-12)
        corners = rounded(*bands[label].get_paths()[0].vertices.T)
        for side in ("q25", "q75"):
            assert rounded(own[x], own[side] + pad) <= corners


def rounded(x, y):
    """Points as a set; sums by different programs differ in the last bit."""
    return set(zip(x, np.round(y, 9), strict=True))


def rows_of(errors, dataset, metric, **values):
    rows = errors[(errors["dataset"] == dataset) & (errors["metric"] == metric)]
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


# ---------------------------------------------------------------- what is drawn


def test_gaps_and_errors_shows_the_tables(tables, drawn):
    axes = drawn["figure-1-gaps-and-errors"].axes
    assert len(axes) == 6
    for row, dataset in enumerate(("books", "foods")):
        gap, linf, l1 = axes[3 * row : 3 * row + 3]
        own = tables["gaps"][tables["gaps"]["dataset"] == dataset]
        expect_gaps(gap, own[own["k"] <= max(KS)]["gap"])
        expect_lines(linf, rows_of(tables["errors"], dataset, "linf", epsilon=1), 1)
        expect_lines(l1, rows_of(tables["errors"], dataset, "l1", epsilon=1), 1)


def expect_gaps(axis, gaps):
    (line,) = axis.lines
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, len(gaps) + 1))
    np.testing.assert_array_equal(line.get_ydata(), gaps + 1)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("figure-2-linf-index", "linf_index"),
        ("figure-5-k-relative", "k_relative"),
        ("figure-7-pnf-joint", "linf"),
    ],
)
def test_error_grid_shows_the_table(tables, drawn, name, metric):
    for axis, dataset in zip(drawn[name].axes, ("books", "foods"), strict=True):
        rows = rows_of(tables["errors"], dataset, metric, epsilon=1)
        if name == "figure-7-pnf-joint":
            rows = rows[rows["k"] <= MAX_K]
        expect_lines(axis, rows, PADDED[metric])


def test_time_shows_the_table_and_who_was_timed_less(tables, drawn):
    figure = drawn["figure-3-time"]
    (axis,) = figure.axes
    expect_lines(axis, tables["timing_summary"], 0)
    note = note_of(figure)
    assert "5 calls" in note
    assert f"Timed at 3 of the {len(KS)} k only: CDP-Peel." in note
    short = next(line for line in axis.lines if line.get_label() == "CDP-Peel")
    assert short.get_markevery() == 1


def test_histograms_show_the_table(tables, drawn):
    for axis, dataset in zip(drawn["figure-4-histograms"].axes, ("books", "foods"), strict=True):
        expect_bars(axis, tables["histograms"], dataset)


def expect_bars(axis, histograms, dataset):
    """A bar for each bin; those of modelled counts have a hatched one on top."""
    own = histograms[(histograms["dataset"] == dataset) & (histograms["items"] > 0)]
    for hatch, rows in (
        (None, own),
        ("/////", own[own["low"] < UNKNOWN.get(dataset, {}).get("modelled_below", 0)]),
    ):
        bars = [
            (bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height())
            for bar in axis.patches
            if bar.get_hatch() == hatch
        ]
        assert bars == [tuple(row) for row in rows[["low", "high", "items"]].to_numpy()]
    assert f"{own['items'].sum():,}" in axis.get_xlabel()


def test_all_mechanisms_shows_the_errors_and_baselines_of_the_paper(tables, drawn):
    kept = tables["errors"][tables["errors"]["mechanism"] != "pnf_joint"]
    for axis, metric in zip(drawn["figure-6-all-mechanisms"].axes, METRICS[:3], strict=True):
        expect_lines(axis, rows_of(kept, "foods", metric, epsilon=1), PADDED[metric])


def test_a_page_shows_all_about_its_dataset(tables, drawn):
    histogram, gap, *rest = drawn[PAGE].axes
    counts = np.repeat(*PROFILE)
    bars = [bar for bar in histogram.patches if not bar.get_hatch()]
    assert sum(bar.get_height() for bar in bars) == len(counts)
    for bar in bars:
        low, high = bar.get_x(), bar.get_x() + bar.get_width()
        assert bar.get_height() == ((low <= counts) & (counts < high)).sum()
    expect_gaps(gap, -np.diff(counts)[: max(KS)])
    for axis, metric in zip(rest, METRICS, strict=True):
        expect_lines(axis, rows_of(tables["errors"], "foods", metric, epsilon=1), PADDED[metric])


def test_error_against_epsilon_shows_one_k(tables, drawn):
    panel = iter(drawn["error-against-epsilon"].axes)
    for dataset in ("books", "foods"):
        for metric in ("linf", "l1"):
            axis = next(panel)
            expect_lines(axis, rows_of(tables["errors"], dataset, metric, k=95), 1, "epsilon")
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0.5", "1", "3"]


def test_scaling_shows_the_table(tables, drawn):
    for axis, sweep in zip(drawn["scaling"].axes, "dk", strict=True):
        own = tables["scaling"][tables["scaling"]["sweep"] == sweep]
        expect_lines(axis, own, 0, sweep)
        assert axis.get_xscale() == axis.get_yscale() == "log"
    assert "median of 3 calls" in note_of(drawn["scaling"])


def test_what_is_not_known_is_shaded_or_hatched_and_said(drawn):
    def shaded(axis):
        return [
            patch for patch in axis.patches if to_rgb(panels.SHADE) == patch.get_facecolor()[:3]
        ]

    gap, linf, l1 = drawn["figure-1-gaps-and-errors"].axes[3:]
    for axis in (gap, linf):
        (band,) = shaded(axis)
        assert band.get_y() + band.get_height() == UNKNOWN["foods"]["resolution"] + 1
        assert band.get_y() <= axis.get_ylim()[0]
    assert [text.get_text() for text in gap.texts] == ["below: modelled, not read"]
    assert not any(shaded(axis) for axis in [l1, *drawn["figure-1-gaps-and-errors"].axes[:3]])
    for name in ("figure-1-gaps-and-errors", PAGE):
        assert "Shaded: counts of Foods (stand-in) are known to within 30 only" in note_of(
            drawn[name]
        )
    for name in ("figure-4-histograms", PAGE):
        said = "Hatched (modelled, not counted): Foods (stand-in) below 100."
        assert said in note_of(drawn[name])


@pytest.mark.parametrize("delta", [1e-6, 2.5e-7, 0.01])
def test_error_figures_say_who_is_approximate_and_delta(tables, drawn, delta):
    figure = draw("figure-5-k-relative", tables, delta=delta)
    written = {1e-6: "10\u207b\u2076", 2.5e-7: "2.5 \u00b7 10\u207b\u2077", 0.01: "0.01"}[delta]
    assert f"Approximate: (\u03b5, \u03b4)-DP with \u03b4 = {written}." in note_of(figure)
    assert "CDP-Peel (approximate)" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert "pproximate" not in note_of(drawn["figure-3-time"])


def note_of(figure):
    """The note above the legend, on one line."""
    return figure.legends[0].get_title().get_text().replace("\n", " ")


def test_another_epsilon_gives_its_own_lines(tables):
    figure = draw("figure-5-k-relative", tables, epsilons=[0.5])
    rows = rows_of(tables["errors"], "books", "k_relative", epsilon=0.5)
    expect_lines(figure.axes[0], rows, 1)


# ---------------------------------------------------------------- what a reader sees


@pytest.mark.parametrize("name", NAMES)
def test_panels_say_what_they_show(drawn, name):
    figure = drawn[name]
    for axis in figure.axes:
        assert axis.get_title("left")
        assert axis.get_ylabel()
        assert axis.get_yscale() == ("linear" if axis.get_ylabel() == "recall" else "log")
        assert axis.lines or axis.patches
        below = [a for a in figure.axes if is_below(a, axis)]
        assert axis.get_xlabel() or below
    (legend,) = figure.legends
    shown = {} if name == "figure-4-histograms" else dict(LABELS if is_timed(name) else SHOWN)
    if name == "figure-6-all-mechanisms":
        del shown["pnf_joint"]
    assert sorted(text.get_text() for text in legend.get_texts()) == sorted(shown.values())


def is_timed(name):
    return name in ("figure-3-time", "scaling")


def is_below(one, other):
    one, other = one.get_position(), other.get_position()
    return abs(one.x0 - other.x0) < 0.01 and one.y1 < other.y0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "scaling"])
def test_counts_that_are_not_the_originals_say_so(drawn, name):
    figure = drawn[name]
    words = [axis.get_title("left") for axis in figure.axes] + [figure.get_suptitle()]
    assert "Foods (stand-in)" in words
    if name in PER_DATASET:
        assert "Books" in words


def test_recall_has_an_axis_from_0_to_1(drawn):
    axis = drawn[PAGE].axes[-1]
    low, high = axis.get_ylim()
    assert axis.get_ylabel() == "recall"
    assert -0.1 < low < 0
    assert 1 < high < 1.1


def test_labels_name_the_padding(drawn):
    labels = [axis.get_ylabel() for axis in drawn[PAGE].axes[1:]]
    assert [label.endswith("+ 1") for label in labels] == [True, True, True, True, False, False]


def boxes(figure):
    """Extents of each panel with all its text, of the legend and of the title."""
    FigureCanvasAgg(figure)
    figure.set_dpi(style.DPI)
    figure.draw_without_rendering()
    parts = [*figure.axes, *figure.legends]
    found = [part.get_tightbbox() for part in parts]
    if figure.get_suptitle():
        found.append(figure._suptitle.get_window_extent())
    return found


def expect_tidy(figure):
    found = boxes(figure)
    for box in found:
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert 0 <= box.y0 < box.y1 <= figure.bbox.y1
    for one, other in itertools.combinations(found, 2):
        shared = min(one.x1, other.x1) - max(one.x0, other.x0)
        stacked = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert shared <= 1 or stacked <= 1  # pixels
    for axis in figure.axes:
        for labels, edges in (
            (axis.get_xticklabels(), ("x0", "x1")),
            (axis.get_yticklabels(), ("y0", "y1")),
        ):
            spans = sorted(
                tuple(getattr(label.get_window_extent(), edge) for edge in edges)
                for label in labels
                if label.get_text() and label.get_visible()
            )
            assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_clipped_and_nothing_overlaps(drawn, name):
    expect_tidy(drawn[name])


@pytest.mark.parametrize(
    "name", ["figure-1-gaps-and-errors", "figure-3-time", "figure-4-histograms", PAGE]
)
def test_long_names_stay_inside(tables, name):
    labels = {key: f"{label} with a long name" for key, label in LABELS.items()}
    suffix = ", a dataset with a long title that costs $5 or $6"
    expect_tidy(draw(name, tables, Experiment(labels=labels, suffix=suffix)))


def test_any_number_of_long_names_finds_its_columns():
    labels = {f"m{n}": f"Mechanism number {n} with a very long name" for n in range(9)}
    ks = [5, 15]
    figure = draw(
        "figure-2-linf-index",
        make_tables(mechanisms=tuple(labels), ks=ks),
        Experiment(labels=labels, ks=ks),
    )
    expect_tidy(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(labels.values())


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("scaling",)])
def test_no_error_is_a_visible_line(tables, name):
    zero = {**tables, "errors": tables["errors"].copy(), "gaps": tables["gaps"].assign(gap=0)}
    kept = zero["errors"]["metric"] == "linf_index"
    for column in ("q25", "median", "q75"):
        zero["errors"][column] = kept.astype(int)
    even = np.array([9, 0]), np.array([200, 7])
    for axis in draw(name, zero, profile=even).axes:
        if axis.get_ylabel() == "recall":
            continue
        low, high = axis.get_ylim()
        assert high >= 10 * max(low, 0.5)
        if axis.lines and name != "figure-3-time":
            assert 0.5 < low < 0.95  # the line at 1 is clear of the frame
            said = [text.get_text() for text in axis.texts]
            if "gap" not in axis.get_ylabel():
                wanted = ["every quartile is 0"] if "error + 1" in axis.get_ylabel() else []
                assert [words for words in said if words] == wanted


@pytest.mark.parametrize("values", [(1, 1), (1, 3), (150, 1500), (2, 5), (0.004, 80), (7, 7)])
def test_log_limits_hold_the_data_and_two_powers_of_ten(values):
    low, high = panels.log_limits(*values)
    assert low < min(values) <= max(values) < high
    assert sum(low <= 10.0**n <= high for n in range(-5, 9)) >= 2
    assert high / low < 200 * max(values) / min(values)


def test_a_panel_without_data_says_so(tables):
    figure = draw("figure-7-pnf-joint", tables, ks=[1])
    assert [axis.texts[0].get_text() for axis in figure.axes] == ["no results"] * 2
    expect_tidy(figure)


# ---------------------------------------------------------------- other experiments


@pytest.mark.parametrize(
    ("name", "number"), [*((name, 1) for name in PER_DATASET), ("figure-5-k-relative", 7)]
)
def test_grids_follow_the_number_of_datasets(name, number):
    names = ["foods", "books", "games", "movies", "news", "tweets", "pets"][:number]
    figure = draw(name, make_tables(names, ks=[5, 15, 95]), Experiment(names, ks=[5, 15, 95]))
    shown = {axis.get_title("left").replace("\n", " ") for axis in figure.axes}
    assert shown == {TITLES.get(name, name.title()) for name in names}
    expect_tidy(figure)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "figure-4-histograms"])
def test_a_mechanism_that_the_table_does_not_know_is_drawn(name):
    labels = {**LABELS, "mine": "mine"}
    figure = draw(name, make_tables(mechanisms=tuple(labels)), Experiment(labels=labels))
    assert "mine" in [text.get_text() for text in figure.legends[0].get_texts()]
    looks = {
        (line.get_color(), line.get_marker())
        for axis in figure.axes
        for line in axis.lines
        if line.get_label() == "mine"
    }
    assert looks == {(style.mechanism_style("mine").color, style.mechanism_style("mine").marker)}


def test_one_k_is_drawn_side_by_side_with_markers_and_quartiles():
    figure = draw("figure-5-k-relative", make_tables(ks=[7]), Experiment(ks=[7]))
    for axis in figure.axes:
        at = [x for line in axis.lines for x in line.get_xdata()]
        assert len(set(at)) == len(at) == len(LABELS)
        assert np.mean(at) == pytest.approx(7)
        assert all(line.get_marker() != "None" for line in axis.lines)
        assert axis.get_xlim()[0] < min(at) < max(at) < axis.get_xlim()[1]
        assert all(band.get_linewidth()[0] >= 1 for band in axis.collections)
    expect_tidy(figure)


def test_histograms_of_odd_profiles_are_readable():
    some = [
        ([5], [300]),
        ([0], [50]),
        ([1], [1]),
        ([9 * 10**15, 17, 0], [1, 4, 2]),
        ([2], [10**15]),
    ]
    profiles = [(np.array(counts), np.array(items)) for counts, items in some]
    names = {name: name for name in "abcde"}
    bins = list(rows_of_histograms(profiles, [{"dataset": name} for name in names]))
    figure = drawing.function_of("figure-4-histograms")(
        columns.Table.of(bins), titles=names, modelled={}
    )
    expect_tidy(figure)
    for axis, (counts, _) in zip(figure.axes, profiles, strict=True):
        numbers = [label.get_text() for label in axis.get_xticklabels() if label.get_text()]
        assert 2 <= len(numbers) <= 6
        assert len(axis.patches) == len(counts)
        for bar in axis.patches:
            assert bar.get_window_extent().width > 1  # pixel
            assert bar.get_x() + bar.get_width() <= axis.get_xlim()[1]


# ---------------------------------------------------------------- files


def test_a_figure_has_a_page_that_scrolls(saved):
    page = (saved / f"figures/{PAGE}.html").read_text(encoding="utf-8")
    assert '<meta name="viewport" content="width=device-width' in page
    png = (saved / f"figures/{PAGE}.png").read_bytes()
    assert base64.b64encode(png).decode() in page
    assert "All about one dataset." in page


@pytest.mark.parametrize("name", SAVED)
def test_files_hold_the_figure(saved, drawn, name):
    assert (saved / f"figures/{name}.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(saved / f"figures/{name}.png") as png:
        np.testing.assert_array_equal(np.asarray(png.convert("RGB")), pixels_of(drawn[name]))


@style.styled()
def pixels_of(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3]


@pytest.mark.parametrize("name", NAMES)
def test_pictures_show_something(drawn, name):
    pixels = pixels_of(drawn[name]).astype(np.int16)
    width = style.WIDTH * (0.6 if name == "figure-3-time" else 1)
    assert pixels.shape[1] == pytest.approx(width * style.DPI, abs=1)
    ink = pixels[pixels.sum(axis=2) < 740]
    assert ink.size > 0.02 * pixels.size
    if name != "figure-4-histograms":
        for mechanism in LABELS.keys() - ({"pnf_joint"} if "figure-6" in name else set()):
            color = 255 * np.array(to_rgb(style.mechanism_style(mechanism).color))
            assert (np.abs(ink - color).max(axis=1) < 12).sum() > 30


def run_entry(folder):
    """Run the script of a rule, which draws SAVED from files in the working directory."""
    known = Experiment().figures()
    out = {"png": "png", "pdf": "pdf", "page": "html"}
    snakemake = SimpleNamespace(
        output=SimpleNamespace(
            **{
                key: [folder / f"figures/{name}.{kind}" for name in SAVED]
                for key, kind in out.items()
            }
        ),
        input=SimpleNamespace(tables=catalogue.files_of(known, *SAVED)),
        params=SimpleNamespace(figures=catalogue.entries(known, *SAVED)),
        log=[folder / "log"],
    )
    entry = Path(drawing.__file__).with_name("rule_figures.py")
    runpy.run_path(str(entry), {"snakemake": snakemake})


def test_the_entry_of_the_rule_gives_the_same_bytes_whatever_the_user_set(tables, saved, tmp_path):
    write(tables, tmp_path)
    settings = "font.size: 20", "backend: svg", "xtick.direction: in", "figure.facecolor: black"
    (tmp_path / "matplotlibrc").write_text("\n".join(settings))
    program = (
        "import pathlib\nfrom tests.figures import test_figures\n"
        "test_figures.run_entry(pathlib.Path.cwd())"
    )
    path = os.pathsep.join((str(ROOT / "tests"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": path, "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
    for name, kind in itertools.product(SAVED, KINDS):
        file = f"figures/{name}.{kind}"
        assert (tmp_path / file).read_bytes() == (saved / file).read_bytes(), file


@pytest.mark.parametrize("name", ["null", "nan", "inf"])
def test_a_dataset_keeps_its_name(tmp_path, name):
    tables = make_tables((name, "foods"), ks=[5, 15])
    tables["errors"].to_csv(tmp_path / "errors.csv", index=False)
    errors = columns.read(tmp_path / "errors.csv")
    assert list(dict.fromkeys(errors["dataset"])) == [name, "foods"]
    assert errors.at(dataset=name).size == errors.size / 2


# ---------------------------------------------------------------- what was not run


def left_out(rows):
    return frame(rows, "dataset mechanism epsilon k reason")


def without(tables, missing):
    """The tables of a run in which these cells were not run."""
    cells = ["dataset", "mechanism", "epsilon", "k"]
    errors = tables["errors"].merge(missing[cells], how="left", indicator=True)
    errors = errors[errors.pop("_merge") == "left_only"]
    return {**tables, "errors": errors, "missing": missing}


def test_a_line_is_broken_where_a_cell_was_not_run(tables):
    holes = left_out([("foods", "joint", 1.0, k, "too hard") for k in (35, 45)])
    figure = draw("figure-5-k-relative", without(tables, holes))
    books, foods = figure.axes
    by_label = {line.get_label(): line for line in foods.lines}
    line = by_label["Joint"]
    assert list(line.get_xdata()) == KS
    assert [k for k, y in zip(KS, line.get_ydata(), strict=True) if np.isnan(y)] == [35, 45]
    assert line.get_markevery() == 1  # a point between two holes is seen
    assert not np.isnan(by_label["PNF-Peel"].get_ydata()).any()
    assert not any(np.isnan(line.get_ydata()).any() for line in books.lines)
    assert "Joint: k = 35, 45 left out on Foods (stand-in): too hard" in note_of(figure)
    expect_tidy(figure)


def test_a_page_says_why_large_k_are_left_out(tables):
    reason = "foods has only 50 items"
    holes = left_out([("foods", name, 1.0, k, reason) for name in LABELS for k in KS if k > 50])
    figure = draw(PAGE, without(tables, holes))
    assert f"k \u2265 55 left out: {reason}" in note_of(figure)
    assert "Joint:" not in note_of(figure)
    expect_tidy(figure)


def test_many_reasons_are_cut_short(tables):
    holes = left_out(
        [("foods", name, 1.0, k, f"reason {k} of {name}") for name in LABELS for k in (5, 25)]
    )
    figure = draw("figure-1-gaps-and-errors", without(tables, holes))
    assert "and 4 more: results/missing.csv" in note_of(figure)
    expect_tidy(figure)


def test_sets_are_only_where_they_have_a_metric(tables):
    errors = tables["errors"]
    of_sets = errors["metric"].isin(["k_relative", "recall"])
    of_set = errors[(errors["mechanism"] != "joint") | of_sets]
    figure = draw(PAGE, {**tables, "errors": of_set})
    shown = {
        axis.get_title("left"): {line.get_label() for line in axis.lines} for axis in figure.axes
    }
    assert "Joint" not in shown["Largest error"] | shown["Sum of errors"]
    assert "Joint" in shown["k-relative error"] & shown["Recall"]
    figure = draw("figure-1-gaps-and-errors", {**tables, "errors": of_set})
    assert "Joint" not in [text.get_text() for text in figure.legends[0].get_texts()]


# ---------------------------------------------------------------- published algorithms


def test_published_algorithms_have_the_look_of_ours_with_open_markers():
    published = [name for name in mechanisms.names() if mechanisms.get(name).published_of]
    labels = {name: name for name in ("joint", "pnf_peel", *published)}
    tables = make_tables(mechanisms=tuple(labels))
    timing = tables["timing_summary"]
    few = ~timing["mechanism"].isin(published) | timing["k"].isin(KS[:4])
    tables["timing_summary"] = timing[few]
    figure = draw("figure-3-time", tables, Experiment(labels=labels))
    looks = {line.get_label(): line for line in figure.axes[0].lines}
    for name, ours in (("joint_alg1", "joint"), ("pnf_peel_alg2", "pnf_peel")):
        assert looks[name].get_color() == looks[ours].get_color()
        assert looks[name].get_marker() == looks[ours].get_marker()
        assert looks[name].get_linestyle() == looks[ours].get_linestyle()
        assert looks[name].get_markerfacecolor() == "white"
        assert looks[ours].get_markerfacecolor() != "white"
    note = note_of(figure)
    assert "Open markers: the published algorithms in NumPy, not the published code." in note
    assert f"Timed at 4 of the {len(KS)} k only: the published algorithms." in note


def test_fewer_calls_are_said(tables):
    timing = tables["timing_summary"].copy()
    timing.loc[timing["mechanism"] == "joint", "trials"] = 2
    note = note_of(draw("figure-3-time", {**tables, "timing_summary": timing}))
    assert "median of 2 to 5 calls" in note
    assert "Slow calls were timed less often." in note


# ---------------------------------------------------------------- the catalogue


def shipped(**changes):
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    return catalogue.figures(Plan(config | changes, ROOT))


PAPER = [name for name in NAMES if name.startswith("figure-")]


def test_the_shipped_config_has_every_figure_of_the_paper_and_a_page_for_each_dataset():
    names = ["books", "foods", "games", "movies", "news", "tweets"]
    assert list(shipped()) == PAPER + [f"datasets/{name}" for name in names]


def test_figures_are_left_out_where_the_config_cannot_fill_them():
    assert "error-against-epsilon" in shipped(epsilons=[1, 2])
    assert "figure-7-pnf-joint" not in shipped(mechanisms=["joint", "pnf_peel"])
    assert "figure-7-pnf-joint" not in shipped(ks=[55, 95])
    assert list(shipped(only=["news"])) == [*PAPER, "datasets/news"]


def test_a_page_depends_on_its_own_dataset_only():
    for name, entry in shipped().items():
        if name.startswith("datasets/"):
            assert {Path(path).stem for path in entry.tables.values()} == {Path(name).name}


def expect_arguments(figures):
    """Every figure has a function that takes what its entry gives."""
    for name, entry in figures.items():
        wanted = inspect.signature(drawing.function_of(name)).parameters
        given = {*entry.tables, *entry.shows}
        if "counts" in given:
            given = given - {"counts", "facts"} | {"profile"}
        required = {key for key, argument in wanted.items() if argument.default is argument.empty}
        assert required <= given <= set(wanted), name


def test_every_figure_has_a_function_that_takes_what_its_entry_gives():
    expect_arguments(Experiment().figures())


def test_the_catalogue_is_read_without_matplotlib_and_figures_are_drawn_without_pandas():
    program = (
        "import sys, workflow.scripts.figures.catalogue\n"
        "assert not {'matplotlib', 'pandas'} & sys.modules.keys()\n"
        "import workflow.scripts.figures.drawing\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


# ---------------------------------------------------------------- colours

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "full": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def lab(color, sight="full"):
    """CIELAB coordinates of a colour as an eye of that sight sees it."""
    srgb = np.array(to_rgb(color))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(SIGHT[sight]) @ linear, 0, 1)
    ratio = TO_XYZ @ seen / TO_XYZ.sum(axis=1)
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Those that the paper has, and its rivals: each has a look of its own.
STYLES = {
    name: style.mechanism_style(name)
    for name in mechanisms.names()
    if not mechanisms.get(name).published_of
}


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_one_figure_differ_for_every_sight(sight):
    """Mechanisms without a list of items have figures of their own, with two that need it."""
    listed = [name for name in STYLES if mechanisms.get(name).needs_domain]
    unlisted = [name for name in STYLES if name not in listed] + list(catalogue.WITH_LIST)
    for group in (listed, unlisted):
        for one, other in itertools.combinations(group, 2):
            colors = (lab(STYLES[name].color, sight) for name in (one, other))
            assert np.linalg.norm(np.subtract(*colors)) > 15, (one, other)


def test_lines_and_markers_differ_without_colour():
    assert len({look.marker for look in STYLES.values()}) == len(STYLES)
    assert len({str(look.dashes) for look in STYLES.values()}) == len(STYLES)


def test_the_three_of_figure_1_differ_in_grey():
    grey = [lab(STYLES[name].color)[0] for name in ("joint", "pnf_peel", "cdp_peel")]
    assert all(abs(one - other) > 12 for one, other in itertools.combinations(grey, 2))


def test_every_colour_stands_out_from_paper():
    colors = [look.color for look in STYLES.values()] + list(style.SPARE_COLORS)
    assert all(lab(color)[0] < 78 for color in colors)


def test_nothing_can_be_mistaken_for_joint(monkeypatch):
    joint = STYLES["joint"]
    assert joint.dashes == "-"
    get = mechanisms.get

    def added(name):
        """A module that says what the user liked, which may be Joint's own look."""
        said = {"like_joint": ("#0B3B9C", (), "o"), "silent": (None, None, None)}
        if name not in said:
            return get(name)
        look = dict(zip(("color", "dash", "marker"), said[name], strict=True))
        return SimpleNamespace(published_of=None, **look)

    monkeypatch.setattr(style.mechanisms, "get", added)
    names = ["like_joint", "silent", "joint_mine", "joint_alg1_mine", *map(str, range(20))]
    for name in names:
        look = style.mechanism_style(name)
        assert look.dashes != joint.dashes
        assert look.color != joint.color
    for color, sight in itertools.product(style.SPARE_COLORS, SIGHT):
        assert np.linalg.norm(lab(color, sight) - lab(joint.color, sight)) > 30, (color, sight)


def test_what_a_module_says_of_its_look_is_kept(monkeypatch):
    look = SimpleNamespace(published_of=None, color="#C05010", dash=(7, 3), marker="s")
    monkeypatch.setattr(style.mechanisms, "get", lambda name: look)
    monkeypatch.setattr(style, "_unlike_joint", lambda color: True)
    assert style.mechanism_style("mine") == style.Style("#C05010", (0, (7, 3)), "s")


def test_unknown_mechanisms_have_styles_of_their_own():
    looks = {name: style.mechanism_style(name) for name in ("mine", "yours", "theirs")}
    assert len(set(looks.values())) == 3
    for known, look in itertools.product(STYLES.values(), looks.values()):
        assert look.color != known.color
        assert look.dashes != known.dashes
        assert look.marker != known.marker


# ---------------------------------------------------------------- gallery


@pytest.fixture
def made(saved, tmp_path):
    folder = tmp_path / "figures"
    (folder / "datasets").mkdir(parents=True)
    shutil.copy(saved / "figures/figure-3-time.png", folder / "a.png")
    shutil.copy(folder / "a.png", folder / "datasets" / "foods.png")
    return folder


def test_gallery_has_a_small_copy_of_each_figure(made, tmp_path):
    gallery.main(made, tmp_path / "gallery")
    copies = {path.name: path.read_bytes() for path in (tmp_path / "gallery").iterdir()}
    assert copies.keys() == {"a.png", "datasets-foods.png"}
    for name, original in (("a.png", "a.png"), ("datasets-foods.png", "datasets/foods.png")):
        with Image.open(tmp_path / "gallery" / name) as copy, Image.open(made / original) as full:
            assert copy.width == round(full.width * gallery.SCALES[0])
            assert copy.mode == "P"
        assert len(copies[name]) < (made / original).stat().st_size / 2
    gallery.main(made, tmp_path / "again")
    assert copies == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}


def test_gallery_can_take_some_figures_under_other_names(made, tmp_path):
    gallery.main(made, tmp_path / "gallery", "field-", "a", "not-there")
    assert [path.name for path in (tmp_path / "gallery").iterdir()] == ["field-a.png"]


def test_gallery_keeps_its_limit(made, tmp_path, monkeypatch):
    gallery.main(made, tmp_path / "gallery")
    first = sum(path.stat().st_size for path in (tmp_path / "gallery").iterdir())
    monkeypatch.setattr(gallery, "LIMIT", first - 1)
    gallery.main(made, tmp_path / "gallery")
    assert sum(path.stat().st_size for path in (tmp_path / "gallery").iterdir()) < first
    monkeypatch.setattr(gallery, "LIMIT", 1000)
    with pytest.raises(InputError, match="do not fit"):
        gallery.main(made, tmp_path / "gallery")


def test_gallery_without_figures_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match="make the figures first"):
        gallery.main(tmp_path, tmp_path / "gallery")
