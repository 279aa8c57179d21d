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
    hollow: bool = False


# Lightness is spread from Joint (28 of 100) to PNF-Joint (75), for grey prints. PNF-Joint is
# light and broken because it lies on Joint, which shows through.
MECHANISMS = {
    "joint": Style("#0A3A9B", "-", "o"),
    "pnf_peel": Style("#CB4A06", (0, (4, 1.4)), "s"),
    "cdp_peel": Style("#3BB07A", (0, (1, 1.1)), "^"),
    "laplace": Style("#743E7E", (0, (5, 1.3, 1, 1.3)), "D"),
    "gamma": Style("#DE9C06", (0, (2, 1)), "v"),
    "pnf_joint": Style("#6CC2FA", (0, (2.4, 2.4)), "P"),
    "fast_joint": Style("#7A1536", (0, (8, 2)), "*"),
    "canonical": Style("#111111", (0, (5, 1.2, 1, 1.2, 1, 1.2)), "X"),
    "oneshot_exp": Style("#9646F6", (0, (3, 1.2)), "<"),
    "rdp_peel": Style("#708992", (0, (1, 0.7)), ">"),
    "gaussian": Style("#A5AF5C", (0, (3, 1, 1, 1)), "d"),
    "pair": Style("#A30502", (0, (6, 1.2, 2, 1.2)), "p"),
}

# The published algorithm of a mechanism looks like it, with other dashes and open markers.
PUBLISHED = {"joint_alg1": "joint", "pnf_peel_alg2": "pnf_peel", "cdp_peel_alg3": "cdp_peel"}
PUBLISHED_DASHES = (0, (3.2, 1.8))

# For mechanisms that the table does not know.
SPARE_COLORS = ("#E377B4", "#0B6E6E", "#7F7F7F", "#6E5A2E", "#2877E7")
SPARE_DASHES = ((0, (6, 1, 2, 1)), (0, (3, 1, 1, 1, 1, 1, 1, 1)), (0, (1, 2.4)), (0, (9, 1, 3, 1)))
SPARE_MARKERS = ("h", "8", "H", (4, 1, 0), (6, 1, 0), (3, 0, 90))

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
    "axes.titley": 1.0,  # else it is looked for, panel by panel
    "axes.titleweight": "bold",
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
    "lines.markersize": 3.6,
    "mathtext.fontset": "dejavusans",
    "pdf.compression": 6,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # the PDF, too, looks at it: one piece of each font instead of several
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
    """The style of a mechanism; an unknown one gets a style that depends on its name alone.

    A variant that is named after its mechanism (laplace_c1) has the colour of that.
    """
    if name in MECHANISMS:
        return MECHANISMS[name]
    if name in PUBLISHED:
        return MECHANISMS[PUBLISHED[name]]._replace(dashes=PUBLISHED_DASHES, hollow=True)
    digest = hashlib.sha256(name.encode()).digest()
    spares = SPARE_COLORS, SPARE_DASHES, SPARE_MARKERS
    spare = Style(*(these[byte % len(these)] for these, byte in zip(spares, digest, strict=False)))
    base = next((known for known in MECHANISMS if name.startswith(f"{known}_")), None)
    return spare._replace(color=MECHANISMS[base].color) if base else spare


def look(name):
    """The style of a mechanism in Matplotlib's words."""
    style = mechanism_style(name)
    return {
        "color": style.color,
        "linestyle": style.dashes,
        "marker": style.marker,
        "markerfacecolor": "white" if style.hollow else style.color,
        "markeredgecolor": style.color if style.hollow else "white",
        "markeredgewidth": 0.8 if style.hollow else 0.4,
    }


def solid(name):
    """The look where time is compared: whatever is not a published algorithm has a solid line."""
    return look(name) | ({} if name in PUBLISHED else {"linestyle": "-"})


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
