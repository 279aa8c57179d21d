"""Claims of section 5: the conclusion."""

import numpy as np

from workflow.scripts.claims.evidence import MEASURES, PAPER_NAMES, SIX, won
from workflow.scripts.claims.judging import MODERATE_K, Outcome, by_share, often
from workflow.scripts.claims.registry import claim

# A user of one item: Laplace noise of scale 1 / ε, a variant that the config defines.
LAPLACE_FOR_ONE_ITEM = "laplace_c1"


@claim(
    "5",
    "sentence 2",
    "Joint almost always improves on earlier pure mechanisms (the best of which is PNF-Peel).",
    "almost always, over all cells of the three measures",
)
def improves_on_pure_mechanisms(results):
    cells = results.cells(SIX, "joint", "pnf_peel", *MEASURES)
    verdict = by_share("almost always", cells.lower[cells.open])
    return Outcome(verdict, f"{by_metric(cells)}; {won(results, cells)}", SIX)


@claim(
    "5",
    "sentence 2",
    "Joint often improves on approximate mechanisms (CDP-Peel) as long as k is not large.",
    "often, over all cells of the three measures with k not large",
)
def improves_on_approximate_mechanisms(results):
    cells = results.cells(SIX, "joint", "cdp_peel", *MEASURES, at_most=MODERATE_K)
    return Outcome(often(cells), f"{by_metric(cells)}; {won(results, cells)}", SIX)


def by_metric(cells):
    """'ℓ∞ 80%, ℓ1 70%': the shares of cells with something to win."""
    parts = []
    for metric in MEASURES:
        part = cells.where((cells.metric == metric) & cells.open)
        share = f"{np.mean(part.lower):.0%}" if len(part) else "–"
        parts.append(f"{MEASURES[metric]} {share}")
    return ", ".join(parts)


@claim(
    "5",
    "sentence 4",
    "If every user contributes to one item only, Laplace noise is superior to Joint and to the "
    "peeling mechanisms.",
    "Laplace noise for such users (`laplace_c1`) is superior (almost always lower) against the "
    "three together, in all measures",
)
def laplace_is_superior_for_one_item(results):
    rivals = ("joint", "pnf_peel", "cdp_peel")
    found = {r: results.cells(SIX, LAPLACE_FOR_ONE_ITEM, r, *MEASURES) for r in rivals}
    lower = np.concatenate([cells.lower[cells.open] for cells in found.values()])
    texts = [f"{PAPER_NAMES[r]}: {won(results, cells)}" for r, cells in found.items()]
    return Outcome(by_share("almost always", lower), "; ".join(texts), SIX)
