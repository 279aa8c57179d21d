"""The explorer: what the page holds and, in a real browser, what it shows."""

import csv
import io
import itertools
import re
import time
from html.parser import HTMLParser

import pytest

from tests.browser import axe_findings, needs_browser, show
from workflow.scripts.common import InputError
from workflow.scripts.figures.explorer import (
    far_off,
    page_data,
    plain_axis,
    read_errors,
    write_explorer,
)
from workflow.scripts.figures.style import mechanism_style
from workflow.scripts.trials.metrics import METRICS

HEADER = ["dataset", "mechanism", "epsilon", "k", "metric", "q25", "median", "q75", "trials"]
LABELS = {"joint": "Joint", "canonical": "Canonical", "cdp_peel": "CDP-Peel"}
TITLES = {"games": "Games", "toys": 'Toys </script> & "co" \' \\ {0}'}
KINDS = {
    "joint": {"guarantee": "pure", "output": "sequence"},
    "canonical": {"guarantee": "pure", "output": "set"},
    "cdp_peel": {"guarantee": "approx", "output": "sequence"},
}
EPSILONS, KS = ("1", "0.25"), ("5", "15", "25")
OF_SETS = ("k_relative", "recall", "returned")
MISSING = ("games", "joint", "1", "15")


def rows(epsilons=EPSILONS):
    """A table of errors in which every number is another; `canonical` gives sets."""
    cells = itertools.product(TITLES, (*LABELS, "hidden"), epsilons, KS)
    number = itertools.count(3)
    for cell in cells:
        for metric in METRICS:
            if cell != MISSING and (cell[1] != "canonical" or metric in OF_SETS):
                n = next(number)
                low, middle, high = n, n + 0.25, n + 40
                if metric == "recall":
                    low, middle, high = (round(share + n / 1e4, 4) for share in (0.1, 0.3, 0.5))
                yield (*cell, metric, low, middle, high, 50)


def write_table(path, table):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *table])
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("explorer") / "errors.csv", rows())


@pytest.fixture(scope="module")
def page(table):
    path = table.with_name("explorer.html")
    write_explorer(table, path, LABELS, TITLES, KINDS)
    return path


def data(path):
    return page_data(read_errors(path, LABELS, TITLES), LABELS, TITLES, KINDS)


# ------------------------------------------------------------------ the data


def test_the_page_offers_what_the_table_has(table):
    offered = data(table)
    assert {entry["name"]: entry["title"] for entry in offered["datasets"]} == TITLES
    assert [entry["name"] for entry in offered["metrics"]] == list(METRICS)
    assert all(entry["about"].endswith(".") for entry in offered["metrics"])
    assert {entry["name"]: entry["label"] for entry in offered["mechanisms"]} == LABELS
    assert [entry["note"] for entry in offered["mechanisms"]] == ["", "set", "(ε, δ)"]
    assert offered["epsilon"] == 1  # the first of the config


def test_all_numbers_of_the_table_are_there_and_no_others(table):
    lines = list(csv.DictReader(io.StringIO(data(table)["cells"])))
    found = {}
    for line in lines:
        assert line["mechanism"] in LABELS
        cell = line["dataset"], line["mechanism"], line["epsilon"], line["k"]
        for metric in METRICS:
            numbers = [line[f"{metric}_{quartile}"] for quartile in ("q25", "median", "q75")]
            if any(numbers):
                found[*cell, metric] = [float(number) for number in (*numbers, line["trials"])]
    expected = {row[:5]: row[5:] for row in rows() if row[1] in LABELS}
    assert found.keys() == expected.keys()
    for name, numbers in expected.items():
        assert found[name] == pytest.approx(numbers, abs=5e-5)
    # A cell that was not run breaks its line.
    assert len(lines) == len(TITLES) * len(LABELS) * len(EPSILONS) * len(KS)


def test_colours_dashes_and_shapes_are_those_of_the_figures(table):
    for entry in data(table)["mechanisms"]:
        style = mechanism_style(entry["name"])
        assert (entry["color"], entry["marker"]) == (style.color, style.marker)
        assert bool(entry["dashes"]) == (style.dashes != "-")


def test_a_mechanism_that_is_far_off_is_switched_off_at_first(tmp_path):
    errors = {"joint": 0, "canonical": 90, "cdp_peel": 900}
    table = [
        ("games", name, 1, k, "linf", 0, error, 0, 50) for name, error in errors.items() for k in KS
    ]
    path = write_table(tmp_path / "errors.csv", table)
    assert far_off(read_errors(path, LABELS, TITLES)) == {"cdp_peel"}


def test_axes_need_no_tex():
    names = [plain_axis(metric.axis) for metric in METRICS.values()]
    assert "ℓ∞ error" in names
    assert not re.search(r"[\\$^_{}]", "".join(names))


def test_a_table_without_anything_to_show_is_an_error(tmp_path):
    path = write_table(tmp_path / "errors.csv", [("games", "hidden", 1, 5, "linf", 1, 2, 3, 50)])
    with pytest.raises(InputError, match="no row of a mechanism and a dataset that are shown"):
        write_explorer(path, tmp_path / "explorer.html", LABELS, TITLES, KINDS)
    assert not (tmp_path / "explorer.html").exists()


# ------------------------------------------------------------------ the page


class Parts(HTMLParser):
    """Tags and attributes of a page, and what stands in its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def test_the_page_refers_to_no_other_file(page):
    tags = Parts(page.read_text(encoding="utf-8")).tags
    for tag, attributes in tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base"), tag
        assert not {"src", "srcset", "data", "action"} & attributes.keys(), (tag, attributes)
        assert attributes.get("href", "") == ""  # the script sets it to the figure beside the page
    assert [tag for tag, _ in tags].count("script") == 1
    (policy,) = (a["content"] for tag, a in tags if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "@import" not in (style := page.read_text(encoding="utf-8").partition("</style>")[0])
    assert "url(" not in style


def test_the_same_table_gives_the_same_page(page, table):
    again = table.with_name("again.html")
    write_explorer(table, again, {"joint": "J"}, TITLES, KINDS)
    assert again.read_bytes() != page.read_bytes()
    write_explorer(table, again, LABELS, TITLES, KINDS)
    assert again.read_bytes() == page.read_bytes()


# ------------------------------------------------------------------ in a browser


@pytest.fixture
def seen(browser, page):
    show(browser, page)
    return browser


def points(browser):
    """What the points stand for: {(mechanism, place on the x axis): what a reader hears}."""
    script = """return [...document.querySelectorAll("#chart [data-point]")].map(node =>
        [node.dataset.point, node.dataset.at, node.getAttribute("aria-label")])"""
    return {(name, at): label for name, at, label in browser.execute_script(script)}


def expected(metric, mechanisms=LABELS, against="k", **chosen):
    """The same from the table: {(mechanism, place): median}."""
    names = [dict(zip(HEADER, row, strict=True)) for row in rows()]
    wanted = {"metric": metric, **chosen}
    return {
        (row["mechanism"], row[against]): row["median"]
        for row in names
        if row["mechanism"] in mechanisms and wanted.items() <= row.items()
    }


def medians(browser):
    said = {
        name: re.search(r": .*? ([\d.,]+), quartiles", words)[1]
        for name, words in points(browser).items()
    }
    return {name: float(number.replace(",", "")) for name, number in said.items()}


def choose(browser, name, value):
    browser.execute_script(
        """const node = document.getElementById(arguments[0]); node.value = arguments[1];
        node.dispatchEvent(new Event("change", {bubbles: true}));""",
        name,
        value,
    )


def press(browser, *keys):
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def focused(browser):
    """Name and place of the point that has the focus, or the name of the control."""
    return browser.execute_script(
        "const {dataset, name, value, id} = document.activeElement;"
        "return dataset.point ? [dataset.point, dataset.at] : [name || id, value || '']"
    )


@needs_browser
def test_the_page_shows_the_medians_and_each_choice_changes_them(seen):
    assert medians(seen) == pytest.approx(expected("linf", dataset="games", epsilon="1"))
    heading = seen.find_element("id", "heading")
    assert heading.text == "Games: Largest error, ε = 1"
    choose(seen, "dataset", "toys")
    assert medians(seen) == pytest.approx(expected("linf", dataset="toys", epsilon="1"))
    assert heading.text == TITLES["toys"] + ": Largest error, ε = 1"
    choose(seen, "metric", "recall")
    choose(seen, "epsilon", "0.25")
    assert medians(seen) == pytest.approx(expected("recall", dataset="toys", epsilon="0.25"))
    seen.find_element("css selector", "[name=against][value=epsilon]").click()
    choose(seen, "k", "25")
    against = expected("recall", against="epsilon", dataset="toys", k="25")
    assert medians(seen) == pytest.approx(against)
    assert not seen.find_element("id", "epsilon").is_displayed()
    assert METRICS["recall"].about == seen.find_element("id", "about").text
    assert seen.find_element("id", "figure").get_attribute("href").endswith("/datasets/toys.png")
    choose(seen, "metric", "linf")
    for name in ("joint", "cdp_peel"):
        seen.find_element("css selector", f"[name=mechanisms][value={name}]").click()
    assert medians(seen) == {}
    assert "No results for this choice." in seen.find_element("id", "chart").text


@needs_browser
def test_the_address_carries_the_choice(seen, page):
    choose(seen, "dataset", "toys")
    choose(seen, "metric", "recall")
    seen.find_element("css selector", "[name=mechanisms][value=joint]").click()
    address, before = seen.current_url, points(seen)
    assert "dataset=toys" in address
    assert "mechanisms=canonical%2Ccdp_peel" in address
    assert seen.find_element("id", "view").get_attribute("href") == address
    show(seen, page, address.partition("#")[2])
    assert points(seen) == before
    show(seen, page, "dataset=nope&metric=nope&k=7&mechanisms=nope")
    assert seen.find_element("id", "heading").text.startswith("Games: Largest error")


@needs_browser
def test_the_keyboard_reaches_everything(seen):
    from selenium.webdriver import Keys

    reached = []
    for _ in range(20):
        press(seen, Keys.TAB)
        reached.append(tuple(focused(seen)))
    for name in ("dataset", "metric", "epsilon", "csv", "view", "figure"):
        assert name in [name for name, _ in reached], reached
    assert {value for name, value in reached if name == "mechanisms"} == set(LABELS)
    assert {("joint", "5"), ("cdp_peel", "5")} <= set(reached)  # a point of each line


@needs_browser
def test_the_keyboard_works_the_legend_and_the_points(seen):
    from selenium.webdriver import Keys

    seen.execute_script("document.querySelector('[name=mechanisms][value=cdp_peel]').focus()")
    press(seen, Keys.SPACE)
    assert {name for name, _ in points(seen)} == {"joint"}
    press(seen, Keys.SPACE)
    seen.execute_script("document.querySelector('[data-point=cdp_peel]').focus()")
    press(seen, Keys.RIGHT, Keys.RIGHT)
    assert focused(seen) == ["cdp_peel", "25"]
    press(seen, Keys.UP)
    assert focused(seen) == ["joint", "25"]
    ring = "return getComputedStyle(document.activeElement).strokeWidth"
    assert seen.execute_script(ring) == "5px"
    tip = seen.find_element("id", "tip")
    assert tip.is_displayed()
    wanted = expected("linf", dataset="games", epsilon="1")
    for name in ("joint", "cdp_peel"):  # all mechanisms at this k, and the table's numbers
        assert f"{LABELS[name]} {wanted[name, '25']:,g}" in tip.text
    press(seen, Keys.ESCAPE)
    assert not tip.is_displayed()


@needs_browser
def test_what_is_shown_can_be_downloaded(browser, page):
    show(browser, page, "dataset=toys&metric=l1&mechanisms=joint")
    browser.find_element("id", "csv").click()
    wanted = browser.downloads / "dp-topk-toys-l1.csv"
    for _ in range(100):
        if wanted.exists():
            break
        time.sleep(0.1)
    with open(wanted, encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == HEADER
    shown = {"dataset": "toys", "mechanism": "joint", "epsilon": "1", "metric": "l1"}
    table = [dict(zip(HEADER, map(str, row), strict=True)) for row in rows()]
    expected = [list(row.values()) for row in table if shown.items() <= row.items()]
    assert [[*line[:5], *map(float, line[5:])] for line in lines] == [
        [*row[:5], *map(float, row[5:])] for row in expected
    ]


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_the_page_fits_and_is_accessible(browser, page, width, dark):
    show(browser, page, width=width, dark=dark)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    chart = browser.execute_script(
        "return document.querySelector('#chart > svg').getBoundingClientRect().width"
    )
    assert chart > 0.7 * width
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark
    assert axe_findings(browser) == []
    assert browser.get_log("browser") == []
