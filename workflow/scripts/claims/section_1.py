"""Claims of the abstract and of section 1."""

import numpy as np

from workflow.scripts.claims.evidence import MEASURES, PAPER_NAMES, SIX, won
from workflow.scripts.claims.judging import (
    DOES_NOT_HOLD,
    HOLDS,
    MODERATE_K,
    PARTLY,
    Outcome,
    all_of,
    by_share,
    dominates,
)
from workflow.scripts.claims.registry import claim


@claim(
    "1",
    "abstract, last sentence; 1.1, paragraph 3",
    "Joint is the strongest of the pure mechanisms: PNF-Peel, Gamma and Laplace are not below it.",
    "strongest (almost always) in ℓ∞ and in ℓ1 against each of the three, over all datasets and "
    "k, ties counting for Joint; k-relative error is reported only, being the weakest measure",
)
def strongest_pure_mechanism(results):
    verdicts, texts = [], []
    for metric in MEASURES:
        shares = {}
        for rival in ("pnf_peel", "gamma", "laplace"):
            cells = results.cells(SIX, "joint", rival, metric)
            shares[rival] = np.mean(~cells.higher)
            if metric != "k_relative":
                verdicts.append(by_share("almost always", ~cells.higher))
        parts = ", ".join(f"{PAPER_NAMES[name]} {share:.0%}" for name, share in shares.items())
        texts.append(f"{MEASURES[metric]}: {parts}")
    return Outcome(all_of(verdicts), "not above " + "; ".join(texts), SIX)


@claim(
    "1",
    "abstract, last sentence; 1.1, paragraph 3",
    "For moderate k, Joint improves even on approximate mechanisms (CDP-Peel).",
    "in ℓ∞ and in ℓ1: lower at half or more of all cells with k not large, and at half or more on "
    "four or more of the six datasets; partly: on two or three, or in one measure",
)
def improves_on_approximate_for_moderate_k(results):
    verdicts, texts = [], []
    for metric in MEASURES:
        cells = results.cells(SIX, "joint", "cdp_peel", metric, at_most=MODERATE_K)
        cells = cells.where(cells.open)
        improved = sum(np.mean(cells.of(d).lower) >= 0.5 for d in SIX if len(cells.of(d)))
        if metric != "k_relative":
            whole = len(cells) and np.mean(cells.lower) >= 0.5 and improved >= 4
            verdicts.append(HOLDS if whole else PARTLY if improved >= 2 else DOES_NOT_HOLD)
        texts.append(f"{MEASURES[metric]}: {won(results, cells)}")
    return Outcome(all_of(verdicts), "; ".join(texts), SIX)


@claim(
    "1",
    "1.2, paragraph 2; 4, paragraph 1",
    "The peeling mechanisms are the best baselines: on every dataset PNF-Peel dominates Gamma, "
    "and CDP-Peel dominates Laplace.",
    "dominates, over the cells of all measures, on each of the six datasets",
)
def peeling_is_the_best_baseline(results):
    found = [dominated(results, SIX, *pair) for pair in DOMINATED]
    return Outcome(all_of(verdict for verdict, _ in found), "; ".join(t for _, t in found), SIX)


DOMINATED = (("pnf_peel", "gamma"), ("cdp_peel", "laplace"))


def dominated(results, datasets, better, worse):
    """Does the first dominate the second on each of the datasets?"""
    cells = results.cells(datasets, better, worse, *MEASURES)
    verdict = all_of(dominates(cells.of(dataset)) for dataset in datasets)
    return verdict, f"{PAPER_NAMES[better]} against {PAPER_NAMES[worse]}: {won(results, cells)}"
