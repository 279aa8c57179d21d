"""How each judging word of the paper is judged; words.csv says the same to people.

The bounds were chosen from the paper's text alone, before any result was looked at. A word that
compares mechanisms has a function, which gets the cells that `evidence.Results.cells` makes, not
all of them ties at 0 unless ties count.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

HOLDS, PARTLY, DOES_NOT_HOLD = "holds", "partly", "does not hold"
NOT_COMPARABLE, NOT_CHECKED = "not comparable", "not checked"
VERDICTS = (HOLDS, PARTLY, DOES_NOT_HOLD, NOT_COMPARABLE, NOT_CHECKED)

# Ranges of k, ends included: as judged, then other readings, which must not change a verdict.
ALL_K = (1, 10**9)
BANDS = {
    "all": (ALL_K,),
    "small": ((1, 30), (1, 45)),
    "moderate": ((31, 100), (31, 65), (31, 145)),
    "not large": ((1, 100), (1, 65), (1, 145)),
    "not small": ((31, 10**9), (46, 10**9)),
    "low": ((1, 45),),
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


def verdict(holds, partly=False):
    return HOLDS if holds else PARTLY if partly else DOES_NOT_HOLD


class Cells:
    """A table of cells: columns as arrays. `evidence.Results.cells` says which there are."""

    def __init__(self, **columns):
        vars(self).update(columns)

    def __len__(self):
        return len(self.k)

    def __getitem__(self, chosen):
        return Cells(**{name: column[chosen] for name, column in vars(self).items()})

    def by_dataset(self):
        return {name: self[self.dataset == name] for name in dict.fromkeys(self.dataset.tolist())}

    @property
    def told(self):
        """Without ties at 0."""
        return self[~self.zero]

    @property
    def matching(self):
        return self.zero | ((self.ratio >= 0.8) & (self.ratio <= 1.25))

    @property
    def mean_ratio(self):
        return float(np.exp(np.log(self.ratio).mean()))

    def best_of(self):
        """Against all rivals at once: won if each is beaten or tied with, lost if one is better."""
        keys = list(zip(self.dataset, self.metric, self.k, strict=True))
        place = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        where = np.array([place[key] for key in keys])
        best = self[np.unique(where, return_index=True)[1]]

        def any_of(truths):
            return np.bincount(where, truths, len(place)) > 0

        best.zero, best.loss = ~any_of(~self.zero), any_of(self.loss)
        best.win = ~any_of(~(self.win | self.zero)) & ~best.zero
        best.ranks = any_of(self.ranks)
        return best


def ordered(numbers):
    """Is each of the four datasets above each of the two, or at least their median?"""
    four, two = ([numbers[name] for name in group] for group in (LARGE, SMALL))
    return verdict(min(four) > max(two), np.median(four) > np.median(two))


# ---------------------------------------------------------------- words that compare mechanisms


def share(wins, losses, partly_wins, partly_losses, *, ahead=0.0, ties=False, even=False):
    """A word judged by the shares of cells won and lost, which may be None: fewer than won.

    `ahead` is the share of datasets that need more wins than losses; with `even`, partly needs no
    more losses than wins.
    """

    def judge(cells):
        told = cells if ties else cells.told
        balance = [
            (part.win.sum() + ties * part.zero.sum()) - part.loss.sum()
            for part in cells.by_dataset().values()
        ]
        spread = np.less(balance, 0).mean() <= 1 / 3 and np.greater(balance, 0).mean() >= ahead
        enough = len(told) >= len(cells) / 2
        won, lost = (told.win | told.zero).mean(), told.loss.mean()
        few, rather_few = (
            lost < won if bound is None else lost <= bound for bound in (losses, partly_losses)
        )
        rather_few |= even and lost <= won
        return verdict(won >= wins and few and spread and enough, won >= partly_wins and rather_few)

    return judge


def always(cells):
    near = cells.loss.mean() <= 0.1 and (cells.a <= cells.b).mean() >= 0.8
    return verdict(not cells.loss.any() and (cells.ratio > 1 / 1.05).all(), near)


def dominates(cells):
    found = always(cells)
    return PARTLY if found == HOLDS and cells.win[~cells.zero].mean() < 0.5 else found


def consistently(cells):
    good = cells.win | cells.matching
    everywhere = all(good[cells.dataset == name].mean() >= 0.75 for name in set(cells.dataset))
    bad = (cells.loss & (cells.ratio < 0.8)).mean()
    return verdict(good.mean() >= 0.9 and everywhere and bad <= 0.05, good.mean() >= 0.75)


def matches(cells):
    alike = cells.matching
    worse = (~alike & (cells.ratio < 1)).mean()
    partly = alike.mean() >= 0.5 or worse <= 0.1 * (~alike).mean()
    return verdict(alike.mean() >= 0.75, worse <= 0.25 and partly)


def slightly(cells):
    told = cells.told
    size = told.mean_ratio
    direction = (told.ratio > 1).mean() > 0.5 and told.win.sum() > told.loss.sum()
    return verdict(1.05 < size <= 1.5 and direction, size > 1 / 1.05)


def much(cells):
    large = (cells.win & (cells.ratio > 2))[~cells.zero].mean()
    return verdict(large >= 0.75, large >= 0.5)


def wide_range(cells):
    good = [
        part.win.sum() > max(3, part.loss.sum()) and part.win.sum() >= (~part.zero).sum() / 2
        for part in cells.by_dataset().values()
    ]
    return verdict(all(good), np.mean(good) >= 0.5)


def last_wins(cells):
    """The last k that is won, on each dataset; 0 if none is."""
    return {name: max([0, *part.k[part.win]]) for name, part in cells.by_dataset().items()}


def only_to_30(cells):
    last = last_wins(cells).values()
    near = [15 <= k <= 45 for k in last]
    return verdict(all(near), any(near) or all(5 <= k <= 65 for k in last))


def inside_and_outside(cells):
    """Share won and mean ratio, within the part that the statement names and outside it."""
    parts = [cells.told[cells.told.inside], cells.told[~cells.told.inside]]
    return [(part.win.mean(), part.mean_ratio) if len(part) else (0, 1) for part in parts]


def particularly(cells):
    larger = [a > b for a, b in zip(*inside_and_outside(cells), strict=True)]
    return verdict(all(larger), any(larger))


def not_different(cells):
    alike = cells.matching.mean()
    return verdict(not cells.significant.any() and alike >= 0.9, alike >= 0.75)


JUDGES = {
    "improves": share(0.75, 0.1, 0.5, None),
    "strongest": share(0.75, 0.1, 0.5, None, ties=True),
    "always": always,
    "dominates": dominates,
    "almost always": share(0.9, 0.05, 0.75, 0.15),
    "consistently": consistently,
    "mostly": share(2 / 3, None, 1 / 2, None, ahead=0.51),
    "not mostly": lambda cells: verdict(cells.win.mean() < 0.5),
    "largely best": share(2 / 3, None, 1 / 2, None, ahead=0.51, ties=True),
    "often": share(1 / 2, None, 1 / 3, None, ahead=0.5, even=True),
    "much": much,
    "slightly": slightly,
    "matches": matches,
    "wide range of k": wide_range,
    "only to about 30": only_to_30,
    "particularly": particularly,
    "relatively": lambda cells: ordered(
        {name: x.mean_ratio for name, x in cells.by_dataset().items()}
    ),
    "not different": not_different,
}


class Word(NamedTuple):
    """A row of words.csv; `ties` at 0 may be in favour, `best` compares with all rivals at once."""

    holds: str
    partly: str
    ties: bool
    best: bool


def read(path=Path(__file__).parents[2] / "words.csv"):
    with open(path, encoding="utf-8", newline="") as file:
        return {
            row["word"]: Word(
                row["holds"],
                row["partly"] or "–",
                row["ties"] == "in favour",
                row["rivals"] == "all at once",
            )
            for row in csv.DictReader(file)
        }


WORDS = read()
