"""Claims of section 4.2: the datasets."""

import numpy as np

from workflow.scripts.claims.evidence import LARGE, SIX, SMALL, large_above_small, named
from workflow.scripts.claims.judging import (
    DOES_NOT_HOLD,
    HOLDS,
    MUCH,
    PARTLY,
    NotChecked,
    Outcome,
    all_of,
    all_or_most,
    all_or_some,
)
from workflow.scripts.claims.registry import claim

SIZES = {
    "books": (11_000, "books"),
    "foods": (166_000, "foods"),
    "games": (5_000, "games"),
    "movies": (62_000, "movies"),
    "news": (40_000, "articles"),
    "tweets": (52_000, "tweets"),
}

# Items that the source lists, where that is not the number of items with a count
# (data/README.md): MovieLens has movies that nobody rated.
LISTED = {"movies": (62_423, "rated")}

NEAR = 0.02


def _claim_size(dataset, size, things):
    @claim(
        "4.2",
        "paragraph 1",
        f"{dataset.capitalize()} has over {size:,} {things}.",
        f"{size:,} <= d < {size + 1000:,}; partly: the source lists so many, or d is below by "
        f"{NEAR:.0%} at most, as if it were rounded up",
        name=f"size-of-{dataset}",
    )
    def check(results):
        d, top = int(results.dataset(dataset)["d"]), size + 1000
        found, verdict = f"d = {d:,}", DOES_NOT_HOLD
        if size <= d < top:
            verdict = HOLDS
        elif dataset in LISTED and d < size <= LISTED[dataset][0] < top:
            listed, word = LISTED[dataset]
            verdict, found = PARTLY, f"{listed:,} are listed, {d:,} of them are {word}"
        elif size * (1 - NEAR) <= d < size:
            verdict = PARTLY
        if results.dataset(dataset)["status"] in ("stand-in", "from-figure"):
            found += ", a number that the counts here were made to have"
        return Outcome(verdict, found, (dataset,))


for _dataset, (_size, _things) in SIZES.items():
    _claim_size(_dataset, _size, _things)


@claim(
    "4.2",
    "paragraph 1; 4.3.3, paragraph 1; D.3, paragraph 2",
    "The six datasets have from about 5,000 to about 166,000 items; Foods has the most.",
    "smallest and largest d round to these thousands, and the largest is Foods; partly: some of "
    "these",
)
def range_of_sizes(results):
    d = {name: int(results.dataset(name)["d"]) for name in SIX}
    least, most = min(d, key=d.get), max(d, key=d.get)
    return Outcome(
        all_or_some([round(d[least], -3) == 5_000, round(d[most], -3) == 166_000, most == "foods"]),
        f"from {d[least]:,} ({results.title(least)}) to {d[most]:,} ({results.title(most)})",
        SIX,
    )


@claim(
    "4.2",
    "paragraph 1; 4.3.1, paragraph 1; figure 1, left column",
    "The gaps between the top counts are larger on Books, Movies, News and Tweets than on Foods "
    "and Games.",
    f"median gap c_k - c_(k+1) up to k = 200: the smallest of the four {MUCH} times the largest of "
    "the two or more; partly: larger in more than half of the 8 pairs",
)
def gaps_are_larger_on_four(results):
    gaps = results.table("gaps")
    medians = gaps[gaps["k"] <= 200].groupby("dataset")["gap"].median()
    missing = [name for name in SIX if name not in medians]
    if missing:
        raise NotChecked(f"This run leaves out {', '.join(missing)}.")
    above = large_above_small(medians)
    much = medians[list(LARGE)].min() >= MUCH * medians[list(SMALL)].max()
    return Outcome(
        HOLDS if much else PARTLY if np.mean(above) > 0.5 else DOES_NOT_HOLD,
        named(results, {name: medians[name] for name in SIX}),
        SIX,
    )


@claim(
    "4.2",
    "paragraph 1, last sentence",
    "Joint does best on the datasets with large gaps, Books, Movies, News and Tweets.",
    "in ℓ∞ and in ℓ1, by its lead (the factor by which the better peeling mechanism is above it) "
    "and by the share of cells in which it is best: each of the four above each of the two; "
    "partly: in more than half of the 8 pairs, by one of these",
)
def best_where_gaps_are_large(results):
    verdicts, texts = [], []
    for metric, symbol in (("linf", "ℓ∞"), ("l1", "ℓ1")):
        leads, shares = lead(results, metric), best_shares(results, metric)
        verdicts += [all_or_most(large_above_small(x)) for x in (leads, shares)]
        texts.append(f"{symbol} lead {named(results, leads)}")
    return Outcome(all_of(verdicts), "; ".join(texts), SIX)


def lead(results, metric):
    """Joint's lead over the better peeling mechanism, on each dataset."""
    three = results.best_of_three(SIX, metric)
    return {name: three.of(name).lead for name in SIX}


def best_shares(results, metric):
    """The share of cells with something to win in which Joint is the best, on each dataset."""
    three = results.best_of_three(SIX, metric)
    shares = {}
    for name in SIX:
        part = three.of(name)
        shares[name] = float(np.mean(part.lower[part.open])) if part.open.any() else 1.0
    return shares
