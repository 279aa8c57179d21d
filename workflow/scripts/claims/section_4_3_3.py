"""Claims of section 4.3.3: running times. All of them depend on the machine."""

import itertools

import numpy as np

from workflow.scripts.claims.evidence import PAPER_NAMES
from workflow.scripts.claims.judging import (
    NOT_COMPARABLE,
    Outcome,
    all_of,
    all_or_most,
)
from workflow.scripts.claims.registry import claim


@claim(
    "4.3.3",
    "sentence 4; figure 3",
    "On Foods, Joint is slower than PNF-Peel, and PNF-Peel is slower than CDP-Peel (the published "
    "algorithms 1, 2 and 3, in vectorised NumPy).",
    "medians in this order at every k at which all three were timed; partly: for one of the two "
    "pairs, or at more than half of the k",
    depends_on_time=True,
)
def order_of_times(results):
    order = ("joint_alg1", "pnf_peel_alg2", "cdp_peel_alg3")
    times = results.seconds(*order, dataset="foods")
    pairs = [times[slow] > times[fast] for slow, fast in itertools.pairwise(order)]
    last = ", ".join(f"{PAPER_NAMES[m]} {times[m].iloc[-1]:.3g} s" for m in order)
    return Outcome(
        all_of(map(all_or_most, pairs)),
        f"in order at {np.sum(pairs[0])} and {np.sum(pairs[1])} of {len(times)} k; at k = "
        f"{times.index[-1]} {last}",
        ("foods",),
    )


@claim(
    "4.3.3",
    "last sentence; figure 3",
    "On Foods, Joint takes seconds for most k, and slightly over a minute at k = 200.",
    "seconds of the published Python on its authors' machine; timed here is Algorithm 1 in "
    "vectorised NumPy, so that its times are reported and not judged",
    depends_on_time=True,
)
def time_of_the_published_algorithm(results):
    times = results.seconds("joint_alg1", dataset="foods")["joint_alg1"]
    found = ", ".join(f"{seconds:.3g} s at k = {k}" for k, seconds in times.items())
    return Outcome(NOT_COMPARABLE, found, ("foods",))
