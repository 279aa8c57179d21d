"""A figure as a sheet of panels in rows, with titles, headline and legend.

All places are computed in inches, from the sizes of the fonts in style.py. Matplotlib's own
layout measures every text of every panel three times, which takes longer than drawing them.
"""

import itertools
import math
import textwrap

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from workflow.scripts.figures.style import DPI, INK, WIDTH

# Inches around a panel: what is left of it and below it holds the numbers and the name of an
# axis, what is above it holds one line of title.
LEFT, RIGHT, ABOVE, BELOW = 0.46, 0.11, 0.2, 0.33
NO_X_AXIS = 0.07  # below a panel whose x axis is labelled further down
Y_NAME, X_NAME = 0.3, 0.17  # from the axis to its name
TITLE_LINE, HEADLINE, NOTE_LETTER = 0.135, 0.17, 0.058


class Sheet:
    """Panels of one height, at most `columns` side by side, each with its title.

    headline: above all panels. heads: above each column, what all its panels share. one_x: whether
    all panels of a column have the same x axis, so that the lowest one alone is labelled.
    Panels are drawn on `axes`; `finish` comes last.
    """

    def __init__(
        self, titles, columns, height, *, left=LEFT, right=RIGHT, headline="", heads=(), one_x=True
    ):
        titles = list(titles)
        self.columns = min(columns, len(titles))
        self.height, self.left, self.right, self.one_x = height, left, right, one_x
        # One panel is not stretched over the whole width.
        self.width = WIDTH if self.columns > 1 else 0.6 * WIDTH
        self.figure = Figure(figsize=(self.width, height), dpi=DPI)
        FigureCanvasAgg(self.figure)
        self.axes = [self.figure.add_axes((0, 0, 1, 1)) for _ in titles]
        letters = int((self.width / self.columns - 0.4) / 0.08)  # up to the next panel
        for axis, title in zip(self.axes, titles, strict=True):
            axis.set_title(textwrap.fill(title, letters), parse_math=False)
        self.headline = textwrap.wrap(headline, int(self.width / 0.09))
        self.heads = list(heads)

    def finish(self, labels, *note, handles=()):
        """Put the legend where there is room, all else in its place, and return the figure.

        The legend has the mechanisms of `labels` that were drawn, or `handles`, and above them the
        lines of a note on what the figure shows; empty ones are left out. It stands in the places
        that the panels leave free, if it fits, or below them.
        """
        drawn = {line.get_label(): line for axis in self.axes for line in axis.lines}
        handles = [*handles, *(drawn[label] for label in labels.values() if label in drawn)]
        note = [line for line in note if line]
        if not handles and not note:
            self._arrange()
            return self.figure
        free = -len(self.axes) % self.columns * self.width / self.columns
        legend, inches = self._legend(handles, note, free - 0.2 if free else self.width)
        beside = free and inches <= self.height + BELOW
        if free and not beside:
            legend.remove()
            legend, inches = self._legend(handles, note, self.width)
        top = self._arrange(0 if beside else inches)
        if beside:
            share = free / self.width
            legend.set(loc="center")
            legend.set_bbox_to_anchor((1 - share, 0, share, top), self.figure.transFigure)
        return self.figure

    def _arrange(self, legend=0):
        """Give the figure its height and each panel its place; return the top of the last row."""
        for axis in self.axes[: -self.columns] if self.one_x else ():
            axis.set_xlabel("")
            axis.tick_params(labelbottom=False)
        starts = range(0, len(self.axes), self.columns)
        rows = [self.axes[start : start + self.columns] for start in starts]
        above = [ABOVE + TITLE_LINE * max(a.get_title("left").count("\n") for a in r) for r in rows]
        below = [BELOW if any(a.get_xlabel() for a in r) else NO_X_AXIS for r in rows]
        head = HEADLINE * len(self.headline) + (0.05 if self.headline else 0)
        head += HEADLINE if self.heads else 0
        height = head + sum(above) + sum(below) + len(rows) * self.height + legend
        self.figure.set_size_inches(self.width, height)
        if self.headline:
            words = "\n".join(self.headline)
            self.figure.suptitle(words, y=1 - 0.04 / height, va="top", parse_math=False)
        cell = self.width / self.columns
        size = cell - self.left - self.right, self.height
        bottom = height - head
        for column, words in enumerate(self.heads):
            place = (column * cell + self.left) / self.width, (bottom + 0.02) / height
            self.figure.text(*place, words, va="bottom", fontsize=8.5, color=INK)
        for row, over, under in zip(rows, above, below, strict=True):
            bottom -= over + self.height
            for column, axis in enumerate(row):
                inches = np.array([column * cell + self.left, bottom, *size])
                axis.set_position(inches / [self.width, height, self.width, height])
                axis.yaxis.set_label_coords(-Y_NAME / size[0], 0.5)
                axis.xaxis.set_label_coords(0.5, -X_NAME / size[1])
            top = bottom + self.height
            bottom -= under
        return top / height

    def _legend(self, handles, note, width):
        """A legend at the foot of the figure, in as few rows as `width` allows, and its height."""
        letters = int(width / NOTE_LETTER)
        note = "\n".join(textwrap.fill(line, letters) for line in note)
        renderer = self.figure.canvas.get_renderer()
        columns = max(1, len(handles))
        while True:
            legend = self.figure.legend(
                handles=handles, loc="lower center", ncols=columns, title=note
            )
            legend.get_title().set(color=INK, multialignment="center", parse_math=False)
            for text in legend.get_texts():
                text.set_parse_math(False)
            extent = legend.get_window_extent(renderer)
            if columns == 1 or extent.width < width * DPI:
                return legend, extent.height / DPI + 0.06
            legend.remove()
            rows = math.ceil(len(handles) / columns) + 1
            columns = min(columns - 1, math.ceil(len(handles) / rows))


def by_dataset(titles, columns, height=1.2, across=None, **further):
    """A sheet with a row for each dataset, and (axis, dataset, column) of all its panels."""
    panels = list(itertools.product(titles, columns))
    sheet = Sheet([titles[name] for name, _ in panels], across or len(columns), height, **further)
    return sheet, [(axis, *panel) for axis, panel in zip(sheet.axes, panels, strict=True)]
