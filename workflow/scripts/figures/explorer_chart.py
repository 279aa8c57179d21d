"""The chart of the explorer: what can be chosen, and what is drawn of it.

Vega-Lite has one kind of scale for an axis, but errors are drawn logarithmically, recall is not,
and epsilon takes the place of k. So all scales are linear, and a logarithmic axis is one of
exponents with the labels of what they stand for.
"""

import itertools
import json
import math

import altair as alt

from workflow.scripts.figures.style import mechanism_style
from workflow.scripts.trials.metrics import METRICS

SHARE = "recall"  # drawn from 0 to 1, not logarithmically
FIRST_METRIC = "linf"
HEIGHT = 420
LINE_WIDTH = 1.8

# Exponents with a label: those of all powers of ten or, on a short axis, of more numbers.
TICKS = [
    [round(math.log10(digit) + power, 6) for power in range(19) for digit in digits]
    for digits in ((1,), (1, 2, 5), range(1, 10))
]

# Of a cell, in the language of Vega's expressions. A mechanism that is switched off keeps its
# place among the lines, so that it comes back below and above the same others.
CHOSEN = "datum.dataset == dataset && (against == 'k' ? datum.epsilon == epsilon : datum.k == k)"
SWITCHED_ON = "indexof(shown.mechanism || [], datum.mechanism) >= 0"

DESCRIPTION = "Lines: the median of a metric for each mechanism, against k or epsilon."
TOOLTIP = {
    "dataset_title": "Dataset",
    "mechanism_label": "Mechanism",
    "epsilon": "ε",
    "k": "k",
    "median_text": "Median",
    "quartiles_text": "Quartiles",
    "trials": "Trials",
}


def explorer_chart(table, labels, titles, metrics, epsilons, ks):
    """The chart, as a dict, of a table of cells in CSV (`explorer.as_csv`).

    epsilons, ks: numbers to choose from; the first epsilon is chosen at the beginning.
    """
    columns = table.partition("\n")[0].split(",")
    parse = {name: "string" if name in ("dataset", "mechanism") else "number" for name in columns}
    cells = alt.Chart(alt.InlineData(table, alt.CsvDataFormat(type="csv", parse=parse)))
    shown = alt.selection_point(
        name="shown",
        fields=["mechanism"],
        bind="legend",
        toggle="true",  # by every click, not only with the shift key
        value=[{"mechanism": name} for name in labels],
        empty=False,
        clear=False,
    )
    lines = _placed(cells.transform_filter(CHOSEN), labels, titles)
    x, (color, dashes) = _x(epsilons), _styles(labels)
    band = lines.mark_area(fillOpacity=0.16).encode(x, _y("low"), alt.Y2("high"), color)
    median = lines.mark_line(strokeWidth=LINE_WIDTH).encode(x, _y("middle"), color, dashes)
    # The stroke that nobody sees makes a marker easier to hit.
    markers = lines.mark_point(
        filled=True, opacity=1, size=30, stroke="transparent", strokeWidth=9
    ).encode(
        x,
        _y("middle"),
        color,
        tooltip=[alt.Tooltip(f"{field}:N", title=title) for field, title in TOOLTIP.items()],
    )
    # The y axis has at least one power of ten, or all of 0 to 1.
    ends = alt.Chart(alt.InlineData([{"end": 0}, {"end": 1}])).mark_rule(opacity=0)
    title = alt.TitleParams(alt.ExprRef("heading"), anchor="start", offset=12)
    chart = (
        alt.layer(band, median, markers, ends.encode(_y("end")), _remark(cells))
        .add_params(*_choices(titles, metrics, epsilons, ks), *_words(titles, metrics), shown)
        .properties(width="container", height=HEIGHT, title=title, description=DESCRIPTION)
        .configure(
            font="sans-serif",
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding", resize=True),
        )
        .configure_axis(
            gridColor="#E4E4E4", labelFontSize=12, titleFontSize=13, titleFontWeight="normal"
        )
        .configure_legend(labelFontSize=13)
        .configure_title(fontSize=15, subtitleFontSize=13)
        .configure_view(stroke=None)
        .to_dict()
    )
    # Altair refuses some titles that change; Vega-Lite has them.
    chart["title"]["subtitle"] = {"expr": "place"}
    for layer, axis in itertools.product(chart["layer"], ("x", "y")):
        if "axis" in layer["encoding"].get(axis, {}):
            layer["encoding"][axis]["axis"]["title"] = {"signal": f"{axis}_title"}
    return chart


# ------------------------------------------------------------------ what is chosen


def _choices(titles, metrics, epsilons, ks):
    """A control for each thing of which there are several; explorer.PAGE has their places."""

    def choice(name, words, options, first, binding=alt.binding_select):
        if len(options) == 1:
            return alt.param(name, value=first)
        values, texts = list(options), list(options.values())
        bind = binding(options=values, labels=texts, name=words, element=f"#choose-{name}")
        return alt.param(name, value=first, bind=bind)

    names = {metric: plain_axis(metric).removesuffix(" + 1") for metric in metrics}
    several = len(epsilons) > 1
    axes = {"k": "k", "epsilon": "ε"} if several else {"k": "k"}
    middle = ks[len(ks) // 2]
    return [
        choice("dataset", "Dataset", titles, next(iter(titles))),
        choice("metric", "Metric", names, FIRST_METRIC if FIRST_METRIC in names else metrics[0]),
        choice("against", "Against", axes, "k", alt.binding_radio),
        choice("epsilon", "ε", {e: f"{e:g}" for e in sorted(epsilons)}, epsilons[0]),
        choice("k", "k", {k: str(k) for k in (ks if several else [middle])}, middle),
    ]


def _words(titles, metrics):
    """What follows from the choices for axes and titles."""

    def of_metric(values):
        return f"{_literal(dict(zip(metrics, values, strict=True)))}[metric]"

    known = [METRICS[metric] for metric in metrics]
    return [
        alt.param("padding", expr=of_metric(int(metric.padded) for metric in known)),
        alt.param("share", expr=f"metric == '{SHARE}'"),
        alt.param("x_title", expr="against == 'k' ? 'k' : 'ε'"),
        alt.param("y_title", expr=of_metric(map(plain_axis, metrics))),
        alt.param("heading", expr=of_metric(metric.title for metric in known)),
        alt.param(
            "place",
            expr=f"{_literal(titles)}[dataset] + "
            "(against == 'k' ? ', ε = ' + epsilon : ', k = ' + k)",
        ),
    ]


def plain_axis(metric):
    """The label of a metric's axis without TeX."""
    text = METRICS[metric].axis.replace("$", "")
    return text.replace(r"\ell_\infty", "ℓ∞").replace(r"\ell_1", "ℓ₁")


def _literal(value):
    """A value in the language of Vega's expressions."""
    return json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------ what is drawn


def _placed(cells, labels, titles):
    """Places of the cells on the axes, and what their tooltips say."""

    def place(quartile):
        value = f"datum[metric + '_{quartile}']"
        exponent = f"log({value} + padding) / LN10"
        return f"isValid({value}) && {SWITCHED_ON} ? (share ? {value} : {exponent}) : null"

    def number(quartile):
        return f"format(datum[metric + '_{quartile}'], ',.4~f')"

    return cells.transform_calculate(
        x="against == 'k' ? datum.k : log(datum.epsilon) / LN10",
        low=place("q25"),
        middle=place("median"),
        high=place("q75"),
        dataset_title=f"{_literal(titles)}[datum.dataset]",
        mechanism_label=f"{_literal(labels)}[datum.mechanism]",
        median_text=number("median"),
        quartiles_text=f"{number('q25')} + ' – ' + {number('q75')}",
    )


def _remark(cells):
    """Words in the place of lines where there are none."""
    drawn = f"{CHOSEN} && {SWITCHED_ON} && isValid(datum[metric + '_median'])"
    return (
        cells.transform_calculate(drawn=f"{drawn} ? 1 : 0")
        .transform_aggregate(drawn="sum(drawn)")
        .transform_filter("datum.drawn == 0")
        .mark_text(text="no results", size=14)
        .encode(x=alt.value(alt.ExprRef("width / 2")), y=alt.value(HEIGHT / 2))
    )


def _x(epsilons):
    exponents = [round(math.log10(epsilon), 6) for epsilon in sorted(epsilons)]
    axis = alt.Axis(
        grid=False,
        values=alt.ExprRef(f"against == 'k' ? null : {exponents}"),
        labelExpr="against == 'k' ? datum.label : format(pow(10, datum.value), '.3~r')",
        labelOverlap=True,
        tickMinStep=alt.ExprRef("against == 'k' ? 1 : 0"),
    )
    return alt.X("x:Q", axis=axis, scale=alt.Scale(zero=False, nice=False, padding=14))


def _y(field):
    powers, some, all_digits = TICKS
    span = "span(domain('y'))"
    axis = alt.Axis(
        values=alt.ExprRef(
            "share ? [0, 0.2, 0.4, 0.6, 0.8, 1] : "
            f"{span} > 3.5 ? {powers} : {span} > 1.3 ? {some} : {all_digits}"
        ),
        labelExpr="share ? datum.label : format(pow(10, datum.value), '.3~s')",
        labelOverlap=True,
    )
    return alt.Y(f"{field}:Q", axis=axis, scale=alt.Scale(zero=False, nice=False, padding=6))


def _styles(labels):
    """Colours and dashes as in the figures, and a legend in which mechanisms are ticked."""
    names, styles = list(labels), [mechanism_style(name) for name in labels]
    ticked = SWITCHED_ON.replace("datum.mechanism", "datum.value")
    width = 60 + 8 * max(map(len, labels.values()))  # about that of an entry, in pixels
    legend = alt.Legend(
        title=None,
        orient="top",
        columns=alt.ExprRef(f"max(1, floor((containerSize()[0] - 60) / {width}))"),
        labelExpr=f"({ticked} ? '☑ ' : '☐ ') + {_literal(labels)}[datum.value]",
        labelLimit=0,
        symbolType="stroke",
        symbolSize=600,
        symbolStrokeWidth=LINE_WIDTH,
    )
    colors = alt.Scale(domain=names, range=[style.color for style in styles])
    dashes = alt.Scale(domain=names, range=[_pixels(style.dashes) for style in styles])
    return (
        alt.Color("mechanism:N", scale=colors, legend=legend),
        alt.StrokeDash("mechanism:N", scale=dashes, legend=legend),
    )


def _pixels(dashes):
    """Matplotlib's dashes, which go by the width of the line, as Vega has them."""
    return [1, 0] if dashes == "-" else [round(part * LINE_WIDTH, 1) for part in dashes[1]]
