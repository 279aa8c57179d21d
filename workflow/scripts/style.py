"""How figures look: one colour, line style and marker for each mechanism, and how to save."""

import contextlib
import hashlib
from typing import NamedTuple

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf

from workflow.scripts.common import written

WIDTH = 6.75  # inches: the text width of a two-column paper
DPI = 200

INK = "#333333"  # what belongs to no mechanism: gaps, histograms, notes


class Style(NamedTuple):
    """The look of one mechanism; each part alone tells it from the others of MECHANISMS."""

    color: str
    dashes: object
    marker: str


# Lightness is spread from Joint (28 of 100) to PNF-Joint (75), for grey prints. PNF-Joint is
# light and broken because it lies on Joint, which shows through.
MECHANISMS = {
    "joint": Style("#0A3A9B", "-", "o"),
    "pnf_peel": Style("#CB4A06", (0, (4, 1.4)), "s"),
    "cdp_peel": Style("#3BB07A", (0, (1, 1.1)), "^"),
    "laplace": Style("#743E7E", (0, (5, 1.3, 1, 1.3)), "D"),
    "gamma": Style("#DE9C06", (0, (2, 1)), "v"),
    "pnf_joint": Style("#6CC2FA", (0, (2.4, 2.4)), "P"),
    "joint_alg1": Style("#111111", (0, (5, 1.2, 1, 1.2, 1, 1.2)), "X"),
    "fast_joint": Style("#7A1536", (0, (8, 2)), "*"),
}

# For mechanisms that the table does not know.
SPARE_COLORS = ("#E377B4", "#0B6E6E", "#7F7F7F", "#A9A432", "#6B6A12")
SPARE_DASHES = ((0, (6, 1, 2, 1)), (0, (3, 1, 1, 1, 1, 1, 1, 1)), (0, (1, 2.4)), (0, (9, 1, 3, 1)))
SPARE_MARKERS = ("<", ">", "p", "h", "d", "8")

RC = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.labelpad": 2.0,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titlepad": 3.5,
    "axes.titlesize": 8.0,
    "axes.titleweight": "bold",
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.hspace": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.wspace": 0.03,
    "figure.titlesize": 9.0,
    "figure.titleweight": "bold",
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "legend.columnspacing": 1.6,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "legend.title_fontsize": 7.0,
    "lines.dash_capstyle": "butt",
    "lines.linewidth": 1.3,
    "lines.markeredgewidth": 0.4,
    "lines.markersize": 3.6,
    "mathtext.fontset": "dejavusans",
    "pdf.compression": 6,
    "pdf.fonttype": 42,
    "xtick.labelsize": 6.8,
    "xtick.major.pad": 2.0,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "xtick.minor.size": 1.5,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 6.8,
    "ytick.major.pad": 2.0,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.6,
    "ytick.minor.size": 1.5,
    "ytick.minor.width": 0.4,
}


def mechanism_style(name):
    """The style of a mechanism; an unknown one gets a style that depends on its name alone."""
    if name in MECHANISMS:
        return MECHANISMS[name]
    digest = hashlib.sha256(name.encode()).digest()
    spares = SPARE_COLORS, SPARE_DASHES, SPARE_MARKERS
    return Style(*(spare[byte % len(spare)] for spare, byte in zip(spares, digest, strict=False)))


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
    figure.set_dpi(DPI)
    # print_png and print_pdf draw once; savefig would draw each file twice.
    with written(png, "wb") as file:
        FigureCanvasAgg(figure).print_png(file, metadata={"Software": None})
    figure.set_layout_engine("none")  # the PDF keeps the layout of the PNG
    with written(pdf, "wb") as file:
        metadata = {"Creator": None, "Producer": None, "CreationDate": None}
        FigureCanvasPdf(figure).print_pdf(file, metadata=metadata)
