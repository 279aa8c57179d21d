"""What bounding users to c items costs: `make users`, or `python -m tools.users FILE`.

FILE is the original of Games, with rows of user and game. At most c games of each user are
counted, for several c; mechanisms that need the bound draw from these counts, and their errors
are measured against the counts of all games of all users. Beside them stand mechanisms that need
no bound. Medians of 50 draws at epsilon = 1, delta = 10^-6:

error     largest error against all counts
by noise  the same against the bounded counts, from which the mechanism drew
by bias   the error of the true top k of the bounded counts against all counts: no noise
items     how many came out
"""

import statistics
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from dp_topk import counting
from workflow.scripts.common import InputError
from workflow.scripts.data.originals import open_original
from workflow.scripts.trials.cells import generator, prepared
from workflow.scripts.trials.metrics import METRICS, measured

ROOT = Path(__file__).parents[1]
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
    exact = np.argsort(-counts, kind="stable")[:k]
    return (
        statistics.median(linf(everything, items, k) for items in drawn),
        statistics.median(linf(counts, items, k) for items in drawn),
        linf(everything, exact, k),
        statistics.median(map(len, drawn)),
    )


def table(rows, item):
    """Lines of the table."""
    everything = counting.count_users(rows, "user", item)
    heads = [f"k = {k}: {what}" for k in KS for what in ("error", "by noise", "by bias", "items")]
    yield f"| c | rows kept | mechanism | {' | '.join(heads)} |"
    yield "|--:|--:|---" + "|--:" * len(heads) + "|"
    for c in (*BOUNDS, None):
        some = counting.count_users(rows, "user", item, among=everything.items, max_items=c)
        kept = some.counts.sum() / everything.counts.sum()
        options = {"contributions": c} if c else {}
        for name in BOUNDED if c else UNBOUNDED:
            found = [errors(name, everything.counts, some.counts, k, **options) for k in KS]
            numbers = " | ".join(f"{value:g}" for values in found for value in values)
            yield f"| {c or 'all'} | {kept:.0%} | `{name}` | {numbers} |"


def main(path):
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    games = config["datasets"]["games"]
    print(*table(rows_of(path, games), games["counts"]["rows_per"]), sep="\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:] or [ROOT / "data/raw/games/verified/steam-video-games.zip"])
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
