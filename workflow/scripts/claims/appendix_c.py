"""Claims of appendix C: histograms, k-relative error, Gamma and Laplace."""

import numpy as np

from workflow.scripts.claims.evidence import LARGE, PAPER_NAMES, SIX, SMALL, won
from workflow.scripts.claims.judging import (
    DOES_NOT_HOLD,
    HOLDS,
    LITTLE,
    PARTLY,
    SEVERAL,
    SMALL_K,
    Outcome,
    consistently,
    mostly,
)
from workflow.scripts.claims.registry import claim
from workflow.scripts.claims.section_1 import DOMINATED, dominated


@claim(
    "C",
    "C.1; caption of figure 4",
    "The histograms show how many items have a count in each bin.",
    "the bins of each dataset hold d items",
)
def histograms_count_every_item(results):
    binned = results.table("histograms").groupby("dataset")["items"].sum().to_dict()
    d = results.datasets.set_index("dataset")["d"].to_dict()
    wrong = [name for name in d if binned.get(name) != d[name]]
    return Outcome(
        DOES_NOT_HOLD if wrong else HOLDS,
        f"{len(d) - len(wrong)} of {len(d)} datasets",
        tuple(d),
    )


# ---------------------------------------------------------------- C.2: k-relative error


@claim(
    "C",
    "C.2, paragraph 1; figure 5",
    "Joint's k-relative error is consistently at most PNF-Peel's.",
    "consistently not higher, over all cells",
)
def k_relative_at_most_pnf_peel(results):
    cells = results.cells(SIX, "joint", "pnf_peel", "k_relative")
    return Outcome(
        consistently(~cells.higher, cells.surely_higher), won(results, cells, "higher"), SIX
    )


@claim(
    "C",
    "C.2, paragraph 1; figure 5",
    "On the large datasets (read as Books, Movies, News and Tweets), Joint's k-relative error is "
    "mostly smaller than CDP-Peel's.",
    "mostly",
)
def k_relative_below_cdp_peel(results):
    cells = results.cells(LARGE, "joint", "cdp_peel", "k_relative")
    share, mean = {}, {}
    for mechanism in ("joint", "cdp_peel"):
        trials = [results.trials_of(d, mechanism, "k_relative") for d in LARGE]
        pooled = np.concatenate([errors for part in trials for errors in part.values()])
        share[mechanism], mean[mechanism] = np.mean(pooled > 0), pooled.mean()
    text = ", ".join(
        f"{PAPER_NAMES[m]} errs in {share[m]:.1%} of trials, by {mean[m]:.3g} on average"
        for m in share
    )
    zero = int(((cells.a == 0) & (cells.b == 0)).sum())
    return Outcome(
        mostly(cells),
        f"{won(results, cells)}; both medians 0 at {zero} of {len(cells)}; {text}",
        LARGE,
    )


@claim(
    "C",
    "C.2, paragraph 1; figure 5",
    "On the small datasets (read as Foods and Games), Joint's k-relative error is mostly larger "
    "than CDP-Peel's unless k is small.",
    "mostly, for k that is not small",
)
def k_relative_above_cdp_peel(results):
    cells = results.cells(SMALL, "joint", "cdp_peel", "k_relative", at_least=SMALL_K + 1)
    return Outcome(mostly(cells.reversed()), won(results, cells, "higher"), SMALL)


@claim(
    "C",
    "C.2, paragraph 1",
    "k-relative error shows broadly the trends of the other two measures.",
    "the three statements above hold; partly: one of them at most does not hold",
)
def k_relative_trends(results):
    checks = (k_relative_at_most_pnf_peel, k_relative_below_cdp_peel, k_relative_above_cdp_peel)
    verdicts = [check(results).verdict for check in checks]
    failed = verdicts.count(DOES_NOT_HOLD)
    whole = verdicts.count(HOLDS) == len(verdicts)
    return Outcome(
        HOLDS if whole else PARTLY if failed <= 1 else DOES_NOT_HOLD, ", ".join(verdicts), SIX
    )


@claim(
    "C",
    "C.2, last sentence; figure 5",
    "On several datasets, the k-relative errors of the three mechanisms differ little or not at "
    "all.",
    "differs little on several datasets",
)
def k_relative_differs_little(results):
    three = results.best_of_three(SIX, "k_relative")
    medians = np.stack([three.pnf.a, three.pnf.b, three.cdp.b]) + 1
    little = medians.max(axis=0) <= LITTLE * medians.min(axis=0)
    shares = {d: float(np.mean(little[three.pnf.dataset == d])) for d in SIX}
    alike = sum(share > 0.5 for share in shares.values())
    text = ", ".join(f"{results.title(d)} {share:.0%}" for d, share in shares.items())
    return Outcome(
        HOLDS if alike >= SEVERAL else PARTLY if alike == SEVERAL - 1 else DOES_NOT_HOLD,
        f"{alike} datasets; shares of k: {text}",
        SIX,
    )


# ---------------------------------------------------------------- C.3: Gamma and Laplace


def _claim_dominated(better, worse):
    @claim(
        "C",
        "C.3; figure 6",
        f"On Movies, {PAPER_NAMES[worse]} is dominated by {PAPER_NAMES[better]}.",
        "dominates, over the cells of the three measures",
        name=f"{worse}-is-dominated",
    )
    def check(results):
        return Outcome(*dominated(results, ["movies"], better, worse), ("movies",))


for _pair in DOMINATED:
    _claim_dominated(*_pair)
