"""What bounding users to c items costs: `make users`, or `python -m tools.users FILE`.

FILE is the original of Games, with rows of user and game. At most c games of each user are
counted, for several c; mechanisms that need the bound draw from these counts, and their errors
are measured against the counts of all games of all users. Mechanisms that need no bound are there
for comparison. Medians of 50 draws at epsilon = 1, delta = 10^-6:

error     largest error against all counts
by noise  the same against the bounded counts, from which the mechanism draws
by bias   the same without noise: of the true top k of the bounded counts, against all counts
items     how many items came out
"""

import numpy as np
import pandas as pd

from dp_topk import counting
from tools import ROOT, show
from workflow.scripts.common import program
from workflow.scripts.config.reading import read_yaml
from workflow.scripts.data.originals import open_original
from workflow.scripts.trials.cells import generator, prepared
from workflow.scripts.trials.metrics import METRICS, measured

BOUNDS = (1, 2, 5, 10, 20, 50)
KS = (25, 95)
EPSILON, DELTA, TRIALS, SEED = 1.0, 1e-6, 50, 20220717
BOUNDED = ("laplace", "gaussian", "threshold_laplace", "threshold_gaussian")
UNBOUNDED = ("joint", "rdp_peel", "limited_joint", "limited_peel")


def rows_of(path, dataset):
    """The rows that the config counts, as a table of user and game."""
    about = dataset["counts"]
    with open_original(path, dataset["download"]) as file:
        rows = pd.read_csv(file, names=about["names"], dtype=str, keep_default_na=False)
    for column, value in about["where"].items():
        rows = rows[rows[column] == value]
    return rows[["user", about["rows_per"]]]


def linf(counts, items, k):
    """The largest error of items against the top k of the counts."""
    top = np.sort(counts)[::-1][:k]
    found = measured(top, counts[np.asarray(items, int)], "partial sequence")
    return found[list(METRICS).index("linf")]


def errors(name, everything, counts, k, **options):
    """Medians of error, error by noise, error by bias and items returned."""
    setting = {"mechanism": name, "neighbors": "add-remove", "delta": DELTA, **options}
    draw = prepared(counts, k, EPSILON, setting, name, "games")
    drawn = [draw(generator(SEED, "users", name, *options.values(), k, t)) for t in range(TRIALS)]
    yield np.median([linf(everything, items, k) for items in drawn])
    yield np.median([linf(counts, items, k) for items in drawn])
    yield linf(everything, np.argsort(-counts, kind="stable")[:k], k)
    yield np.median([len(items) for items in drawn])


def lines(rows, item):
    """The lines of the table."""
    everything = counting.count_users(rows, "user", item)
    for c in (*BOUNDS, None):
        some = counting.count_users(rows, "user", item, among=everything.items, max_items=c)
        kept = f"{some.counts.sum() / everything.counts.sum():.0%}"
        options = {"contributions": c} if c else {}
        for name in BOUNDED if c else UNBOUNDED:
            found = (errors(name, everything.counts, some.counts, k, **options) for k in KS)
            numbers = [f"{value:g}" for values in found for value in values]
            yield [str(c or "all"), kept, f"`{name}`", *numbers]


def main(path=ROOT / "data/raw/games/verified/steam-video-games.zip"):
    """Print the table."""
    games = read_yaml(ROOT / "config.yaml")["datasets"]["games"]
    heads = [f"k = {k}: {what}" for k in KS for what in ("error", "by noise", "by bias", "items")]
    rows = lines(rows_of(path, games), games["counts"]["rows_per"])
    show(["c", "rows kept", "mechanism", *heads], rows, (2,))


if __name__ == "__main__":
    program(main)
