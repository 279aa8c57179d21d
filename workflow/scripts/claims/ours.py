"""Claims of this project."""

import numpy as np

from workflow.scripts.claims.appendix_d import PNF_JOINT_MAX_K
from workflow.scripts.claims.evidence import MEASURES
from workflow.scripts.claims.judging import DOES_NOT_HOLD, HOLDS, PARTLY, NotChecked, Outcome
from workflow.scripts.claims.registry import claim
from workflow.scripts.results.comparing import LEVEL, distribution_test


@claim(
    "ours",
    "joint",
    "joint, which samples through a threshold, has the same distribution as the published "
    "Algorithm 1.",
    "two-sample Kolmogorov-Smirnov test of the signed losses at each (dataset, k) drawn: none "
    f"rejects, {LEVEL:.0%} shared by all (the test suite compares whole distributions)",
)
def same_distribution_as_algorithm_1(results):
    chances, draws, datasets = [], 0, set()
    for (dataset, _), cell in results.table("agreement").groupby(["dataset", "k"]):
        a, b = (cell.loc[cell["mechanism"] == m, "loss"] for m in ("joint", "joint_alg1"))
        chances.append(distribution_test(a, b))
        draws += len(a)
        datasets.add(dataset)
    return Outcome(
        HOLDS if min(chances) > LEVEL / len(chances) else DOES_NOT_HOLD,
        f"smallest p {min(chances):.2g} of {len(chances)} tests with {draws:,} draws of each",
        tuple(sorted(datasets)),
    )


@claim(
    "ours",
    "figure 3",
    "joint is at least ten times faster than the published Algorithm 1.",
    "ratio of median times 10 or more at every k at which both were timed; partly: above 1",
    depends_on_time=True,
)
def speed_up_over_algorithm_1(results):
    times = results.seconds("joint_alg1", "joint", dataset="foods")
    ratio = times["joint_alg1"] / times["joint"]
    return Outcome(
        HOLDS if (ratio >= 10).all() else PARTLY if (ratio > 1).all() else DOES_NOT_HOLD,
        ", ".join(f"{value:,.0f} times at k = {k}" for k, value in ratio.items()),
        tuple(results.timing["dataset"].unique()),
    )


@claim(
    "ours",
    "figure 3",
    "joint takes milliseconds, whatever the k.",
    "median time at most 10 ms at every k; partly: at more than half of the k",
    depends_on_time=True,
)
def joint_takes_milliseconds(results):
    (times,) = results.seconds("joint").to_numpy().T
    return Outcome(
        HOLDS if times.max() <= 0.01 else PARTLY if np.mean(times <= 0.01) > 0.5 else DOES_NOT_HOLD,
        f"from {1e3 * times.min():.1f} to {1e3 * times.max():.1f} ms",
        tuple(results.timing["dataset"].unique()),
    )


@claim(
    "ours",
    "figure 6",
    f"pnf_joint works at every k, not only up to k = {PNF_JOINT_MAX_K}.",
    "finite errors wherever joint has trials, on every dataset, with some k above "
    f"{PNF_JOINT_MAX_K}",
)
def pnf_joint_works_at_every_k(results):
    trials = results.table("trials")
    finite = trials[np.isfinite(trials[list(MEASURES)]).all(axis=1)]
    cells = {
        name: set(zip(part["dataset"], part["epsilon"], part["k"], strict=True))
        for name, part in finite.groupby("mechanism")
    }
    joint, pnf_joint = cells.get("joint", set()), cells.get("pnf_joint", set())
    largest = max((k for *_, k in joint), default=0)
    if not pnf_joint or largest <= PNF_JOINT_MAX_K:
        raise NotChecked(
            f"This run has no trials of joint and pnf_joint with k above {PNF_JOINT_MAX_K}."
        )
    return Outcome(
        HOLDS if joint <= pnf_joint else DOES_NOT_HOLD,
        f"{len(joint & pnf_joint)} of {len(joint)} (dataset, ε, k), k up to {largest}",
        tuple(sorted({dataset for dataset, *_ in joint})),
    )


@claim(
    "ours",
    "workflow/published.sha256",
    "This run gives the bytes that the repository keeps the digest of.",
    "sha256 of the table of trials equals the one that the repository keeps for this config",
)
def same_bytes(results):
    if results.digest is None or results.kept_digest is None:
        raise NotChecked("The repository keeps no digest for this config.")
    return Outcome(
        HOLDS if results.digest == results.kept_digest else DOES_NOT_HOLD,
        f"{results.digest[:12]} here, {results.kept_digest[:12]} kept",
        tuple(results.datasets["dataset"]),
    )
