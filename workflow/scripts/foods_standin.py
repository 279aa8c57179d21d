"""Make the stand-in for Foods: `python -m workflow.scripts.foods_standin [FILE]`.

The file behind the Foods dataset (Amazon 2014, Grocery and Gourmet Food: ratings of each
product) is not part of this repository. What is published about it is: the number of items
and of ratings, the largest and the tenth count, and the shares of items with few and many
ratings in two closely related datasets. This program draws counts that meet the numbers
exactly and the shares as closely as the total allows, and writes data/embedded/foods.csv.

The law. Let S(n) be the share of items with at least n ratings, and e(n) = -log S(n) / log n
the exponent of the power law from S(1) = 1 through S(n). The relatives (their mean) give e at
n = 2, 3, 4, 5, 10, 20, 50 and 100; the tenth count gives it at 2,371, where S is 10 / items.
Between these points, and beyond the last, e is linear in log n: a power law that steepens
slowly, as in the relatives. It expects 1.5 items with 6,340 ratings or more: the published
largest count is nothing unusual under it.

The tilt. Taken literally this law gives ten per cent too many ratings. One parameter mends
that: at the points of the relatives, S(n) becomes S(n) * exp(-theta * log(n)^2), which hardly
moves the small counts and shrinks the upper shares. The point of the tenth count stays.

The draw. Given the largest and the tenth count, the eight between are independent draws from
the law between the two, and all others are independent draws from the law up to the tenth.
So the gaps are as irregular as those of real data. The random bits are fixed; theta is the
one free number, and is chosen so that the counts add up to the published total. As theta
moves, one count at a time changes by one, so the total is met exactly.

The bytes. Logarithms and exponentials are Python decimals, which are correctly rounded
everywhere. Random bits and probabilities are compared as 64-bit integers, and PCG64 promises
its stream of integers. So the file is the same on every machine and NumPy version.
"""

import sys
from bisect import bisect
from decimal import Context, Decimal, localcontext
from operator import itemgetter
from pathlib import Path

import numpy as np

from workflow.scripts.profiles import profile_of, write_profile

PATH = Path("data/embedded/foods.csv")

# Published facts about the original file.
ITEMS = 166_049
RATINGS = 1_297_156
LARGEST = 6_340
TENTH = 2_371

# Shares of items with 1, 2 and 3 ratings, and with at least 5, 10, 20, 50 and 100 ...
SHARES_KNOWN_FOR = ("=1", "=2", "=3", ">=5", ">=10", ">=20", ">=50", ">=100")
# ... in all categories of Amazon 2014 together, and in Amazon Fine Foods 2012.
RELATIVES = (
    (".433", ".162", ".086", ".264", ".145", ".077", ".030", ".013"),
    (".410", ".165", ".092", ".275", ".143", ".068", ".025", ".012"),
)

SEED = 2014
DIGITS = 30


def survival_of_relatives():
    """Points (n, share of items with at least n ratings): the mean of the two relatives."""
    means = [sum(map(Decimal, shares)) / len(shares) for shares in zip(*RELATIVES, strict=True)]
    share = dict(zip(SHARES_KNOWN_FOR, means, strict=True))
    points = [(2, 1 - share["=1"])]
    points += [(3, points[-1][1] - share["=2"])]
    points += [(4, points[-1][1] - share["=3"])]
    return points + [(n, share[f">={n}"]) for n in (5, 10, 20, 50, 100)]


def law():
    """Two lists over n = 1..LARGEST + 1, (base, tilt): log S(n) = base - theta * tilt."""
    points = [*survival_of_relatives(), (TENTH, Decimal(10) / ITEMS)]
    exponents = [(Decimal(n).ln(), -share.ln() / Decimal(n).ln()) for n, share in points]
    tilts = [*((x, x) for x, _ in exponents[:-1]), (exponents[-1][0], Decimal(0))]
    logs = [Decimal(n).ln() for n in range(1, LARGEST + 2)]
    return (
        [-x * on_lines(exponents, x) for x in logs],
        [x * on_lines(tilts, x) for x in logs],
    )


def on_lines(points, x):
    """The value at x on straight lines through the points; the outer lines go on beyond them."""
    right = min(max(bisect(points, x, key=itemgetter(0)), 1), len(points) - 1)
    (x0, y0), (x1, y1) = points[right - 1 : right + 1]
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0)


def draw(survival, low, high, bits):
    """Counts from `low` to `high`, one for each 64-bit integer, from the law given that range."""
    outside = survival[high + 1]
    inside = survival[low] - outside
    ascending = np.array(
        [int((survival[n] - outside) / inside * 2**64) for n in range(high, low, -1)],
        dtype=np.uint64,
    )
    return high - np.searchsorted(ascending, bits, side="right")


def counts_at(theta, base, tilt, bits):
    """All counts, in no order, at this tilt."""
    survival = [None, *((a - theta * b).exp() for a, b in zip(base, tilt, strict=True))]
    head = draw(survival, TENTH, LARGEST, bits[:8])
    body = draw(survival, 1, TENTH, bits[8:])
    return np.concatenate(([LARGEST], head, [TENTH], body))


def foods():
    """The stand-in's counts, one for each item, in no order."""
    bits = np.random.PCG64(SEED).random_raw(ITEMS - 2)
    with localcontext(Context(prec=DIGITS)):
        base, tilt = law()
        low, high = Decimal(0), Decimal("0.1")
        while high - low > Decimal("1e-15"):
            theta = (low + high) / 2
            counts = counts_at(theta, base, tilt, bits)
            surplus = counts.sum() - RATINGS
            if surplus == 0:
                return counts
            low, high = (theta, high) if surplus > 0 else (low, theta)
    raise ArithmeticError("no tilt gives the published total; another seed will")


def main(path=PATH):
    """Write the stand-in's profile."""
    write_profile(path, *profile_of(foods()))


if __name__ == "__main__":
    main(*sys.argv[1:2])
