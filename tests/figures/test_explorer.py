"""The explorer: what the page holds and, in a real browser, what it shows."""

import csv
import html
import io
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from workflow.scripts.common import InputError
from workflow.scripts.figures.explorer import chart_of, read_cells, unlike, write_explorer
from workflow.scripts.figures.explorer_chart import LINE_WIDTH, plain_axis
from workflow.scripts.figures.style import mechanism_style
from workflow.scripts.trials.metrics import METRICS

ROOT = Path(__file__).parents[2]
HEADER = ["dataset", "mechanism", "epsilon", "k", "metric", "q25", "median", "q75", "trials"]
LABELS = {"joint": "Joint", "canonical": "Canonical", "cdp_peel": "CDP-Peel"}
TITLES = {"games": "Games", "toys": 'Toys </script> & "co" \' \\ {0}'}
KINDS = {
    "joint": {"guarantee": "pure", "output": "sequence"},
    "canonical": {"guarantee": "pure", "output": "set"},
    "cdp_peel": {"guarantee": "approx", "output": "sequence"},
}
EPSILONS, KS = ("1", "0.25"), ("5", "15", "25")
MISSING = ("games", "joint", "1", "15")


def rows(epsilons=EPSILONS):
    """A table of errors in which every number is another; `canonical` gives sets."""
    cells = itertools.product(TITLES, (*LABELS, "hidden"), epsilons, KS)
    number = itertools.count(3)
    for cell in cells:
        for metric, about in METRICS.items():
            if cell != MISSING and not (cell[1] == "canonical" and about.sequences_only):
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


def chart(path):
    return chart_of(read_cells(path, LABELS, TITLES), LABELS, TITLES)


def choices(chart):
    """What people can choose from: {name: (values, texts, what is chosen at the beginning)}."""
    binds = {param["name"]: (param["bind"], param) for param in chart["params"] if "bind" in param}
    return {
        name: (bind["options"], bind["labels"], param["value"])
        for name, (bind, param) in binds.items()
        if bind != "legend"
    }


# ------------------------------------------------------------------ the chart


def test_the_chart_offers_what_the_table_has(table):
    offered = choices(chart(table))
    assert list(offered) == ["dataset", "metric", "against", "epsilon", "k"]
    assert offered["dataset"] == (list(TITLES), list(TITLES.values()), "games")
    assert offered["metric"][0] == list(METRICS)
    assert offered["metric"][2] == "linf"
    assert offered["against"] == (["k", "epsilon"], ["k", "ε"], "k")
    assert offered["epsilon"] == ([0.25, 1], ["0.25", "1"], 1)  # the first of the config
    assert offered["k"] == ([5, 15, 25], ["5", "15", "25"], 15)


def test_with_one_epsilon_there_is_no_choice_of_it(tmp_path):
    offered = choices(chart(write_table(tmp_path / "errors.csv", rows(epsilons=["1"]))))
    assert list(offered) == ["dataset", "metric"]


def test_all_numbers_of_the_table_are_there_and_no_others(table):
    made = chart(table)
    text = made["datasets"][made["layer"][0]["data"]["name"]]
    lines = list(csv.DictReader(io.StringIO(text)))
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


def test_colours_dashes_and_names_are_those_of_the_figures(table):
    encoding = chart(table)["layer"][1]["encoding"]
    color, dashes = encoding["color"]["scale"], encoding["strokeDash"]["scale"]
    assert color["domain"] == dashes["domain"] == list(LABELS)
    for name, shown, pattern in zip(LABELS, color["range"], dashes["range"], strict=True):
        style = mechanism_style(name)
        assert shown == style.color
        expected = [1, 0] if style.dashes == "-" else [p * LINE_WIDTH for p in style.dashes[1]]
        assert pattern == pytest.approx(expected, abs=0.05)
    assert json.dumps(LABELS) in encoding["color"]["legend"]["labelExpr"]


def test_axes_need_no_tex():
    names = [plain_axis(metric) for metric in METRICS]
    assert "ℓ∞ error + 1" in names
    assert not re.search(r"[\\$^_{}]", "".join(names))


def test_a_table_without_anything_to_show_is_an_error(tmp_path):
    path = write_table(tmp_path / "errors.csv", [("games", "hidden", 1, 5, "linf", 1, 2, 3, 50)])
    with pytest.raises(InputError, match="no row of a mechanism and a dataset that are shown"):
        write_explorer(path, tmp_path / "explorer.html", LABELS, TITLES)
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
        assert not {"src", "href", "srcset", "data", "action"} & attributes.keys(), (
            tag,
            attributes,
        )
    assert [tag for tag, _ in tags].count("script") == 2
    (policy,) = (a["content"] for tag, a in tags if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "@import" not in (style := page.read_text(encoding="utf-8").partition("</style>")[0])
    assert "url(" not in style


def test_the_page_says_which_mechanisms_cannot_simply_be_compared(page):
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert "Approximate, (ε, δ)-private instead of ε-private: CDP-Peel." in text
    assert "Giving a set, without the errors that need an order: Canonical." in text
    alike = dict.fromkeys(LABELS, KINDS["joint"])
    assert unlike(alike, LABELS) == ""


def test_the_same_table_gives_the_same_page(page, table):
    """In another process, with another order of sets, after another page."""
    again = table.with_name("again.html")
    code = (
        "import sys; from pathlib import Path; from tests.figures.test_explorer import *\n"
        "write_explorer(sys.argv[1], sys.argv[2], {'joint': 'J'}, TITLES)\n"
        "write_explorer(sys.argv[1], sys.argv[2], LABELS, TITLES, KINDS)"
    )
    subprocess.run(
        [sys.executable, "-c", code, table, again],
        check=True,
        timeout=60,
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )
    assert again.read_bytes() == page.read_bytes()


# ------------------------------------------------------------------ in a browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium on the path")

# Before the page: whatever it complains about. After it: somebody who uses it and writes down
# what is drawn. Timers run on virtual time, so waiting costs nothing.
LISTEN = """<script>
const complaints = [];
console.warn = console.error = (...words) => complaints.push(words.join(" "));
addEventListener("error", event => complaints.push(String(event.message)));
</script>"""
USE = """<script>
const found = {};
const all = (selector, what) => [...document.querySelectorAll("#chart " + selector)].map(what);
const visible = id => document.getElementById(id).getBoundingClientRect().height > 0;
const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));
function happens(node, ...events) {
  for (const event of events) node.dispatchEvent(event);
}
function choose(name, text) {
  const select = document.querySelector(`#choose-${name} select`);
  select.selectedIndex = [...select.options].findIndex(option => option.text == text);
  happens(select, new Event("input", {bubbles: true}), new Event("change", {bubbles: true}));
}
function against(name) {
  document.querySelector(`#choose-against input[value=${name}]`).click();
}
function legend(label) {
  const entries = [...document.querySelectorAll("#chart .role-legend-label text")];
  const entry = entries.find(text => text.textContent.endsWith(label));
  happens(entry, new MouseEvent("click", {bubbles: true}));
}
async function note(name) {
  await wait(300);
  found[name] = {
    titles: all(".role-title text", text => text.textContent),
    axes: all(".role-axis-title text", text => text.textContent),
    labels: all(".role-legend-label text", text => text.textContent),
    lines: all(".mark-line.role-mark path", path => path.getAttribute("d")),
    strokes: all(".mark-line.role-mark path", path => path.getAttribute("stroke")),
    bands: all(".mark-area.role-mark path", path => path.getAttribute("d")),
    remarks: all(".mark-text.role-mark text", text => text.textContent),
    markers: all(".mark-symbol.role-mark path", path => path.__data__).map(({datum, x, y}) =>
      [datum.dataset, datum.mechanism, datum.epsilon, datum.k, datum.median_text, x, y]),
    width: document.querySelector("#chart svg").getBoundingClientRect().width,
    page: document.documentElement.scrollWidth,
    window: innerWidth,
    epsilon: visible("choose-epsilon"),
    k: visible("choose-k"),
    complaints: [...complaints],
  };
}
addEventListener("load", async () => {
  try {
    await note("at first");
    const point = document.querySelector("#chart .mark-symbol.role-mark path");
    const place = {bubbles: true, clientX: 300, clientY: 300};
    happens(point, new PointerEvent("pointerover", place), new PointerEvent("pointermove", place));
    await wait(300);
    found.tooltip = document.getElementById("vg-tooltip-element").innerText;
    choose("dataset", document.querySelector("#choose-dataset select").options[1].text);
    await note("dataset");
    choose("metric", "recall");
    await note("metric");
    choose("epsilon", "0.25");
    await note("epsilon");
    legend("Joint");
    await note("without joint");
    legend("Joint");
    await note("with joint");
    against("epsilon");
    choose("k", "25");
    await note("against epsilon");
    choose("metric", "ℓ∞ error");
    legend("Joint");
    legend("CDP-Peel");
    await note("sets only");
  } catch (error) {
    found.failure = [error.stack, ...complaints].join("; ");
  }
  const report = document.createElement("pre");
  report.id = "found";
  report.textContent = JSON.stringify(found);
  document.body.append(report);
});
</script>"""


def browse(path, width=1100):
    """The page as it is after its scripts, and the addresses that it asked for."""
    profile, log = path.with_suffix(".profile"), path.with_suffix(".net.json")
    silent = "no-first-run disable-background-networking disable-component-update disable-sync"
    try:
        done = subprocess.run(
            [
                CHROMIUM,
                *(f"--{flag}" for flag in silent.split()),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={profile}",
                f"--log-net-log={log}",
                f"--window-size={width},900",
                "--virtual-time-budget=20000",
                "--dump-dom",
                path.as_uri(),
            ],
            capture_output=True,
            timeout=60,
            check=True,
        )
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    return done.stdout.decode(), asked_for(json.loads(log.read_text(encoding="utf-8")))


def asked_for(log):
    """Addresses in Chromium's log of the network that a page asked for, not Chromium itself."""
    start = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    jobs = [event.get("params", {}) for event in log["events"] if event["type"] == start]
    return [job["url"] for job in jobs if job.get("initiator", "not an origin") != "not an origin"]


def used(page, name, width):
    """What somebody who uses the page sees, and what it asks the network for."""
    text = page.read_text(encoding="utf-8").replace("<head>", "<head>" + LISTEN, 1)
    path = page.with_name(name)
    body, end, rest = text.rpartition("</body>")  # the libraries have one, too
    path.write_text(body + USE + end + rest, encoding="utf-8")
    dom, asked = browse(path, width)
    (report,) = re.findall(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    found = json.loads(html.unescape(report))
    assert "failure" not in found, found["failure"]
    return found, asked


@pytest.fixture(scope="module")
def seen(page):
    return used(page, "used.html", 1100)


def shown(state):
    """What the markers stand for: (dataset, mechanism, epsilon, k) and the median."""
    return sorted((*marker[:4], float(marker[4])) for marker in state["markers"])


def expected(metric, mechanisms=LABELS, **chosen):
    """The same from the table, for the rows in which these columns have these values."""
    names = [dict(zip(HEADER, row, strict=True)) for row in rows()]
    wanted = {"metric": metric, **chosen}
    return sorted(
        (row["dataset"], row["mechanism"], float(row["epsilon"]), int(row["k"]), row["median"])
        for row in names
        if row["mechanism"] in mechanisms and wanted.items() <= row.items()
    )


def on_a_line(points):
    """Whether y goes down evenly with the value."""
    (v0, y0), *_, (v1, y1) = sorted(points)
    assert y1 < y0
    return all(
        y == pytest.approx(y0 + (y1 - y0) * (v - v0) / (v1 - v0), abs=0.1) for v, y in points
    )


@needs_chromium
def test_the_page_draws(seen):
    first = seen[0]["at first"]
    assert first["complaints"] == []
    assert first["titles"] == ["Largest error", "Games, ε = 1"]
    assert first["axes"] == ["k", "ℓ∞ error + 1"]
    assert first["labels"] == ["☑ Joint", "☑ Canonical", "☑ CDP-Peel"]
    assert first["remarks"] == []
    assert shown(first) == expected("linf", dataset="games", epsilon="1")
    colors = {mechanism_style(name).color for name in LABELS}
    assert set(first["strokes"]) == colors
    # Canonical has no such error, and Joint's line is broken at the cell that was not run.
    assert sorted(path is not None and path.count("L") for path in first["lines"]) == [0, 0, 2]
    assert [path is not None for path in first["bands"]].count(True) == 2
    assert on_a_line([(math.log10(float(m[4]) + 1), m[6]) for m in first["markers"]])


@needs_chromium
def test_a_marker_tells_its_numbers(seen):
    lines = [line.strip() for line in seen[0]["tooltip"].splitlines() if line.strip()]
    told = dict(zip(lines[::2], lines[1::2], strict=True))
    assert told == {
        "Dataset": "Games",
        "Mechanism": "Joint",
        "ε": "1",
        "k": "5",
        "Median": "4.25",
        "Quartiles": "4 – 44",
        "Trials": "50",
    }


@needs_chromium
def test_each_choice_changes_the_marks(seen):
    found, _ = seen
    assert shown(found["dataset"]) == expected("linf", dataset="toys", epsilon="1")
    assert found["dataset"]["titles"][1] == TITLES["toys"] + ", ε = 1"
    assert shown(found["metric"]) == expected("recall", dataset="toys", epsilon="1")
    assert found["metric"]["axes"] == ["k", "recall"]
    assert on_a_line([(float(m[4]), m[6]) for m in found["metric"]["markers"]])
    assert shown(found["epsilon"]) == expected("recall", dataset="toys", epsilon="0.25")
    assert found["epsilon"]["titles"][1].endswith("ε = 0.25")


@needs_chromium
def test_the_legend_switches_mechanisms_off_and_on(seen):
    before, without, again = (seen[0][name] for name in ("epsilon", "without joint", "with joint"))
    assert without["labels"] == ["☐ Joint", "☑ Canonical", "☑ CDP-Peel"]
    others = [name for name in LABELS if name != "joint"]
    assert shown(without) == expected("recall", others, dataset="toys", epsilon="0.25")
    assert again["labels"] == before["labels"]
    assert again["lines"] == before["lines"]  # none above another that was below it
    assert shown(again) == shown(before)


@needs_chromium
def test_epsilon_takes_the_place_of_k(seen):
    before, after = seen[0]["with joint"], seen[0]["against epsilon"]
    assert (before["epsilon"], before["k"]) == (True, False)
    assert (after["epsilon"], after["k"]) == (False, True)
    assert after["axes"] == ["ε", "recall"]
    assert after["titles"][1].endswith("k = 25")
    assert shown(after) == expected("recall", dataset="toys", k="25")


@needs_chromium
def test_a_chart_without_lines_says_so(seen):
    state = seen[0]["sets only"]
    assert state["markers"] == []
    assert state["remarks"] == ["no results"]


@needs_chromium
@pytest.mark.parametrize("width", [1100, 500])
def test_the_chart_is_as_wide_as_the_window(seen, page, width):
    found = seen[0] if width == 1100 else used(page, "narrow.html", width)[0]
    state = found["at first"]
    assert state["window"] == width
    assert state["page"] <= width
    assert 0.9 * width < state["width"] <= width


@needs_chromium
def test_nothing_is_fetched_from_the_network(seen, tmp_path):
    assert seen[1] == []
    # A page that does fetch something is found out.
    path, address = tmp_path / "fetches.html", "http://127.0.0.1:9/picture.png"
    path.write_text(f'<!DOCTYPE html><img src="{address}">', encoding="utf-8")
    assert browse(path)[1] == [address]
