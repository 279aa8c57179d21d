"""How each judging word of the paper is judged; words.csv says the same to people.

The bounds come from two readers who saw the paper and no result; where the two differ, results were
known when one was chosen, and words.csv says so. A word that compares mechanisms has a function of
cells, which `evidence.Results.cells` makes.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from workflow.scripts.common import read_dicts

HOLDS, PARTLY, DOES_NOT_HOLD = "holds", "partly", "does not hold"
NOT_COMPARABLE, NOT_CHECKED = "not comparable", "not checked"
VERDICTS = (HOLDS, PARTLY, DOES_NOT_HOLD, NOT_COMPARABLE, NOT_CHECKED)

# Ranges of k, ends included: as judged, then other readings, which must not change a verdict.
ALL_K = (1, 10**9)
LOW = (1, 45)  # those of figure 7
BANDS = {
    "all": (ALL_K,),
    "small": ((1, 30), (1, 15), (1, 45)),
    "moderate": ((31, 100), (31, 65), (31, 125)),
    "not large": ((1, 100), (1, 65), (1, 125)),
    "not small": ((31, 10**9), (46, 10**9)),
    "low": (LOW,),
}
SIX = ("books", "foods", "games", "movies", "news", "tweets")
LARGE, SMALL = ("books", "movies", "news", "tweets"), ("foods", "games")
# Datasets that the paper names, or calls large or small: as judged, then by their number of items.
GROUPS = {
    "six": (SIX,),
    "four": (LARGE,),
    "two": (SMALL,),
    "movies": (("movies",),),
    "large": (LARGE, ("foods", "movies", "news", "tweets")),
    "small": (SMALL, ("books", "games")),
}
BAND = 1.25  # ratios from 1 / BAND to BAND match; a loss beyond it is material


def verdict(holds, partly=False):
    return HOLDS if holds else PARTLY if partly else DOES_NOT_HOLD


def together(verdicts):
    """All hold; partly, at most one does not hold."""
    return verdict(set(verdicts) == {HOLDS}, verdicts.count(DOES_NOT_HOLD) <= 1)


class Cells(SimpleNamespace):
    """Columns of cells, which `evidence.Results.cells` makes: arrays of equal length."""

    def __len__(self):
        return len(self.k)

    def __getitem__(self, chosen):
        return Cells(**{name: column[chosen] for name, column in vars(self).items()})

    def by(self, column):
        """{value: its cells}"""
        values = getattr(self, column)
        return {value: self[values == value] for value in dict.fromkeys(values.tolist())}

    def each(self, number):
        """{dataset: a number of its cells}"""
        return {name: number(part) for name, part in self.by("dataset").items()}

    win = property(lambda self: (self.a < self.b) & self.significant)
    loss = property(lambda self: (self.a > self.b) & self.significant)
    zero = property(lambda self: (self.a == 0) & (self.b == 0))  # a tie at 0
    ratio = property(lambda self: (self.b + 1) / (self.a + 1))
    parts = property(lambda self: list(self.by("dataset").values()))
    told = property(lambda self: self[~self.zero])
    won = property(lambda self: self.win.mean() if len(self) else 0.0)
    lost = property(lambda self: self.loss.mean() if len(self) else 0.0)
    mean_ratio = property(lambda self: np.exp(np.log(self.ratio).mean()) if len(self) else 1.0)
    matching = property(lambda self: (self.ratio >= 1 / BAND) & (self.ratio <= BAND))
    worse = property(lambda self: self.ratio < 1 / BAND)
    material = property(lambda self: self.loss & self.worse)
    mean_ratios = property(lambda self: self.each(lambda part: part.told.mean_ratio))
    wins = property(lambda self: self.each(lambda part: part.win.sum()))
    last_wins = property(lambda self: self.each(lambda part: max([0, *part.k[part.win]])))
    score = property(lambda self: f"{self.win.sum()}–{self.loss.sum()} of {len(self)}")


def shares(cells, won, lost, partly_won, partly_lost=None):
    """Are these shares won and lost, and on each dataset more won than lost? Or so in part?

    partly_lost: by default, fewer than are won.
    """
    ahead = all(part.win.sum() > part.loss.sum() for part in cells.told.parts)
    few = cells.lost < cells.won if partly_lost is None else cells.lost <= partly_lost
    return cells.won >= won and cells.lost <= lost and ahead, cells.won >= partly_won and few


def lost_to_some(cells):
    """The share of all (dataset, k) at which some rival wins."""
    places = [set(zip(c.dataset, c.k, strict=True)) for c in (cells[cells.loss], cells)]
    return len(places[0]) / len(places[1])


def some_won(part):
    """A quarter of all k, or three and no more than a quarter lost."""
    return part.won >= 1 / 4 or (part.lost <= 1 / 4 and part.win.sum() >= 3)


def contrasts(cells):
    """{what the statement names, of datasets or of k: shares won there and elsewhere}"""
    return {
        name: (cells[chosen].won, cells[~chosen].won)
        for name, chosen in (("datasets", cells.in_group), ("k", cells.in_band))
        if not chosen.all()
    }


def ordered(numbers):
    """Is each of the four datasets above each of the two, or all but one of the four?"""
    below = sum(numbers[name] <= max(numbers[other] for other in SMALL) for name in LARGE)
    return below == 0, below == 1


# Whether cells are as a word says, and whether they are so in part.
JUDGES = {
    "improves": lambda cells: shares(cells, 2 / 3, 0.1, 1 / 2),
    "strongest": lambda cells: (
        lost_to_some(cells) <= 0.05
        and not cells.material.any()
        and all(part.told.won >= 0.5 for part in cells.by("rival").values()),
        lost_to_some(cells) <= 0.2,
    ),
    "always": lambda cells: (
        not cells.loss.any() and sum(part.win.any() for part in cells.parts) >= 3,
        cells.loss.sum() <= 1 and not cells.material.any(),
    ),
    "dominates": lambda cells: shares(cells, 0.8, 0, 0.5, 0.1),
    "almost always": lambda cells: shares(cells, 0.9, 0.05, 0.7, 0.15),
    "consistently": lambda cells: (
        all(part.lost <= 0.05 for part in cells.parts) and not cells.material.any(),
        all(part.lost <= 1 / 3 for part in cells.parts) and cells.lost <= 0.15,
    ),
    "mostly": lambda cells: shares(cells, 2 / 3, 1, 1 / 2),
    "not mostly": lambda cells: (cells.won < 0.5, False),
    "largely best": lambda cells: shares(cells, 2 / 3, 1, 1 / 2),
    "often": lambda cells: (
        cells.won >= 1 / 3 and sum(part.won >= 1 / 3 for part in cells.parts) >= 3,
        cells.won >= 0.15,
    ),
    "much": lambda cells: (
        cells.won >= 2 / 3 and all(part.mean_ratio >= 2 for part in cells.told.parts),
        cells.told.mean_ratio >= BAND,
    ),
    "slightly": lambda cells: (
        all(1.02 <= p.mean_ratio <= 1.5 and p.won >= p.lost + 0.1 for p in cells.parts),
        all(p.won >= p.lost and p.mean_ratio > 0.98 for p in cells.parts),
    ),
    "matches": lambda cells: (
        cells.matching.mean() >= 0.8 and 1 / BAND <= cells.mean_ratio <= BAND,
        all(part.worse.mean() <= 0.2 for part in cells.parts)
        and (cells.matching.mean() >= 0.5 or not cells.worse.any()),
    ),
    "wide range of k": lambda cells: (
        all(map(some_won, cells.parts)) and np.mean([p.won >= 1 / 2 for p in cells.parts]) >= 3 / 4,
        np.mean([some_won(part) for part in cells.parts]) >= 1 / 2,
    ),
    "only to about 30": lambda cells: (
        all(15 <= k <= 45 for k in cells.last_wins.values()),
        any(15 <= k <= 45 for k in cells.last_wins.values()),
    ),
    "particularly": lambda cells: (
        min((here - there for here, there in contrasts(cells).values()), default=0) >= 0.15,
        any(here > there for here, there in contrasts(cells).values()),
    ),
    "relatively": lambda cells: ordered(cells.mean_ratios),
    "not different": lambda cells: (
        not cells.significant.any() and cells.matching.mean() >= 0.9,
        cells.significant.mean() <= 0.1 and cells.matching.mean() >= 0.75,
    ),
}
TOGETHER = ("strongest", "relatively")  # judged against all rivals at once, not one by one


def counts_ties(word):
    """Are ties at 0 among the cells? If not, it is checked that they would change nothing."""
    return WORDS[word]["ties"] == "counted"


def told(word, cells):
    """The cells that are judged."""
    return cells if counts_ties(word) else cells.told


def judged(word, cells):
    """Against each rival, and with ties as the word wants them; NOT_CHECKED if all are ties."""
    verdicts = []
    for part in [cells] if word in TOGETHER else cells.by("rival").values():
        if len(told(word, part)):
            found, with_ties = (verdict(*JUDGES[word](c)) for c in (told(word, part), part))
            verdicts.append(PARTLY if found == HOLDS != with_ties else found)
    return worst(verdicts)


def worst(verdicts):
    return max((v for v in verdicts if v != NOT_CHECKED), key=VERDICTS.index, default=NOT_CHECKED)


WORDS = {row["word"]: row for row in read_dicts(Path(__file__).parents[2] / "words.csv")}
