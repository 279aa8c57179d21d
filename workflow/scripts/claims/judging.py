"""From numbers to a verdict: what each judging word of the paper is taken to mean, once.

`WORDS` is the table that people see. It is made from the constants that the functions below it
use, so the two cannot differ.
"""

from dataclasses import dataclass

import numpy as np

from workflow.scripts.results.comparing import LEVEL

HOLDS, PARTLY, DOES_NOT_HOLD = "holds", "partly", "does not hold"
NOT_COMPARABLE, NOT_CHECKED = "not comparable", "not checked"
VERDICTS = (HOLDS, PARTLY, DOES_NOT_HOLD, NOT_COMPARABLE, NOT_CHECKED)

# Words that are judged by the share of cells at which something is true: holds from, partly from.
SHARES = {
    "consistently": (0.95, 0.85),
    "almost always": (0.9, 0.75),
    "mostly": (2 / 3, 1 / 2),
    "often": (1 / 2, 1 / 4),
}
ALWAYS, ALWAYS_PARTLY, CONTRARY = 0.9, 0.75, 0.1
MUCH, MUCH_PARTLY = 2, 1.25
SLIGHTLY = 1.5
MATCHES, MATCHES_PARTLY, ALIKE = 1.1, 1.25, 2 / 3
WIDE, WIDE_PARTLY, WIDE_REST = 1 / 2, 1 / 4, 0.8
SMALL_K, MODERATE_K = 20, 100
ROUGHLY_30 = (20, 40)
SEVERAL = 3
PLATEAU_K, PLATEAU_CHANGE, CLEARLY_LONGER = 4, 1.1, 2
ZERO_MEDIAN, ZERO_QUARTILE = 1, 5
LITTLE = 1.25


class NotChecked(Exception):
    """This run lacks what a check needs; the message says what."""


@dataclass(frozen=True)
class Outcome:
    """What a check found, the numbers behind it, and the datasets that they rest on."""

    verdict: str
    found: str
    datasets: tuple = ()


@dataclass(frozen=True)
class Word:
    word: str
    holds: str
    partly: str = "–"


def _from(share):
    return f"true at {share:.0%} or more"


WORDS = (
    Word("cell", "one dataset, metric and k: the medians and the trials of two mechanisms there"),
    Word(
        "lower, beats, improves",
        "the median is lower; where both medians are 0, the trials are lower by their ranks. "
        "Cells at which not even the trials differ are left out: there is nothing to win",
    ),
    Word(
        "surely",
        "a two-sided rank test of the trials says so too, at a level of "
        f"{LEVEL:.0%} shared by all cells of the statement",
    ),
    Word(
        "factor",
        "geometric mean of the ratio of medians padded by 1, as plotted; cells with two medians "
        "of 0 are left out, and each dataset weighs the same",
    ),
    Word(
        "always",
        f"{_from(ALWAYS)} of the cells, surely false at none",
        f"{_from(ALWAYS_PARTLY)}, surely false at {CONTRARY:.0%} or fewer",
    ),
    Word(
        "dominates",
        "always not higher, and lower at more than half of the cells",
        "as always",
    ),
    Word(
        "consistently",
        f"{_from(SHARES['consistently'][0])}, surely false at "
        f"{1 - SHARES['consistently'][0]:.0%} or fewer",
        _from(SHARES["consistently"][1]),
    ),
    Word("almost always, strongest, superior", *map(_from, SHARES["almost always"])),
    Word(
        "mostly, largely",
        f"{_from(SHARES['mostly'][0])}, at half or more on most of the datasets, and surely at no "
        "fewer cells than surely not",
        _from(SHARES["mostly"][1]),
    ),
    Word(
        "often",
        f"{_from(SHARES['often'][0])}, and surely at no fewer cells than surely not",
        _from(SHARES["often"][1]),
    ),
    Word("much", f"a factor of {MUCH} or more", f"of {MUCH_PARTLY} or more"),
    Word(
        "slightly",
        f"a factor above 1 and up to {SLIGHTLY}, surely lower at more cells than surely higher",
        "any other factor above 1",
    ),
    Word(
        "matches",
        f"a factor within {MATCHES} either way, or not surely different at {ALIKE:.0%} or more",
        f"within {MATCHES_PARTLY}, or better than a match",
    ),
    Word(
        "wide range of k",
        f"at {WIDE:.0%} or more of all k; or, where fewer have something to win, at "
        f"{WIDE_REST:.0%} or more of those, and {WIDE_PARTLY:.0%} of all",
        f"at {WIDE_PARTLY:.0%} or more of all k",
    ),
    Word("small k", f"k <= {SMALL_K}"),
    Word("moderate k, k not large", f"k <= {MODERATE_K}"),
    Word("roughly k = 30", "the last k is after {} and before {}".format(*ROUGHLY_30)),
    Word("several", f"{SEVERAL} or more", f"{SEVERAL - 1}"),
    Word("small, large datasets", "Foods and Games; Books, Movies, News and Tweets (by gaps)"),
    Word(
        "plateau",
        f"{PLATEAU_K} or more successive k with medians, padded by 1 and not 0, within "
        f"{PLATEAU_CHANGE - 1:.0%}; clearly longer: {CLEARLY_LONGER} times the span or more",
    ),
    Word(
        "essentially zero",
        f"median at most {ZERO_MEDIAN} and upper quartile at most {ZERO_QUARTILE}, at each k",
    ),
    Word(
        "differs little",
        f"the medians padded by 1 are within a factor of {LITTLE} at more than half of the k",
    ),
    Word(
        "on each of several datasets",
        "it holds on each",
        "anything between that and not even partly on any",
    ),
)


# ---------------------------------------------------------------- parts of a statement


def all_of(verdicts):
    """The verdict on a whole from those on its parts; a part without a verdict does not count."""
    verdicts = {verdict for verdict in verdicts if verdict != NOT_CHECKED}
    if not verdicts:
        return NOT_CHECKED
    return verdicts.pop() if len(verdicts) == 1 else PARTLY


def all_or_some(truths):
    truths = list(truths)
    return HOLDS if all(truths) else PARTLY if any(truths) else DOES_NOT_HOLD


def all_or_most(truths):
    return HOLDS if all(truths) else PARTLY if np.mean(truths) > 0.5 else DOES_NOT_HOLD


# ---------------------------------------------------------------- the words


def by_share(word, true):
    """Judge by an array of truths, one for each cell."""
    holds, partly = SHARES[word]
    if not len(true):
        return NOT_CHECKED
    share = np.mean(true)
    return HOLDS if share >= holds else PARTLY if share >= partly else DOES_NOT_HOLD


def always(true, surely_false):
    """Judge cell by cell, by arrays of truths; noise is allowed for, what is sure is not."""
    if not len(true):
        return NOT_CHECKED
    if np.mean(true) >= ALWAYS and not np.any(surely_false):
        return HOLDS
    near = np.mean(true) >= ALWAYS_PARTLY and np.mean(surely_false) <= CONTRARY
    return PARTLY if near else DOES_NOT_HOLD


def consistently(true, surely_false):
    verdict = by_share("consistently", true)
    # A share of exactly 5 % is within the bound, whatever the rounding of 1 - 0.95.
    few = len(true) and np.mean(surely_false) <= 1 - SHARES["consistently"][0] + 1e-9
    return verdict if verdict != HOLDS or few else PARTLY


def often(cells):
    """Is the first of the two often lower, where there is something to win?"""
    return _unless_more_sure_losses(by_share("often", cells.lower[cells.open]), cells)


def mostly(cells):
    """Is the first of the two mostly lower, where there is something to win?"""
    cells = cells.where(cells.open)
    verdict = by_share("mostly", cells.lower)
    lost = [np.mean(cells.of(name).lower) < 0.5 for name in np.unique(cells.dataset)]
    if verdict == HOLDS and np.mean(lost) >= 0.5:
        return PARTLY
    return _unless_more_sure_losses(verdict, cells)


def _unless_more_sure_losses(verdict, cells):
    more = cells.surely_higher.sum() > cells.surely_lower.sum()
    return PARTLY if verdict == HOLDS and more else verdict


def dominates(cells):
    """Is the first of the two never worse, and better in most cells?"""
    verdict = always(~cells.higher[cells.open], cells.surely_higher[cells.open])
    if verdict == HOLDS and np.mean(cells.lower[cells.open]) <= 0.5:
        return PARTLY
    return verdict


def much(factor):
    return HOLDS if factor >= MUCH else PARTLY if factor >= MUCH_PARTLY else DOES_NOT_HOLD


def slightly(cells):
    """Is the first of the two slightly lower?"""
    if cells.factor <= 1:
        return DOES_NOT_HOLD
    told = cells.surely_lower.sum() > cells.surely_higher.sum()
    return HOLDS if told and cells.factor <= SLIGHTLY else PARTLY


def matches(cells):
    different = cells.surely_lower | cells.surely_higher
    if within(cells.factor, MATCHES) or np.mean(~different) >= ALIKE:
        return HOLDS
    # A factor above 1 is in favour of the first.
    return PARTLY if cells.factor >= 1 / MATCHES_PARTLY else DOES_NOT_HOLD


def within(factor, bound):
    return 1 / bound <= factor <= bound


def over_wide_range(true, open_):
    """Judge by truths at all k of a run; `open_` says where there is something to win."""
    share = np.mean(true)
    rest = np.mean(true[open_]) if open_.any() else 0
    if share >= WIDE or (share >= WIDE_PARTLY and np.mean(open_) < WIDE and rest >= WIDE_REST):
        return HOLDS
    return PARTLY if share >= WIDE_PARTLY else DOES_NOT_HOLD


def longest_plateau(k, medians):
    """First and last k of the longest plateau; (k, k) of no length if there is none."""
    padded, best = medians + 1, (k[0], k[0])
    for i in range(len(k)):
        for j in range(i + PLATEAU_K - 1, len(k)):
            part = padded[i : j + 1]
            flat = part.max() <= PLATEAU_CHANGE * part.min() and medians[i : j + 1].min() > 0
            if flat and k[j] - k[i] > best[1] - best[0]:
                best = k[i], k[j]
    return best
