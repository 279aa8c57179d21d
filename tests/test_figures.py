"""Figures are read back: what is drawn is what results/*.csv say, and a reader can see it."""

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
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from workflow.scripts import contact_sheet, figures, panels, style
from workflow.scripts.common import InputError

LABELS = {
    "joint": "Joint",
    "pnf_peel": "PNF-Peel",
    "cdp_peel": "CDP-Peel",
    "pnf_joint": "PNF-Joint",
}
KS = list(range(5, 130, 10))
EPSILONS = [1.0, 0.5, 3.0]
METRICS = ["linf", "l1", "k_relative", "linf_index"]
PADDED = {"linf": 1, "l1": 1, "k_relative": 1, "linf_index": 0}
MAX_K = 45


def make_tables(names=("books", "foods"), mechanisms=tuple(LABELS), ks=KS, seed=0):
    """Results in the formats of results/*.csv: random, with zeros, no two lines alike."""
    rng = np.random.default_rng(seed)
    errors, gaps, bins = [], [], []
    for name in names:
        for mechanism, epsilon, k in itertools.product(mechanisms, EPSILONS, ks):
            for metric in METRICS:
                top = rng.integers(0, 5000)
                quartiles = np.sort(rng.integers(0, top + 1, 3) + (metric == "linf_index"))
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
        (mechanism, sweep, d, k, repeat, rng.uniform(1e-4, 10))
        for mechanism in mechanisms
        for sweep, d, k in [*(("d", 10**n, 100) for n in (3, 4, 5)), *(("k", 500, k) for k in ks)]
        for repeat in (1, 2, 3)
    ]
    status = {"foods": "stand-in", "movies": "real-head"}
    facts = [(name, name.title(), status.get(name, "real"), 500) for name in names]
    return {
        "errors": frame(errors, "dataset mechanism epsilon k metric q25 median q75 trials"),
        "gaps": frame(gaps, "dataset k count gap"),
        "histograms": frame(bins, "dataset low high items"),
        "timing": frame(timing, "dataset mechanism epsilon k q25 median q75 trials"),
        "scaling": frame(cost, "mechanism sweep d k repeat seconds"),
        "datasets": frame(facts, "dataset title status d"),
    }


def frame(rows, columns):
    return pd.DataFrame(rows, columns=columns.split())


NEEDS = {
    "figure-1-gaps-and-errors": (["errors", "gaps"], {"epsilon": 1}),
    "figure-2-linf-index": (["errors"], {"epsilon": 1}),
    "figure-3-time": (["timing"], {}),
    "figure-4-histograms": (["histograms"], {}),
    "figure-5-k-relative": (["errors"], {"epsilon": 1}),
    "figure-6-all-mechanisms": (["errors"], {"epsilon": 1}),
    "figure-7-pnf-joint": (["errors"], {"epsilon": 1, "max_k": MAX_K}),
    "dataset": (["errors", "gaps", "histograms"], {"epsilon": 1}),
    "error-against-epsilon": (["errors"], {"k": 95}),
    "scaling": (["scaling"], {}),
}
ONE_DATASET = ("figure-3-time", "figure-6-all-mechanisms", "dataset")
PER_DATASET = [name for name in NEEDS if name not in ONE_DATASET and name != "scaling"]


def arguments(name, tables, labels):
    """Tables and plain arguments for one figure, as a rule would give them."""
    needs, options = NEEDS[name]
    options = {**options, **{table: tables[table] for table in needs}}
    if name != "figure-4-histograms":
        options["labels"] = labels
    if name != "scaling":
        names = ["foods"] if name in ONE_DATASET else list(tables["datasets"]["dataset"])
        options["titles"] = figures.dataset_titles(tables["datasets"], names)
    return options


def draw(name, tables, labels=LABELS):
    return figures.FIGURES[name](**arguments(name, tables, labels))


@pytest.fixture(scope="module")
def tables():
    return make_tables()


def write(tables, folder):
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.to_csv(paths[name], index=False)
    return paths


def save(name, folder):
    """Save a figure in `folder` from its tables there, as a rule would; return it, too."""
    needs, options = NEEDS[name]
    given = {"labels": LABELS, **options}
    if name != "figure-4-histograms":
        given["mechanisms"] = list(LABELS)
    if name != "scaling":
        given["datasets"] = ["foods"] if name in ONE_DATASET else ["books", "foods"]
        needs = [*needs, "datasets"]
    tables = {need: folder / f"{need}.csv" for need in needs}
    return figures.main(name, tables, folder / f"{name}.png", folder / f"{name}.pdf", **given)


@pytest.fixture(scope="module")
def saved(tables, tmp_path_factory):
    """A folder with all tables and all figures, and the figures themselves."""
    folder = tmp_path_factory.mktemp("figures")
    write(tables, folder)
    return SimpleNamespace(folder=folder, figures={name: save(name, folder) for name in NEEDS})


@pytest.fixture(scope="module")
def drawn(saved):
    return saved.figures


def expect_lines(axis, rows, pad, x="k"):
    """The panel has one line and one band for each mechanism: exactly the rows of the table."""
    found = {line.get_label(): line for line in axis.lines}
    wanted = {LABELS.get(name, name): own for name, own in rows.groupby("mechanism")}
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
    """Points as a set; quantiles by different programs differ in the last bit."""
    return set(zip(x, np.round(y, 9), strict=True))


def rows_of(errors, dataset, metric, **values):
    rows = errors[(errors["dataset"] == dataset) & (errors["metric"] == metric)]
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


# ---------------------------------------------------------------- what is drawn


def test_every_figure_has_a_test():
    assert NEEDS.keys() == figures.FIGURES.keys()


def test_gaps_and_errors_shows_the_tables(tables, drawn):
    axes = drawn["figure-1-gaps-and-errors"].axes
    assert len(axes) == 6
    for row, dataset in enumerate(("books", "foods")):
        gap, linf, l1 = axes[3 * row : 3 * row + 3]
        expect_gaps(gap, tables["gaps"], dataset)
        expect_lines(linf, rows_of(tables["errors"], dataset, "linf", epsilon=1), 1)
        expect_lines(l1, rows_of(tables["errors"], dataset, "l1", epsilon=1), 1)


def expect_gaps(axis, gaps, dataset):
    own = gaps[(gaps["dataset"] == dataset) & (gaps["k"] <= max(KS))]
    (line,) = axis.lines
    np.testing.assert_array_equal(line.get_xdata(), own["k"])
    np.testing.assert_array_equal(line.get_ydata(), own["gap"] + 1)


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
    expect_lines(axis, tables["timing"], 0)
    note = figure.legends[0].get_title().get_text()
    assert "5 calls" in note
    assert f"CDP-Peel: timed at 3 of the {len(KS)} k (markers)" in note
    short = next(line for line in axis.lines if line.get_label() == "CDP-Peel")
    assert short.get_markevery() == 1


def test_histograms_show_the_table(tables, drawn):
    for axis, dataset in zip(drawn["figure-4-histograms"].axes, ("books", "foods"), strict=True):
        expect_bars(axis, tables["histograms"], dataset)


def expect_bars(axis, histograms, dataset):
    own = histograms[(histograms["dataset"] == dataset) & (histograms["items"] > 0)]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in axis.patches]
    assert bars == [tuple(row) for row in own[["low", "high", "items"]].to_numpy()]
    assert f"{own['items'].sum():,}" in axis.get_xlabel()


def test_all_mechanisms_shows_every_metric(tables, drawn):
    for axis, metric in zip(drawn["figure-6-all-mechanisms"].axes, METRICS, strict=True):
        expect_lines(axis, rows_of(tables["errors"], "foods", metric, epsilon=1), PADDED[metric])


def test_dataset_panels_show_all_tables(tables, drawn):
    histogram, gap, *rest = drawn["dataset"].axes
    expect_bars(histogram, tables["histograms"], "foods")
    expect_gaps(gap, tables["gaps"], "foods")
    for axis, metric in zip(rest, METRICS, strict=True):
        expect_lines(axis, rows_of(tables["errors"], "foods", metric, epsilon=1), PADDED[metric])


def test_error_against_epsilon_shows_one_k(tables, drawn):
    panel = iter(drawn["error-against-epsilon"].axes)
    for dataset in ("books", "foods"):
        for metric in ("linf", "l1"):
            axis = next(panel)
            expect_lines(axis, rows_of(tables["errors"], dataset, metric, k=95), 1, "epsilon")
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0.5", "1", "3"]


def test_scaling_shows_quartiles_of_the_repeats(tables, drawn):
    for axis, sweep in zip(drawn["scaling"].axes, "dk", strict=True):
        own = tables["scaling"][tables["scaling"]["sweep"] == sweep]
        rows = [
            (mechanism, at, *np.quantile(group["seconds"], [0.25, 0.5, 0.75]))
            for (mechanism, at), group in own.groupby(["mechanism", sweep])
        ]
        expect_lines(axis, frame(rows, f"mechanism {sweep} q25 median q75"), 0, sweep)
        assert axis.get_xscale() == axis.get_yscale() == "log"


def test_another_epsilon_gives_its_own_lines(tables):
    options = arguments("figure-5-k-relative", tables, LABELS) | {"epsilon": 0.5}
    figure = figures.FIGURES["figure-5-k-relative"](**options)
    rows = rows_of(tables["errors"], "books", "k_relative", epsilon=0.5)
    expect_lines(figure.axes[0], rows, 1)


# ---------------------------------------------------------------- what a reader sees


@pytest.mark.parametrize("name", NEEDS)
def test_panels_say_what_they_show(drawn, name):
    figure = drawn[name]
    columns = figure.axes[0].get_gridspec().ncols
    for axis in figure.axes:
        assert axis.get_title("left")
        assert axis.get_ylabel()
        assert axis.get_yscale() == "log"
        assert axis.lines or axis.patches
    for axis in figure.axes[-columns:]:
        assert axis.get_xlabel()
    if name == "figure-4-histograms":
        assert not figure.legends
    else:
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == list(LABELS.values())


@pytest.mark.parametrize("name", [name for name in NEEDS if name != "scaling"])
def test_stand_in_says_so(drawn, name):
    figure = drawn[name]
    words = [axis.get_title("left") for axis in figure.axes] + [figure.get_suptitle()]
    assert "Foods (stand-in)" in words
    if name in PER_DATASET:
        assert "Books" in words


def test_labels_name_the_padding(drawn):
    labels = [axis.get_ylabel() for axis in drawn["dataset"].axes[1:]]
    assert [label.endswith("+ 1") for label in labels] == [True, True, True, True, False]


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


@pytest.mark.parametrize("name", NEEDS)
def test_nothing_is_clipped_and_nothing_overlaps(drawn, name):
    expect_tidy(drawn[name])


@pytest.mark.parametrize(
    "name", ["figure-1-gaps-and-errors", "figure-3-time", "figure-4-histograms", "dataset"]
)
def test_long_names_stay_inside(tables, name):
    long = {**tables, "datasets": tables["datasets"].copy()}
    long["datasets"]["title"] += ", a dataset with a long title that costs $5 or $6"
    labels = {key: f"{label} with a long name" for key, label in LABELS.items()}
    expect_tidy(draw(name, long, labels))


@pytest.mark.parametrize("name", [name for name in NEEDS if name not in ("scaling",)])
def test_no_error_is_a_visible_line(tables, name):
    zero = {**tables, "errors": tables["errors"].copy(), "gaps": tables["gaps"].assign(gap=0)}
    kept = zero["errors"]["metric"] == "linf_index"
    for column in ("q25", "median", "q75"):
        zero["errors"][column] = kept.astype(int)
    for axis in draw(name, zero).axes:
        low, high = axis.get_ylim()
        assert high >= 10 * max(low, 0.5)
        if axis.lines and name != "figure-3-time":
            assert 0.5 < low < 0.95  # the line at 1 is clear of the frame
            said = [text.get_text() for text in axis.texts]
            assert said == (["every quartile is 0"] if "error + 1" in axis.get_ylabel() else [])


@pytest.mark.parametrize("values", [(1, 1), (1, 3), (150, 1500), (2, 5), (0.004, 80), (7, 7)])
def test_log_limits_hold_the_data_and_two_powers_of_ten(values):
    low, high = panels.log_limits(*values)
    assert low < min(values) <= max(values) < high
    assert sum(low <= 10.0**n <= high for n in range(-5, 9)) >= 2
    assert high / low < 200 * max(values) / min(values)


def test_a_panel_without_data_says_so(tables):
    options = arguments("figure-7-pnf-joint", tables, LABELS) | {"max_k": 1}
    figure = figures.FIGURES["figure-7-pnf-joint"](**options)
    assert [axis.texts[0].get_text() for axis in figure.axes] == ["no results"] * 2
    expect_tidy(figure)


# ---------------------------------------------------------------- other experiments


@pytest.mark.parametrize(
    ("name", "number"), [*((name, 1) for name in PER_DATASET), ("figure-5-k-relative", 7)]
)
def test_grids_follow_the_number_of_datasets(name, number):
    names = ["foods", "books", "games", "movies", "news", "tweets", "pets"][:number]
    figure = draw(name, make_tables(names, ks=[5, 15, 95]))
    shown = {axis.get_title("left") for axis in figure.axes}
    assert shown == {name.title() + " (stand-in)" * (name == "foods") for name in names}
    expect_tidy(figure)


@pytest.mark.parametrize("name", [name for name in NEEDS if name != "figure-4-histograms"])
def test_a_mechanism_that_the_table_does_not_know_is_drawn(name):
    labels = {**LABELS, "mine": "mine"}
    figure = draw(name, make_tables(mechanisms=tuple(labels)), labels)
    assert "mine" in [text.get_text() for text in figure.legends[0].get_texts()]
    looks = {
        (line.get_color(), line.get_marker())
        for axis in figure.axes
        for line in axis.lines
        if line.get_label() == "mine"
    }
    assert looks == {(style.mechanism_style("mine").color, style.mechanism_style("mine").marker)}


def test_one_k_is_drawn_with_a_marker_and_its_quartiles():
    figure = draw("figure-5-k-relative", make_tables(ks=[7]))
    for axis in figure.axes:
        assert all(line.get_marker() != "None" for line in axis.lines)
        assert axis.get_xlim()[0] < 7 < axis.get_xlim()[1]
        assert all(band.get_linewidth()[0] > 0 for band in axis.collections)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("name", NEEDS)
def test_files_show_something(saved, name):
    assert (saved.folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    pixels = np.asarray(Image.open(saved.folder / f"{name}.png").convert("RGB")).astype(int)
    width = style.WIDTH * (0.6 if name == "figure-3-time" else 1)
    assert pixels.shape[1] == pytest.approx(width * style.DPI, abs=1)
    assert (pixels.sum(axis=2) < 740).mean() > 0.02
    if name != "figure-4-histograms":
        for mechanism in LABELS:
            color = 255 * np.array(to_rgb(style.mechanism_style(mechanism).color))
            assert (np.abs(pixels - color).max(axis=2) < 12).sum() > 30


def test_same_results_give_same_bytes_whatever_the_user_set(tables, saved, tmp_path):
    again = ["dataset", "figure-3-time", "scaling"]  # every kind of panel
    write(tables, tmp_path)
    settings = "font.size: 20", "backend: svg", "xtick.direction: in", "figure.facecolor: black"
    (tmp_path / "matplotlibrc").write_text("\n".join(settings))
    program = (
        "import pathlib, test_figures\n"
        f"for name in {again}: test_figures.save(name, pathlib.Path.cwd())"
    )
    tests, root = Path(__file__).parent, Path(__file__).parents[1]
    path = os.pathsep.join((str(tests), str(root)))
    environment = {**os.environ, "PYTHONPATH": path, "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
    for name, kind in itertools.product(again, ("png", "pdf")):
        file = f"{name}.{kind}"
        assert (tmp_path / file).read_bytes() == (saved.folder / file).read_bytes(), file


def test_a_dataset_called_null_keeps_its_name(tmp_path):
    paths = write(make_tables(("null", "foods"), ks=[5, 15]), tmp_path)
    figures.main(
        "figure-5-k-relative",
        {"errors": paths["errors"], "datasets": paths["datasets"]},
        tmp_path / "figure.png",
        tmp_path / "figure.pdf",
        datasets=["null"],
        mechanisms=["joint"],
        labels=LABELS,
        epsilon=1,
    )
    assert list(figures.read(paths["datasets"])["dataset"]) == ["null", "foods"]


def test_snakemake_entry_makes_both_files(saved, tmp_path):
    tables = {name: saved.folder / f"{name}.csv" for name in ("histograms", "datasets")}
    snakemake = SimpleNamespace(
        input={**tables, "step": ["figures.py"]},
        output=SimpleNamespace(png=tmp_path / "a.png", pdf=tmp_path / "a.pdf"),
        params=SimpleNamespace(draws="figure-4-histograms", shows={"datasets": ["books", "foods"]}),
        log=[tmp_path / "log"],
    )
    runpy.run_path(figures.__file__, {"snakemake": snakemake})
    for kind in ("png", "pdf"):
        made = (tmp_path / f"a.{kind}").read_bytes()
        assert made == (saved.folder / f"figure-4-histograms.{kind}").read_bytes()


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


PAIRS = list(itertools.combinations(style.MECHANISMS, 2))


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_every_sight(sight):
    for one, other in PAIRS:
        colors = style.MECHANISMS[one].color, style.MECHANISMS[other].color
        distance = np.linalg.norm(lab(colors[0], sight) - lab(colors[1], sight))
        assert distance > 15, (one, other)


def test_lines_and_markers_differ_without_colour():
    looks = list(style.MECHANISMS.values())
    assert len({look.marker for look in looks}) == len(looks)
    assert len({str(look.dashes) for look in looks}) == len(looks)


def test_the_three_of_figure_1_differ_in_grey():
    grey = [lab(style.MECHANISMS[name].color)[0] for name in ("joint", "pnf_peel", "cdp_peel")]
    assert all(abs(one - other) > 12 for one, other in itertools.combinations(grey, 2))


def test_every_colour_stands_out_from_paper():
    colors = [look.color for look in style.MECHANISMS.values()] + list(style.SPARE_COLORS)
    assert all(lab(color)[0] < 78 for color in colors)


def test_unknown_mechanisms_have_styles_of_their_own():
    looks = {name: style.mechanism_style(name) for name in ("mine", "yours", "theirs")}
    assert looks["mine"] == style.mechanism_style("mine")
    assert len(set(looks.values())) == 3
    for known, look in itertools.product(style.MECHANISMS.values(), looks.values()):
        assert look.color != known.color
        assert look.dashes != known.dashes
        assert look.marker != known.marker


# ---------------------------------------------------------------- gallery


@pytest.fixture
def made(saved, tmp_path):
    folder = tmp_path / "figures"
    (folder / "datasets").mkdir(parents=True)
    shutil.copy(saved.folder / "figure-2-linf-index.png", folder / "a.png")
    shutil.copy(saved.folder / "dataset.png", folder / "datasets" / "foods.png")
    return folder


def test_gallery_has_a_small_copy_of_each_figure(made, tmp_path):
    contact_sheet.main(made, tmp_path / "gallery")
    copies = {path.name: path.read_bytes() for path in (tmp_path / "gallery").iterdir()}
    assert copies.keys() == {"a.png", "datasets-foods.png"}
    for name, original in (("a.png", "a.png"), ("datasets-foods.png", "datasets/foods.png")):
        with Image.open(tmp_path / "gallery" / name) as copy, Image.open(made / original) as full:
            assert copy.width == round(full.width * contact_sheet.SCALES[0])
            assert copy.mode == "P"
        assert len(copies[name]) < (made / original).stat().st_size / 2
    contact_sheet.main(made, tmp_path / "again")
    assert copies == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}


def test_gallery_keeps_its_limit(made, tmp_path, monkeypatch):
    contact_sheet.main(made, tmp_path / "gallery")
    first = sum(path.stat().st_size for path in (tmp_path / "gallery").iterdir())
    monkeypatch.setattr(contact_sheet, "LIMIT", first - 1)
    contact_sheet.main(made, tmp_path / "gallery")
    assert sum(path.stat().st_size for path in (tmp_path / "gallery").iterdir()) < first
    monkeypatch.setattr(contact_sheet, "LIMIT", 1000)
    with pytest.raises(InputError, match="do not fit"):
        contact_sheet.main(made, tmp_path / "gallery")


def test_gallery_without_figures_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match="make the figures first"):
        contact_sheet.main(tmp_path, tmp_path / "gallery")
