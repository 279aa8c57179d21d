"""Claims of section 4.1: the mechanisms to compare with.

That PNF-Peel and CDP-Peel keep their guarantees is enumerated in tests/mechanisms/test_privacy.py.
"""

from workflow.scripts.claims import small_cases
from workflow.scripts.claims.judging import DOES_NOT_HOLD, HOLDS, Outcome
from workflow.scripts.claims.registry import claim
from workflow.scripts.claims.section_2 import ITEMS, ROUNDING

ORDERS = (1.01, 1.5, 2, 5, 20, 100)
EPSILONS = (0.5, 1, 3)


@claim(
    "4.1",
    "4.1.2, paragraph after algorithm 3",
    "An ε-DP exponential mechanism on counts is ε²/8-concentrated DP.",
    "all datasets of 3 items with counts of 0, 1 or 3 and all their neighbours: Rényi divergences "
    f"of orders a from {ORDERS[0]} to {ORDERS[-1]} at most a ε²/8, for ε of 0.5, 1 and 3",
)
def exponential_mechanism_is_concentrated(results):
    shares = [
        small_cases.largest_divergence(small_cases.count_of, ITEMS, epsilon, order)
        / (order * epsilon**2 / 8)
        for epsilon in EPSILONS
        for order in ORDERS
    ]
    return Outcome(
        HOLDS if max(shares) <= 1 + ROUNDING else DOES_NOT_HOLD,
        f"largest divergence {max(shares):.1%} of the bound",
    )
