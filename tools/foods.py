"""Make the Foods profile: `python -m tools.foods [FILE]`.

The original of Foods is not part of this repository. Two published figures of it were read pixel by
pixel: data/foods/head.csv has the 290 largest counts as intervals, data/foods/bins.csv the number
of items in seven bins from 50 up. The counts drawn here meet both, and all that is published of the
original; data/README.md names the sources, and says what is exact, drawn and modelled.

The law. Let S(n) be the share of items with at least n ratings, and e(n) = -log S(n) / log n the
exponent of the power law from S(1) = 1 through S(n). Two related datasets (their mean) give e up to
n = 20, the head and the bins at 50, 176 and 302. Between these points e is linear in log n: a
power law that steepens slowly, as such data does.

The bytes. `random.Random.random` promises its stream for a seed, whole numbers are made from it
by one multiplication, and logarithms are Python decimals, correctly rounded everywhere. So the
file is the same on every machine.
"""

import csv
import random
from bisect import bisect, bisect_left
from collections import Counter, namedtuple
from decimal import Context, Decimal, localcontext
from itertools import accumulate, pairwise
from math import ceil
from operator import itemgetter

from tools import ROOT
from workflow.scripts.common import program
from workflow.scripts.data.profiles import profile_of, write_profile

DATA = ROOT / "data"
SEED = 2014

# Published facts about the original file.
ITEMS = 166_049
RATINGS = 1_297_156
# Counts of single items that are in the head, at a rank whose interval holds them.
EXACT_COUNTS = (592, 409, 360)
# Single items have at least this many ratings. There has to be room for them below the largest
# item: the first falls into the interval of rank 2.
KNOWN_ITEMS = (3_749, 2_650, 1_547, 1_096, 1_022, 933, 861, 722, 667, 662, 606)

# Shares of items with 1, 2 and 3 ratings, and with at least 5, 10 and 20: in all categories of
# Amazon 2014 together, and in Amazon Fine Foods 2012.
RELATIVES = (
    (".433", ".162", ".086", ".264", ".145", ".077"),
    (".410", ".165", ".092", ".275", ".143", ".068"),
)

# In a test on a synthetic figure, rough counts were read 5 to 8 too high on average, with an error
# of 11 (rms). That is what comes out if two in five are read one row, 16 ratings, too high: 6.4 on
# average, 11 rms.
ROW = 16
ROUGH_ONE_ROW_TOO_HIGH = 0.4

DIGITS = 30

# A row of head.csv: the count of this rank is from low to high, known in this way.
Reading = namedtuple("Reading", "rank low high known")
# A row of bins.csv: this many items have a count from `start` to just below `below`.
Bin = namedtuple("Bin", "start below items_low items_high")


def read_tables():
    """(head, bins) from the two files, as lists of Reading, by rank, and Bin, ascending."""

    def rows(name):
        with open(DATA / "foods" / name, encoding="utf-8", newline="") as file:
            return list(csv.reader(file))[1:]

    head = [Reading(int(r), int(low), int(high), how) for r, low, high, how in rows("head.csv")]
    bins = [Bin(Decimal(a), Decimal(b), int(m), int(n)) for a, b, m, n in rows("bins.csv")]
    return head, bins


def inside(a_bin, counts):
    """How many of the counts are in this bin."""
    return sum(a_bin.start <= count < a_bin.below for count in counts)


def foods(head, bins, seed=SEED):
    """The profile (counts, items) that follows from the tables, drawn with this seed."""
    uniform = random.Random(seed).random
    # The 290 read counts end inside the second bin, so they alone fill those from the third on.
    lowest, second, *filled = bins
    counts = draw_head(head, filled, uniform)
    above = sum(count >= second.below for count in counts)
    in_second = whole(uniform, second.items_low, second.items_high)
    in_lowest = whole(uniform, lowest.items_low, lowest.items_high)
    with localcontext(Context(prec=DIGITS)):
        share = law(
            (ceil(second.below), Decimal(above) / ITEMS),
            (ceil(second.start), Decimal(above + in_second) / ITEMS),
            (ceil(lowest.start), Decimal(above + in_second + in_lowest) / ITEMS),
        )
        for a_bin, missing in ((second, in_second - inside(second, counts)), (lowest, in_lowest)):
            counts += [draw(share, a_bin, uniform) for _ in range(missing)]
        small = tail(share[: ceil(lowest.start) + 1], ITEMS - len(counts), RATINGS - sum(counts))
    return profile_of([*counts, *small.elements()])


def draw_head(head, bins, uniform):
    """The counts of the head, descending: each at a random place in its interval.

    All are drawn again until they meet these bins and leave room for every known item; then each
    exact count replaces one whose interval holds it. The ends of the intervals never rise with the
    rank, so each count, once all are sorted, is still inside the interval of its rank.
    """

    def fits(counts):
        has_room = all(map(int.__ge__, counts[1:], KNOWN_ITEMS))
        return has_room and all(b.items_low <= inside(b, counts) <= b.items_high for b in bins)

    for _ in range(10_000):  # about one draw in six will do
        counts = sorted((position(reading, uniform) for reading in head), reverse=True)
        if not fits(counts):
            continue
        for exact in EXACT_COUNTS:
            places = [i for i, reading in enumerate(head) if reading.low <= exact <= reading.high]
            counts[places[whole(uniform, 0, len(places) - 1)]] = exact
        counts.sort(reverse=True)
        if fits(counts):
            return counts
    raise ArithmeticError("no draw from the intervals meets the bins: the two tables disagree")


def position(reading, uniform):
    """A count for this reading, uniform from low to high.

    `near`, whose row may be off by one, is taken as read. `rough` is too high on average: some
    of these come from the next row below, so they are from low - 16 to high.
    """
    too_high = reading.known == "rough" and uniform() < ROUGH_ONE_ROW_TOO_HIGH
    return whole(uniform, reading.low, reading.high) - ROW * too_high


def whole(uniform, low, high):
    """A whole number from low to high."""
    return low + int(uniform() * (high - low + 1))


def law(*known):
    """S(n) for n = 0, 1, ... up to the largest n of the points (n, S(n)) that are given."""
    one, two, three, five, ten, twenty = (
        sum(map(Decimal, shares)) / len(shares) for shares in zip(*RELATIVES, strict=True)
    )
    small = [(2, 1 - one), (3, 1 - one - two), (4, 1 - one - two - three)]
    points = sorted([*small, (5, five), (10, ten), (20, twenty), *known])
    exponents = [(Decimal(n).ln(), -share.ln() / Decimal(n).ln()) for n, share in points]
    logs = [Decimal(n).ln() for n in range(1, points[-1][0] + 1)]
    return [Decimal(1), *((-x * on_lines(exponents, x)).exp() for x in logs)]


def on_lines(points, x):
    """The value at x on straight lines through the points; the outer lines go on beyond them."""
    right = min(max(bisect(points, x, key=itemgetter(0)), 1), len(points) - 1)
    (x0, y0), (x1, y1) = points[right - 1 : right + 1]
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0)


def draw(share, a_bin, uniform):
    """A count from the law, given that it is in this bin."""
    low, end = ceil(a_bin.start), ceil(a_bin.below)
    level = share[end] + Decimal(uniform()) * (share[low] - share[end])
    # The largest n with S(n) > level.
    return bisect_left(share, -level, low, end, key=Decimal.__neg__) - 1


def tail(share, items, ratings):
    """{count: items} of this many items with this many ratings, as close to the law as possible.

    Of all distributions with their mean, the closest to the law (in relative entropy) is
    proportional to law(n) * exp(-theta * n). Theta is chosen so that the counts, rounded to whole
    items, add up. share is S(n) from 0 to the first count that is too large for the tail.
    """
    masses = [a - b for a, b in pairwise(share[1:])]
    low, high = Decimal(-1), Decimal(1)
    while high - low > Decimal("1e-25"):
        theta = (low + high) / 2
        tilted = [mass * (-theta * n).exp() for n, mass in enumerate(masses, start=1)]
        at_least = list(accumulate(reversed(tilted)))[::-1]
        at_least = [int(items * part / at_least[0] + Decimal("0.5")) for part in at_least]
        # As theta moves, one item at a time moves by one rating: the total is met exactly.
        surplus = sum(at_least) - ratings
        if surplus == 0:
            pairs = enumerate(pairwise([*at_least, 0]), start=1)
            return Counter({n: a - b for n, (a, b) in pairs})
        low, high = (theta, high) if surplus > 0 else (low, theta)
    raise ArithmeticError("no tail has exactly the ratings that are left; try another seed")


def main(path=DATA / "embedded/foods.csv"):
    """Write the profile."""
    write_profile(path, *foods(*read_tables()))


if __name__ == "__main__":
    program(main)
