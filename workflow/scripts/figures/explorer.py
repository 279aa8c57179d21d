"""The explorer: one page on which people choose which errors they see. It works offline.

Altair says what is drawn; vl-convert has the JavaScript that draws it, which becomes part of the
page. Nothing is loaded from anywhere; the page itself forbids it.
"""

import csv
import html
import itertools
import json

import altair as alt
import vl_convert

from workflow.scripts.common import InputError, written
from workflow.scripts.figures.explorer_chart import explorer_chart
from workflow.scripts.results.tables import QUARTILES
from workflow.scripts.trials.metrics import METRICS

DECIMALS = 4  # more than anybody reads: errors are multiples of 1/4, recall is a share of k

TITLE = "Errors of differentially private top-k selection"
WORDS = (
    "Lines are medians over the trials, bands lie between the quartiles. Click a name in the "
    "legend to take a mechanism out or to bring it back; point at a marker to read its numbers. "
    "The menu at the top right of the chart saves it as a picture."
)
OPTIONS = {
    "renderer": "svg",
    "actions": {"export": True, "source": False, "compiled": False, "editor": False},
    "downloadFileName": "dp-topk",
}
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;
  style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; max-width: 66rem; padding: 1rem; font-family: sans-serif; color: #222; }}
h1 {{ font-size: 1.3rem; margin: 0 0 .4rem; }}
p {{ font-size: .9rem; line-height: 1.4; margin: 0 0 1rem; max-width: 46rem; }}
#choices {{ display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin-bottom: 1rem;
  font-size: .9rem; }}
#choices .vega-bind {{ display: flex; align-items: center; min-height: 2rem; }}
#choices .vega-bind-name {{ margin-right: .5rem; font-weight: bold; }}
#choices select {{ font: inherit; padding: .25rem; }}
#choices:has([value=epsilon]:checked) #choose-epsilon {{ display: none; }}
#choices:not(:has([value=epsilon]:checked)) #choose-k {{ display: none; }}
#chart.vega-embed {{ width: 100%; padding-right: 0; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{words} {kinds}</p>
<noscript><p>The chart is drawn by JavaScript, which is switched off.</p></noscript>
<div id="choices">
<div id="choose-dataset"></div>
<div id="choose-metric"></div>
<div id="choose-against"></div>
<div id="choose-epsilon"></div>
<div id="choose-k"></div>
</div>
<div id="chart"></div>
<script>
{libraries}
</script>
<script>
vegaEmbed("#chart", {chart}, {options}).catch(error => {{
  document.getElementById("chart").textContent = "The chart cannot be drawn: " + error;
}});
</script>
</body>
</html>
"""


def write_explorer(errors_csv, out_html, labels, titles, kinds=None):
    """Write the page of a table of errors; the same table gives the same bytes.

    labels: {mechanism: label}, in the order of the legend; others are left out
    titles: {dataset: title}, in the order in which they are offered
    kinds: {mechanism: {"guarantee": ..., "output": ...}}, of which the page tells (`Plan.ranked`)
    """
    cells = read_cells(errors_csv, labels, titles)
    if not cells:
        raise InputError(
            f"{errors_csv} has no row of a mechanism and a dataset that are shown; list one of its "
            "mechanisms under `mechanisms` and not under `hidden_mechanisms`"
        )
    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    page = PAGE.format(
        title=html.escape(TITLE),
        words=html.escape(WORDS),
        kinds=html.escape(unlike(kinds or {}, labels)),
        libraries=vl_convert.javascript_bundle(vl_version=version),
        chart=_json(chart_of(cells, labels, titles)),
        options=_json(OPTIONS),
    )
    with written(out_html) as file:
        file.write(page)


def unlike(kinds, labels):
    """What must be known before lines are compared: who guarantees less, who gives less."""

    def those(kind):
        return ", ".join(labels[name] for name in labels if kind in kinds.get(name, {}).values())

    words = {
        "Approximate, (ε, δ)-private instead of ε-private": those("approx"),
        "Giving a set, without the errors that need an order": those("set"),
    }
    return " ".join(f"{what}: {names}." for what, names in words.items() if names)


def _json(value):
    """JSON that can neither end the script in which it stands nor begin another."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def read_cells(path, labels, titles):
    """{(dataset, mechanism, epsilon, k): {metric: [q25, median, q75], "trials": n}}, all texts."""
    cells = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["mechanism"] in labels and row["dataset"] in titles:
                name = row["dataset"], row["mechanism"], row["epsilon"], row["k"]
                cell = cells.setdefault(name, {"trials": row["trials"]})
                cell[row["metric"]] = [_short(row[quartile]) for quartile in QUARTILES]
    return cells


def _short(number):
    rounded = round(float(number), DECIMALS)
    return str(int(rounded)) if rounded.is_integer() else str(rounded)


def chart_of(cells, labels, titles):
    """The chart of these cells in the language of Vega-Lite, without what no cell has."""
    datasets, mechanisms, epsilons, ks = (
        dict.fromkeys(names) for names in zip(*cells, strict=True)
    )
    labels = {name: label for name, label in labels.items() if name in mechanisms}
    titles = {name: title for name, title in titles.items() if name in datasets}
    metrics = [name for name in METRICS if any(name in cell for cell in cells.values())]
    return explorer_chart(
        as_csv(cells, labels, titles, metrics),
        labels,
        titles,
        metrics,
        epsilons=[float(epsilon) for epsilon in epsilons],
        ks=sorted(map(int, ks)),
    )


def as_csv(cells, labels, titles, metrics):
    """A line for each cell with all its metrics, a fraction of what a list of records takes.

    A cell that was not run while others of its dataset were has a line without numbers: what is
    drawn is interrupted there.
    """
    columns = [f"{metric}_{quartile}" for metric in metrics for quartile in QUARTILES]
    lines = [["dataset", "mechanism", "epsilon", "k", "trials", *columns]]
    for dataset in titles:
        names = [name for name in cells if name[0] == dataset]
        epsilons, ks = (sorted({name[n] for name in names}, key=float) for n in (2, 3))
        for mechanism, epsilon, k in itertools.product(labels, epsilons, ks):
            cell = cells.get((dataset, mechanism, epsilon, k), {})
            lines.append([dataset, mechanism, epsilon, k, cell.get("trials", "")])
            for metric in metrics:
                lines[-1] += cell.get(metric, [""] * len(QUARTILES))
    return "\n".join(map(",".join, lines))
