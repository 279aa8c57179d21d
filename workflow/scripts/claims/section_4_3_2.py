"""Claims of section 4.3.2: ℓ1 error."""

import numpy as np

from workflow.scripts.claims import small_cases
from workflow.scripts.claims.evidence import LARGE, PAPER_NAMES, PEELING, SIX, SMALL, won
from workflow.scripts.claims.judging import (
    DOES_NOT_HOLD,
    HOLDS,
    MODERATE_K,
    PARTLY,
    SMALL_K,
    Outcome,
    all_of,
    all_or_some,
    always,
    by_share,
    matches,
    mostly,
    often,
)
from workflow.scripts.claims.registry import claim
from workflow.scripts.claims.section_4_3_1 import lead_follows_gaps


@claim(
    "4.3.2",
    "sentence 2; figure 1, right column",
    "On Books, Movies, News and Tweets, Joint's ℓ1 error is largely the smallest of the three.",
    "largely, ties counting for Joint",
)
def l1_largely_best_on_four(results):
    three = results.best_of_three(LARGE, "l1")
    return Outcome(mostly(three), won(results, three, "best"), LARGE)


@claim(
    "4.3.2",
    "sentences 1 and 2; figure 1, right column",
    "In ℓ1 error too, Joint does relatively worse on Foods and Games than on the other four.",
    "by its lead over the better peeling mechanism and by the share of cells in which it is best: "
    "each of the four above each of the two; partly: in more than half of the 8 pairs, by one",
)
def l1_lead_follows_gaps(results):
    return lead_follows_gaps(results, "l1")


@claim(
    "4.3.2",
    "sentences 3 and 4",
    "ℓ1 error suits Joint slightly less than ℓ∞ error: Joint may be ahead in ℓ∞ and behind in ℓ1.",
    "over all cells, its factor to each peeling mechanism is smaller in ℓ1 than in ℓ∞, and in some "
    "cell Joint is surely lower in ℓ∞ and surely higher in ℓ1; partly: some of the three",
)
def l1_fits_slightly_less(results):
    truths, texts, example = [], [], None
    for rival in PEELING:
        linf, l1 = (results.cells(SIX, "joint", rival, metric) for metric in ("linf", "l1"))
        truths.append(l1.factor < linf.factor)
        texts.append(f"{PAPER_NAMES[rival]}: ℓ∞ {linf.factor:.3g}, ℓ1 {l1.factor:.3g}")
        for i in np.flatnonzero(linf.surely_lower & l1.surely_higher):
            example = example or (
                f"{results.title(linf.dataset[i])}, {PAPER_NAMES[rival]}, k = {linf.k[i]}"
            )
    truths.append(example is not None)
    return Outcome(
        all_or_some(truths), f"factors {'; '.join(texts)}; ahead and behind: {example}", SIX
    )


EQUAL_SCORES = ((10, 10, 5, 5), (1, 3), (3, 4))  # one error of 5, and two


@claim(
    "4.3.2",
    "sentence 3",
    "A sequence with one error of c and one in which every error is c have the same score.",
    "computed: counts 10, 10, 5, 5 and k = 2",
)
def one_error_scores_as_many(results):
    counts, one, all_ = EQUAL_SCORES
    scores = [small_cases.utilities(counts, s)[0] for s in (one, all_)]
    verdict = HOLDS if scores[0] == scores[1] else DOES_NOT_HOLD
    return Outcome(verdict, f"scores {scores[0]} and {scores[1]}")


@claim(
    "4.3.2",
    "last sentence; figure 1, right column",
    "For small k, Joint's ℓ1 error is always the smallest of the three.",
    "always, on the six datasets, ties counting for Joint; partly also: on all but one",
)
def l1_best_for_small_k(results):
    three = results.best_of_three(SIX, "l1", at_most=SMALL_K)
    verdict = always(three.lower, three.surely_higher)
    lost = [d for d in SIX if always(three.of(d).lower, three.of(d).surely_higher) != HOLDS]
    if verdict == DOES_NOT_HOLD and len(lost) == 1:
        verdict = PARTLY
    return Outcome(verdict, won(results, three, "best"), SIX)


@claim(
    "4.3.2",
    "last sentence; figure 1, right column",
    "On the small datasets (read as Foods and Games), Joint's ℓ1 error matches PNF-Peel's.",
    "matches, on each",
)
def l1_matches_pnf_peel(results):
    cells = results.cells(SMALL, "joint", "pnf_peel", "l1")

    def judge(dataset):
        part = cells.of(dataset)
        return matches(part), f"factor {part.factor:.3g}, {won(results, part)}"

    return results.on_each(SMALL, judge)


@claim(
    "4.3.2",
    "last sentence; figure 1, right column",
    "On the large datasets (read as Books, Movies, News and Tweets), Joint's ℓ1 error is smaller "
    "than PNF-Peel's.",
    "almost always",
)
def l1_below_pnf_peel(results):
    cells = results.cells(LARGE, "joint", "pnf_peel", "l1")
    return Outcome(by_share("almost always", cells.lower[cells.open]), won(results, cells), LARGE)


@claim(
    "4.3.2",
    "last sentence; figure 1, right column",
    "Joint's ℓ1 error is often smaller than CDP-Peel's, in particular on the large datasets and "
    "for moderate k.",
    "often, over all cells; at a larger share on the large datasets than on the small ones; at a "
    "larger share for k not large than beyond; partly: often, or both of the others",
)
def l1_often_below_cdp_peel(results):
    results.cells(SIX, "joint", "cdp_peel", "l1", at_least=MODERATE_K + 1)  # has to be there
    results.cells(SIX, "joint", "cdp_peel", "l1", at_most=MODERATE_K)
    cells = results.cells(SIX, "joint", "cdp_peel", "l1")
    cells = cells.where(cells.open)
    large, moderate = np.isin(cells.dataset, LARGE), cells.k <= MODERATE_K

    def share(where):
        return float(np.mean(cells.lower[where])) if where.any() else 0.0

    is_often = often(cells)
    particular = [share(large) > share(~large), share(moderate) > share(~moderate)]
    verdict = all_of([is_often, HOLDS if all(particular) else DOES_NOT_HOLD])
    return Outcome(
        verdict,
        f"{np.mean(cells.lower):.0%} of {len(cells)}; {share(large):.0%} on the large, "
        f"{share(~large):.0%} on the small datasets; {share(moderate):.0%} for k <= {MODERATE_K}, "
        f"{share(~moderate):.0%} beyond",
        SIX,
    )
