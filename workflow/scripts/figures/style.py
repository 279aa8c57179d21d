"""How figures look: one colour, line style and marker for each mechanism, and how to save."""

import base64
import contextlib
import hashlib
import math
from html import escape
from pathlib import Path
from typing import NamedTuple

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.colors import to_rgb

from dp_topk import mechanisms
from workflow.scripts.common import written
from workflow.scripts.results.page import page, paragraph

WIDTH = 6.75  # inches: the text width of a two-column paper
DPI = 200

INK = "#333333"  # what belongs to no mechanism: gaps, histograms, notes


class Style(NamedTuple):
    """The look of one mechanism; colour, dashes and marker each tell it from the others."""

    color: str
    dashes: object
    marker: str
    hollow: bool = False


# For what a mechanism's module does not say. Nothing here looks like Joint: no blue, no solid line.
SPARE_COLORS = ("#D9629F", "#F08080", "#6E5A2E", "#C9A0DC", "#B98A5E")
SPARE_DASHES = ((6, 1, 2, 1), (3, 1, 1, 1, 1, 1, 1, 1), (1, 2.4), (9, 1, 3, 1))
SPARE_MARKERS = ("h", "8", "H", (4, 1, 0), (6, 1, 0), (3, 0, 90))
TOO_NEAR = 0.35  # to Joint's colour, as a distance of RGB values from 0 to 1

RC = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.labelpad": 2.0,
    "axes.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titlepad": 3.5,
    "axes.titlesize": 8.0,
    "axes.titley": 1.0,  # otherwise Matplotlib looks for it, panel by panel
    "axes.titleweight": "bold",
    "figure.titleweight": "bold",
    "font.size": 7.5,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "legend.columnspacing": 1.6,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "legend.title_fontsize": 7.0,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.6,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # obeyed by PDFs, too: one subset of each font instead of several
}
TICKS = {"labelsize": 6.8, "major.pad": 2.0, "major.size": 2.5, "major.width": 0.6}
TICKS |= {"minor.size": 1.5, "minor.width": 0.4}
RC |= {f"{axis}tick.{key}": value for axis in "xy" for key, value in TICKS.items()}


def mechanism_style(name):
    """The look that the module of a mechanism gives it, or one that depends on its name alone.

    A published algorithm looks like the sampler of the same distribution, with open markers.
    Joint's colour and its solid line are Joint's alone, whatever other modules say.
    """
    try:
        about = mechanisms.get(name)
    except ValueError:  # a variant of the config
        about = None
    if about and about.published_of:
        return mechanism_style(about.published_of)._replace(hollow=True)
    digest = hashlib.sha256(name.encode()).digest()
    spares = SPARE_COLORS, SPARE_DASHES, SPARE_MARKERS
    color, dash, marker = (s[byte % len(s)] for s, byte in zip(spares, digest, strict=False))
    if about:
        joint = name == "joint"
        color = about.color if about.color and (joint or _unlike_joint(about.color)) else color
        dash = about.dash if about.dash or joint else dash
        marker = about.marker or marker
    return Style(color, (0, dash) if dash else "-", marker)


def _unlike_joint(color):
    return math.dist(to_rgb(color), to_rgb(mechanisms.get("joint").color)) > TOO_NEAR


def look(name):
    """The style of a mechanism in Matplotlib's words."""
    color, dashes, marker, hollow = mechanism_style(name)
    look = {"color": color, "linestyle": dashes, "marker": marker}
    if hollow:
        return look | {"markerfacecolor": "white", "markeredgewidth": 0.8, "linewidth": 0.7}
    return look | {"markeredgecolor": "white", "markeredgewidth": 0.4}


@contextlib.contextmanager
def styled():
    """Matplotlib's own defaults and RC, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


@styled()
def save(figure, png, pdf):
    """Write a figure as PNG and PDF; the same figure gives the same bytes at any time."""
    # print_png and print_pdf draw once; savefig would draw each file twice.
    with written(png, "wb") as file:
        FigureCanvasAgg(figure).print_png(file, metadata={"Software": None})
    with written(pdf, "wb") as file:
        metadata = {"Creator": None, "Producer": None, "CreationDate": None}
        FigureCanvasPdf(figure).print_pdf(file, metadata=metadata)


def save_page(name, caption, png, file):
    """Write a page that holds a picture, for the report.

    Snakemake centres a bare picture, so that the top of a tall one cannot be reached; a page can be
    scrolled.
    """
    source = f"data:image/png;base64,{base64.b64encode(Path(png).read_bytes()).decode()}"
    picture = f'<img style="max-width: 100%" src="{source}" alt="{escape(name)}">'
    with written(file) as stream:
        stream.write(page(name, picture, paragraph(caption)))
