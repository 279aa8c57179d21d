"""Claims of section 2: the error measures."""

from workflow.scripts.claims import small_cases
from workflow.scripts.claims.judging import DOES_NOT_HOLD, HOLDS, NotChecked, Outcome
from workflow.scripts.claims.registry import claim


@claim(
    "2",
    "paragraph after definition 2.2",
    "The k-relative error of a sequence is at most its ℓ∞ error and at most its ℓ1 error.",
    "on every trial",
)
def k_relative_is_least(results):
    trials = results.table("trials").dropna(subset=["linf"])  # a mechanism of sets has none
    if trials.empty:
        raise NotChecked("This run has no mechanism that selects sequences.")
    broken = int((trials["k_relative"] > trials[["linf", "l1"]].min(axis=1)).sum())
    return Outcome(
        HOLDS if broken == 0 else DOES_NOT_HOLD,
        f"not so in {broken:,} of {len(trials):,} trials",
        tuple(trials["dataset"].unique()),
    )


LENIENT_EXAMPLE = ([100, 1, 1, 1, 1, 1], 2, {0})


@claim(
    "2",
    "paragraph after definition 2.2",
    "With counts 100, 1, ..., 1 and k = 2, every sequence has the best possible k-relative error.",
    "all sequences of 2 of 6 items, enumerated",
)
def k_relative_is_lenient(results):
    counts, k, expected = LENIENT_EXAMPLE
    found = small_cases.k_relative_errors(counts, k)
    verdict = HOLDS if found == expected else DOES_NOT_HOLD
    return Outcome(verdict, f"errors that occur: {sorted(found)}")


ITEMS, PAIRS = (1, 2, 3), tuple(small_cases.sequences(3, 2))
ROUNDING = 1e-9


@claim(
    "2",
    "lemma 2.5; theorem 3.2",
    "The exponential mechanism is ε-DP, and Joint, which is one, too.",
    "all datasets of 3 items with counts of 0, 1 or 3 and all their neighbours, k = 2, ε = 1: no "
    "probability changes by more than a factor of exp(ε)",
)
def exponential_mechanism_is_private(results):
    found = small_cases.largest_log_ratio(small_cases.signed_utility, PAIRS, 1 / 2)
    return Outcome(
        HOLDS if found <= 1 + ROUNDING else DOES_NOT_HOLD, f"largest exponent {found:.3f}"
    )


@claim(
    "2",
    "lemma 2.7",
    "With a monotonic utility, the exponential mechanism is even ε/2-DP.",
    "the same datasets, the count of one item as utility, ε = 1: by no more than exp(ε/2)",
)
def monotonic_utility_halves_epsilon(results):
    found = small_cases.largest_log_ratio(small_cases.count_of, ITEMS, 1 / 2)
    return Outcome(
        HOLDS if found <= 1 / 2 + ROUNDING else DOES_NOT_HOLD, f"largest exponent {found:.3f}"
    )
