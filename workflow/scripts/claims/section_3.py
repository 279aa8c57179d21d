"""Claims of section 3: the utility of Joint, and how it is sampled."""

import tracemalloc

import numpy as np

from dp_topk import mechanisms
from workflow.scripts.claims import small_cases
from workflow.scripts.claims.evidence import PAPER_NAMES, PEELING, SIX
from workflow.scripts.claims.judging import (
    DOES_NOT_HOLD,
    HOLDS,
    MUCH,
    PARTLY,
    SHARES,
    NotChecked,
    Outcome,
    all_or_some,
)
from workflow.scripts.claims.registry import claim
from workflow.scripts.results.comparing import LEVEL, binomial_tail

# ---------------------------------------------------------------- the utility


@claim(
    "3",
    "paragraph 1",
    "The utility u* is at most 0, and 0 for the true sequence.",
    "all sequences of small inputs, enumerated",
)
def best_score_is_zero(results):
    right = []
    for counts, k in small_cases.CASES:
        scores = [
            small_cases.utilities(counts, s)[0] for s in small_cases.sequences(len(counts), k)
        ]
        right.append(max(scores) == 0 == scores[0])  # the first is the true sequence
    return enumerated(sum(right), len(right))


def enumerated(true, cases):
    return Outcome(HOLDS if true == cases else DOES_NOT_HOLD, f"true of {true} of {cases} inputs")


UTILITY_EXAMPLE = {(1, 3, 4, 5, 2): (-10, -30), (1, 3, 4, 5, 6): (-10, -10)}


@claim(
    "3",
    "paragraph 2, example",
    "With counts 100, 90, ..., 10, the signed utility is -10 for both (1, 3, 4, 5, 2) and "
    "(1, 3, 4, 5, 6); the absolute one is -30 for the first and -10 for the second.",
    "computed, equal; partly: for one of the two",
)
def signed_utility_example(results):
    counts = range(100, 0, -10)
    found = {s: small_cases.utilities(counts, s) for s in UTILITY_EXAMPLE}
    return Outcome(
        all_or_some([found[s] == UTILITY_EXAMPLE[s] for s in found]),
        "; ".join(f"signed {signed}, absolute {absolute}" for signed, absolute in found.values()),
    )


DISTANCE_CASES = (((6, 4, 3, 1), 1), ((6, 4, 3, 1), 2), ((5, 4, 2, 2), 3))


@claim(
    "3",
    "paragraph 2",
    "The absolute utility u' is minus the number of users to add or remove until a sequence is "
    "the true top k.",
    "the least such number, all sequences of small inputs, enumerated: equal for all (no other "
    "statement of the paper rests on this one)",
)
def absolute_utility_is_a_distance(results):
    equal, example = [], None
    for counts, k in DISTANCE_CASES:
        for s in small_cases.sequences(len(counts), k):
            needed = small_cases.users_to_change(counts, s)
            stated = -small_cases.utilities(counts, s)[1]
            equal.append(needed == stated)
            if needed != stated and example is None:
                items = ", ".join(map(str, counts))
                example = f"; counts {items}, sequence {s}: {needed} needed, u' says {stated}"
    found = f"equal for {sum(equal)} of {len(equal)} sequences{example or ''}"
    return Outcome(HOLDS if all(equal) else DOES_NOT_HOLD, found)


@claim(
    "3",
    "paragraph 2, footnote on ℓ∞",
    "In practice the largest signed loss and the ℓ∞ error do not differ much, for Joint and for "
    "the peeling mechanisms.",
    f"over all cells, median ℓ∞ less than {MUCH} times the median signed loss (a factor), and the "
    f"same winner of Joint and each peeling mechanism at {SHARES['almost always'][0]:.0%} or more "
    "of the cells in which medians differ; partly: one of the two",
)
def signed_loss_is_like_linf(results):
    factors, same = {}, []
    for mechanism in ("joint", *PEELING):
        logs = []
        for dataset in SIX:
            loss, linf = (
                results.quartile(dataset, mechanism, metric)[1] for metric in ("loss", "linf")
            )
            logs.append(np.mean(np.log((linf + 1) / (loss + 1))))
        factors[mechanism] = float(np.exp(np.mean(logs)))
    for rival in PEELING:
        for dataset in SIX:
            signs = []
            for metric in ("loss", "linf"):
                medians = [
                    dict(zip(*results.quartile(dataset, m, metric), strict=True))
                    for m in ("joint", rival)
                ]
                ks = sorted(set(medians[0]) & set(medians[1]))
                signs.append(np.sign([medians[0][k] - medians[1][k] for k in ks]))
            differ = (signs[0] != 0) | (signs[1] != 0)
            same += list((signs[0] == signs[1])[differ])
    agreement = np.mean(same) if same else 1.0
    parts = ", ".join(f"{PAPER_NAMES[name]} {factor:.3g}" for name, factor in factors.items())
    return Outcome(
        all_or_some([max(factors.values()) < MUCH, agreement >= SHARES["almost always"][0]]),
        f"factors {parts}; same winner at {agreement:.0%} of {len(same)}",
        SIX,
    )


@claim(
    "3",
    "lemma 3.1",
    "The sensitivity of u* is 1.",
    "all users added to small inputs, enumerated: the largest change is exactly 1",
)
def sensitivity_is_one(results):
    found = [
        small_cases.largest_change_of_utility(counts, k)
        for counts, k in small_cases.CASES
        if len(counts) <= 5
    ]
    return enumerated(sum(change == 1 for change in found), len(found))


@claim(
    "3",
    "theorem 3.3; appendix A",
    "With probability at least 0.99, the largest signed loss max(c_i - c_{s_i}) of Joint is at "
    "most 2 (k ln d + 5) / ε.",
    "exact binomial test of 0.99 on the trials of each (dataset, ε, k): none rejects, "
    f"{LEVEL:.0%} shared by all",
)
def utility_theorem(results):
    trials = results.table("trials")
    trials = trials[trials["mechanism"] == "joint"]
    if trials.empty or results.neighbors != "add-remove":
        raise NotChecked("This run has no trials of joint with add-remove neighbours.")
    d = trials["dataset"].map(results.datasets.set_index("dataset")["d"])
    bound = 2 * (trials["k"] * np.log(d) + 5) / trials["epsilon"]
    over = trials["loss"] > bound
    cells = over.groupby([trials["dataset"], trials["epsilon"], trials["k"]]).agg(["sum", "size"])
    chances = [binomial_tail(int(beyond), int(n), 0.01) for beyond, n in cells.to_numpy()]
    return Outcome(
        HOLDS if min(chances) > LEVEL / len(chances) else DOES_NOT_HOLD,
        f"beyond the bound in {over.sum():,} of {len(trials):,} trials; largest loss "
        f"{(trials['loss'] / bound).max():.0%} of it",
        tuple(trials["dataset"].unique()),
    )


# ---------------------------------------------------------------- how it is sampled

LEMMAS = {
    "number-of-scores": (
        "has_few_scores",
        "paragraph 1",
        "All scores of sequences are among the d k values -(c_i - c_j).",
    ),
    "matrix-is-ordered": (
        "is_ordered",
        "lemma 3.4",
        "With tie-breakers, the rows of the matrix of utilities decrease, its columns increase, "
        "and its entries are distinct.",
    ),
    "sequence-counts-add-up": (
        "adds_up",
        "lemma 3.5",
        "The number of sequences with a utility is the sum over the entries whose ceiling it is.",
    ),
    "rows-bound-the-items": (
        "bounds_items",
        "lemma 3.6",
        "t_r does not fall with r, no item of a sequence is beyond it, and sequences through an "
        "entry exist just if t_r >= r in every row.",
    ),
    "sequence-count-is-a-product": (
        "is_a_product",
        "lemma 3.7",
        "The number of sequences through an entry is the product over the other rows of "
        "max(t_r - r + 1, 0).",
    ),
    "neighbouring-entries-share-rows": (
        "changes_one_row",
        "lemma 3.8",
        "From one entry to the next in sorted order, t grows by 1 in the row of the latter and "
        "stays in all others.",
    ),
    "algorithm-1-counts-sequences": (
        "is_counted_by_algorithm_1",
        "algorithm 1; 3.1.1, last paragraph",
        "The loops of Algorithm 1 give the number of sequences through every entry.",
    ),
    "sequences-are-drawn-uniformly": (
        "is_drawn_uniformly",
        "3.1.3",
        "Choosing items row by row draws uniformly from the sequences through an entry, and never "
        "from an empty set.",
    ),
    "algorithm-1-is-the-exponential-mechanism": (
        "samples_the_exponential_mechanism",
        "theorem 3.9; appendix B",
        "Algorithm 1 outputs every sequence with the probability that the exponential mechanism "
        "gives it.",
    ),
}


def _claim_lemma(name, method, place, statement):
    @claim("3.1", place, statement, "small inputs, enumerated in whole numbers", name=name)
    def check(results):
        return enumerated(*small_cases.in_all_cases(method))


for _name, _lemma in LEMMAS.items():
    _claim_lemma(_name, *_lemma)


@claim(
    "3.1",
    "theorem 3.9, footnote",
    "Rows of equal counts may have different numbers of sequences through the same column.",
    "at least one of the small inputs shows it",
)
def ties_may_differ(results):
    true, cases = small_cases.in_all_cases("tells_ties_apart")
    return Outcome(HOLDS if true else DOES_NOT_HOLD, f"shown by {true} of {cases} inputs")


SPACE_CASES = ((4_000, 10), (4_000, 40), (16_000, 10))  # (d, k)
SPACE_ROOM = 1.5


@claim(
    "3.1",
    "theorem 3.9; abstract",
    "Algorithm 1 needs space in proportion to d k.",
    "largest memory of one call (`joint_alg1`), at three (d, k): as many bytes for each of the d k "
    f"entries, within a factor of {SPACE_ROOM}; partly: it grows no faster, but not in proportion",
)
def space_of_algorithm_1(results):
    per_entry = []
    for d, k in SPACE_CASES:
        counts = np.arange(d, 0, -1)
        tracemalloc.start()
        mechanisms.get("joint_alg1").prepare(counts, k, 1.0)
        per_entry.append(tracemalloc.get_traced_memory()[1] / (d * k))
        tracemalloc.stop()
    first, *others = per_entry
    if max(others) > SPACE_ROOM * first:
        verdict = DOES_NOT_HOLD
    else:
        verdict = HOLDS if min(others) * SPACE_ROOM >= first else PARTLY
    parts = [
        f"{x:.0f} (d = {d:,}, k = {k})" for x, (d, k) in zip(per_entry, SPACE_CASES, strict=True)
    ]
    return Outcome(verdict, "bytes for each entry: " + ", ".join(parts))
