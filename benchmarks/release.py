"""Time exact releases, functions and then the command: `python -m benchmarks.release`."""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN

import numpy as np

from benchmarks import embedded, seconds, spent
from dp_topk import release
from dp_topk.release._outputs import Sequences, Sets
from tools import show

ITEMS, K = 200_000, 100
LOG = (
    "--user user --item item --unknown-domain --delta 1e-9 --k 10 --epsilon 1 --max-items 20 "
    "--counts-epsilon 1 --format csv --output top.csv --receipt receipt.json --ledger ledger.txt "
    "--dataset purchases --budget 4,1e-8"
)


def draws():
    foods = embedded("foods")
    counts = np.repeat(foods.counts, foods.items)
    for name, outputs in [("sequence", Sequences), ("set", Sets)]:
        for k in (5, 95, 195):
            prepare = partial(release.prepare, outputs, counts, k, 1)
            once, following = seconds(lambda p=prepare: p()(), prepare(), repeats=31)
            yield [name, str(k), f"{1e3 * once:.1f} ms", f"{1e3 * following:.2f} ms"]


def releases():
    """Of names and counts as `dp-topk release` has them after counting."""
    counts = (10**6 / np.arange(1, ITEMS + 1) ** 0.9).astype(int)
    table = [f"item {number}" for number in range(ITEMS)], counts
    unknown = partial(release.top_k_unknown, table, K, 1, "1e-6")
    noisy = partial(release.noisy_counts, (table[0][:K], counts[:K]), 1, sensitivity=K)
    histogram = partial(release.noisy_top_k, table, K, 1, max_items=20)

    def cold(draw):
        release.epsilon_per_round.cache_clear()
        draw()

    for name, budget, draw in (
        ("peeling, public list", "300 ms", partial(release.top_k, table, K, 1, delta="1e-6")),
        ("peeling, no list", "500 ms", unknown),
        ("Joint, no list, all or nothing", "500 ms", partial(unknown, whole=True)),
        (f"counts of {K} chosen items", "50 ms", noisy),
        ("items and counts from one noisy histogram", "", histogram),
    ):
        yield [name, f"{1e3 * seconds(partial(cold, draw))[0]:.0f} ms", budget]


def write_log(path, rows=10**6):
    """Purchases of 100,000 users, of items as frequent as words are."""
    rng = np.random.default_rng(1)
    users, items = rng.integers(10**5, size=rows), rng.zipf(1.3, size=rows) % 10**6
    with path.open("w") as file:
        file.write("user,item\n")
        file.writelines(f"u{u},item {i}\n" for u, i in zip(users, items, strict=True))


def commands(place):
    (place / "counts.csv").write_text("item,users\nale,6\nbun,4\n")
    write_log(place / "purchases.csv")

    def run(words):
        for name in ("top.csv", "receipt.json", "ledger.txt"):
            (place / name).unlink(missing_ok=True)
        command = [sys.executable, "-m", "dp_topk.release", *words.split()]
        subprocess.run(command, cwd=place, capture_output=True, check=True)

    counts = "counts.csv --item item --count users --domain-is-public --k 1 --epsilon 1"
    for name, budget, words in (
        ("`--help`", "0.4 s", "--help"),
        ("two counts", "0.4 s", counts),
        ("the log of a million rows of the worked example", "", f"purchases.csv {LOG}"),
    ):
        (took,) = seconds(partial(run, words), clock=partial(spent, RUSAGE_CHILDREN))
        yield [name, f"{took:.2f} s", budget]


if __name__ == "__main__":
    show(["Foods, d = 166,049, ε = 1", "k", "one release", "next draw"], draws())
    print()
    heads = f"{ITEMS:,} counts with names, k = {K}, ε = 1, δ = 10⁻⁶", "one release", "budget"
    show(heads, releases())
    print()
    with tempfile.TemporaryDirectory() as folder:
        show(["`dp-topk release`", "processor", "budget"], commands(Path(folder)))
