"""Every claim is fed made-up results in which it is true, and others in which it is false."""

import html.parser
import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from workflow.scripts.claims import (
    agreement,
    appendix_d,
    checking,
    judging,
    pages,
    registry,
    section_2,
    section_3,
    section_4_3_1,
    section_4_3_2,
    small_cases,
    worked_examples,
)
from workflow.scripts.claims.evidence import LARGE, MEASURES, SIX, SMALL, Results
from workflow.scripts.claims.judging import (
    DOES_NOT_HOLD,
    HOLDS,
    NOT_CHECKED,
    NOT_COMPARABLE,
    PARTLY,
    WORDS,
    NotChecked,
)
from workflow.scripts.claims.registry import CLAIMS
from workflow.scripts.data.profiles import write_facts, write_profile
from workflow.scripts.results.comparing import (
    LEVEL,
    Cells,
    binomial_tail,
    distribution_test,
    rank_z,
    two_sided,
)
from workflow.scripts.trials.metrics import METRICS

KS = range(5, 200, 10)
TRIALS = 20
ITEMS = {
    "books": 11_126,
    "foods": 166_049,
    "games": 5_155,
    "movies": 62_423,
    "news": 40_000,
    "tweets": 52_542,
}
PERFECT = ("movies", "news", "tweets")


# ---------------------------------------------------------------- a world as the paper says


def centres(dataset, k):
    """The middle of each error, for each mechanism, in a world in which every claim holds."""
    if dataset in LARGE:
        linf = {"joint": 2 * k, "pnf_peel": 40 * k, "cdp_peel": 10 * k}
        if dataset in PERFECT and k <= 45:
            linf = dict.fromkeys(linf, 0)
        l1 = {"joint": 50 * k, "pnf_peel": 800 * k, "cdp_peel": (200 if k <= 150 else 25) * k}
        k_relative = {"joint": 0, "pnf_peel": 4 * k, "cdp_peel": 2 * k}
        if dataset in PERFECT:
            k_relative = dict.fromkeys(linf, 0)
    else:
        steps = {0: 4 * k, 30: 8 * k, 40: 440, 80: 840, 120: 1240}
        joint = steps[max(start for start in steps if start < k)]
        linf = {"joint": joint, "pnf_peel": 10 * k, "cdp_peel": 4.5 * k}
        l1 = {"joint": 190 * k, "pnf_peel": 200 * k, "cdp_peel": (300 if k <= 20 else 60) * k}
        k_relative = {"joint": 0.95 * k, "pnf_peel": k, "cdp_peel": (1.5 if k <= 20 else 0.3) * k}
    index = {"joint": k / 2, "pnf_peel": 110 - abs(k - 95), "cdp_peel": 100 - abs(k - 125) / 2}
    for errors in (linf, l1, k_relative, index):
        errors["pnf_joint"] = errors["joint"]
        errors["gamma"] = 3 * errors["pnf_peel"] + 5
        errors["laplace"] = 4 * errors["cdp_peel"] + 5
        errors["laplace_c1"] = 0
    recall = dict.fromkeys(linf, 1)
    errors = (linf, linf, l1, k_relative, recall, index)
    return dict(zip(METRICS, errors, strict=True))


def errors_of(trials):
    """Quartiles of each cell, for trials that lie cell by cell."""
    cells = trials.iloc[::TRIALS][["dataset", "mechanism", "epsilon", "k"]]
    values = trials[list(METRICS)].to_numpy().reshape(-1, TRIALS, len(METRICS))
    quartiles = np.quantile(values, [0.25, 0.5, 0.75], axis=1)
    parts = [
        cells.assign(metric=metric, q25=q25, median=median, q75=q75, trials=TRIALS)
        for metric, (q25, median, q75) in zip(METRICS, quartiles.transpose(2, 0, 1), strict=True)
    ]
    return pd.concat(parts, ignore_index=True)


class World:
    """Made-up results, and ways to change them."""

    def __init__(self):
        spread = 1 + 0.2 * np.linspace(-1, 1, TRIALS)
        parts = []
        for dataset, k in itertools.product(SIX, KS):
            errors = centres(dataset, k)
            for mechanism in errors["linf"]:
                part = {metric: errors[metric][mechanism] * spread for metric in errors}
                part |= {"dataset": dataset, "mechanism": mechanism, "epsilon": 1, "k": k}
                parts.append(pd.DataFrame(part | {"trial": np.arange(1, TRIALS + 1)}))
        self.trials = pd.concat(parts, ignore_index=True)
        self.datasets = pd.DataFrame(
            {"dataset": name, "title": name.capitalize(), "status": "real", "d": d}
            for name, d in ITEMS.items()
        )
        self.datasets.loc[self.datasets["dataset"] == "foods", "status"] = "from-figure"
        self.gaps = pd.DataFrame(
            {"dataset": name, "k": k, "count": 1000, "gap": 100 if name in LARGE else 1}
            for name in SIX
            for k in range(1, 201)
        )
        self.histograms = pd.DataFrame(
            {"dataset": name, "low": low, "high": low + 1, "items": items}
            for name, d in ITEMS.items()
            for low, items in ((0, d - 5), (1, 5))
        )
        self.timing = pd.DataFrame(
            {"dataset": "foods", "mechanism": mechanism, "epsilon": 1, "k": k, "median": seconds}
            for k in KS
            for mechanism, seconds in {
                "joint": 0.0004,
                "joint_alg1": 0.35 * k,
                "pnf_peel_alg2": 0.001 * k,
                "cdp_peel_alg3": 0.0005,
            }.items()
        )
        self.agreement = pd.DataFrame(
            {"dataset": "games", "epsilon": 1, "k": k, "mechanism": m, "draw": i, "loss": i % 7}
            for k in (5, 45)
            for m in ("joint", "joint_alg1")
            for i in range(1, 301)
        )
        self.digest = self.kept_digest = "a" * 64

    def copy(self):
        twin = object.__new__(World)
        for name, value in vars(self).items():
            setattr(twin, name, value.copy() if isinstance(value, pd.DataFrame) else value)
        return twin

    def results(self, **changes):
        tables = vars(self) | changes
        return Results(errors=errors_of(tables["trials"]), **tables)

    def scale(self, mechanism, metric, factor, datasets=SIX, ks=KS):
        """Multiply errors (of at least 1) by a factor."""
        t = self.trials
        rows = (t["mechanism"] == mechanism) & t["dataset"].isin(datasets) & t["k"].isin(ks)
        t.loc[rows, metric] = np.maximum(t.loc[rows, metric], 1) * factor

    def put(self, mechanism, metric, centre, datasets=SIX):
        """Set errors by a function of k, the same in all trials."""
        t = self.trials
        rows = (t["mechanism"] == mechanism) & t["dataset"].isin(datasets)
        t.loc[rows, metric] = [float(centre(k)) for k in t.loc[rows, "k"]]

    def size(self, d, *datasets):
        self.datasets.loc[self.datasets["dataset"].isin(datasets), "d"] = d

    def time(self, mechanism, seconds, ks=KS):
        rows = (self.timing["mechanism"] == mechanism) & self.timing["k"].isin(ks)
        self.timing.loc[rows, "median"] = [float(seconds(k)) for k in self.timing.loc[rows, "k"]]

    def drop(self, **values):
        """Leave out all trials with these values."""
        for column, value in values.items():
            self.trials = self.trials[self.trials[column] != value]


@pytest.fixture(scope="module")
def true_world():
    return World()


@pytest.fixture(scope="module")
def true_results(true_world):
    return true_world.results()


@pytest.fixture
def world(true_world):
    return true_world.copy()


def verdict(name, results):
    try:
        return CLAIMS[name].check(results).verdict
    except NotChecked:
        return NOT_CHECKED


# ---------------------------------------------------------------- changes that break a claim


def patched(module, name, value):
    """A change of what the paper is said to state, or of how it is computed."""
    return lambda world, monkeypatch: monkeypatch.setattr(module, name, value)


def worse(metric, mechanism="joint", factor=1e6, **where):
    return lambda world, _: world.scale(mechanism, metric, factor, **where)


def resized(d, *datasets):
    return lambda world, _: world.size(d, *datasets)


def all_metrics(mechanism, factor, **where):
    def change(world, _):
        for metric in MEASURES:
            world.scale(mechanism, metric, factor, **where)

    return change


def changed_gaps(gap, *datasets):
    def change(world, _):
        world.gaps.loc[world.gaps["dataset"].isin(datasets), "gap"] = gap

    return change


def changed_times(mechanism, seconds):
    return lambda world, _: world.time(mechanism, seconds)


def halved_losses(world, _):
    rows = world.agreement["mechanism"] == "joint"
    world.agreement.loc[rows, "loss"] //= 2


def put(mechanisms, metric, centre, datasets=SIX):
    def change(world, _):
        for mechanism in mechanisms:
            world.put(mechanism, metric, centre, datasets)

    return change


def each(*changes):
    def change(world, monkeypatch):
        for one in changes:
            one(world, monkeypatch)

    return change


def without_pnf_joint_beyond_45(world, _):
    t = world.trials
    world.trials = t[(t["mechanism"] != "pnf_joint") | (t["k"] <= 45)]


def a_bin_lost(world, _):
    world.histograms = world.histograms[world.histograms["low"] == 0]


def no_ties_broken(i, j, d, k):
    return 1


def one_row_too_far(self, r, value):
    return TRUE_T(self, r, value) + (r == self.k)


TRUE_T = small_cases.Matrix.t
WITHOUT_TIE_BREAKERS = patched(small_cases, "tie_breaker", no_ties_broken)
WRONG_T = patched(small_cases.Matrix, "t", one_row_too_far)
WRONG_EXAMPLES = {text: (counts, 0.1, 0.2) for text, (counts, *_) in appendix_d.EXAMPLES.items()}
ONE_WRONG_EXAMPLE = {
    text: (counts, joint, 0.2) for text, (counts, joint, _) in appendix_d.EXAMPLES.items()
}


def doubled_utility(counts, sequence):
    return tuple(2 * u - 1 for u in TRUE_UTILITIES(counts, sequence))


TRUE_UTILITIES = small_cases.utilities
WRONG_UTILITY = patched(small_cases, "utilities", doubled_utility)

FALSE = {
    "strongest-pure-mechanism": each(worse("linf"), worse("l1")),
    "improves-on-approximate-for-moderate-k": each(worse("linf"), worse("l1")),
    "peeling-is-the-best-baseline": each(
        all_metrics("pnf_peel", 1e6), all_metrics("cdp_peel", 1e6)
    ),
    "k-relative-is-least": worse("k_relative"),
    "k-relative-is-lenient": patched(section_2, "LENIENT_EXAMPLE", ([100, 2, 1], 2, {0})),
    "exponential-mechanism-is-private": patched(
        small_cases, "signed_utility", lambda counts, s: 2 * TRUE_UTILITIES(counts, s)[0]
    ),
    "monotonic-utility-halves-epsilon": patched(
        small_cases, "count_of", lambda counts, item: (-1) ** item * counts[item - 1]
    ),
    "exponential-mechanism-is-concentrated": patched(
        small_cases, "count_of", lambda counts, item: (-1) ** item * counts[item - 1]
    ),
    "best-score-is-zero": WRONG_UTILITY,
    "signed-utility-example": patched(
        section_3, "UTILITY_EXAMPLE", {(1, 2): (-1, -1), (2, 1): (0, 0)}
    ),
    "signed-loss-is-like-linf": each(
        *(worse("linf", m, factor=9) for m in ("joint", "pnf_peel", "cdp_peel")),
        worse("loss", "joint", factor=20),
    ),
    "sensitivity-is-one": WRONG_UTILITY,
    "utility-theorem": worse("loss", factor=100),
    "number-of-scores": WRONG_UTILITY,
    "matrix-is-ordered": WITHOUT_TIE_BREAKERS,
    "sequence-counts-add-up": WITHOUT_TIE_BREAKERS,
    "rows-bound-the-items": patched(small_cases.Matrix, "t", lambda self, r, value: self.k - r),
    "sequence-count-is-a-product": WRONG_T,
    "neighbouring-entries-share-rows": WITHOUT_TIE_BREAKERS,
    "algorithm-1-counts-sequences": WITHOUT_TIE_BREAKERS,
    "sequences-are-drawn-uniformly": WRONG_T,
    "algorithm-1-is-the-exponential-mechanism": WRONG_UTILITY,
    "ties-may-differ": patched(small_cases, "CASES", (((9, 5, 1), 2),)),
    "space-of-algorithm-1": patched(section_3, "SPACE_CASES", ((4_000, 40), (40, 4), (20, 2))),
    "size-of-books": resized(10_000, "books"),
    "size-of-foods": resized(167_000, "foods"),
    "size-of-games": resized(6_000, "games"),
    "size-of-movies": resized(63_000, "movies"),
    "size-of-news": resized(39_000, "news"),
    "size-of-tweets": resized(1, "tweets"),
    "range-of-sizes": resized(10, *SIX),
    "gaps-are-larger-on-four": changed_gaps(0, *LARGE),
    "best-where-gaps-are-large": each(worse("linf", datasets=LARGE), worse("l1", datasets=LARGE)),
    "linf-suits-joint-best": worse("linf"),
    "linf-lead-follows-gaps": worse("linf", datasets=LARGE),
    "linf-much-below-pnf-peel": worse("linf", datasets=LARGE),
    "linf-widely-below-cdp-peel": worse("linf", datasets=LARGE),
    "linf-slightly-below-pnf-peel": worse("linf", datasets=SMALL),
    "linf-below-cdp-peel-to-30": worse("linf", "cdp_peel", datasets=SMALL),
    "linf-has-plateaus": put(["joint"], "linf", lambda k: 10 * k),
    "linf-depends-less-on-k": each(
        put(["joint"], "linf", lambda k: k**2 - 1),
        put(["pnf_peel", "cdp_peel"], "linf", lambda k: 100 + k % 20),
    ),
    "index-of-joint-is-monotone": put(["joint"], "linf_index", lambda k: 100 - abs(k - 95)),
    "index-of-peeling-rises-and-falls": put(["pnf_peel", "cdp_peel"], "linf_index", lambda k: k),
    "index-of-cdp-peel-turns-less": put(["pnf_peel"], "linf_index", lambda k: k),
    "budget-of-one-selection": patched(section_4_3_1, "budget_by_lemma", lambda k: k),
    "l1-largely-best-on-four": worse("l1", datasets=LARGE),
    "l1-lead-follows-gaps": worse("l1", datasets=LARGE),
    "l1-fits-slightly-less": each(
        all_metrics("joint", 1), *(worse("linf", m, factor=1e-3) for m in ("pnf_peel", "cdp_peel"))
    ),
    "one-error-scores-as-many": patched(
        section_4_3_2, "EQUAL_SCORES", ((10, 10, 5, 1), (1, 3), (3, 4))
    ),
    "l1-best-for-small-k": worse("l1", ks=(5, 15)),
    "l1-matches-pnf-peel": worse("l1", datasets=SMALL, factor=2),
    "l1-below-pnf-peel": worse("l1", datasets=LARGE),
    "l1-often-below-cdp-peel": each(
        worse("l1", datasets=LARGE), worse("l1", datasets=SMALL, ks=KS[1:])
    ),
    "order-of-times": each(
        changed_times("pnf_peel_alg2", lambda k: 1e-5),
        changed_times("joint_alg1", lambda k: 1e-6),
    ),
    "improves-on-pure-mechanisms": all_metrics("joint", 1e6),
    "improves-on-approximate-mechanisms": all_metrics("joint", 1e6),
    "laplace-is-superior-for-one-item": all_metrics("laplace_c1", 1e6),
    "histograms-count-every-item": a_bin_lost,
    "k-relative-at-most-pnf-peel": worse("k_relative"),
    "k-relative-below-cdp-peel": worse("k_relative", datasets=LARGE),
    "k-relative-above-cdp-peel": worse("k_relative", "cdp_peel", ks=KS[2:]),
    "k-relative-trends": worse("k_relative"),
    "k-relative-differs-little": worse("k_relative"),
    "gamma-is-dominated": all_metrics("pnf_peel", 1e6),
    "laplace-is-dominated": all_metrics("cdp_peel", 1e6),
    "gain-of-permute-and-flip": patched(
        worked_examples, "permute_and_flip", worked_examples.exponential
    ),
    "rejection-gives-both": patched(
        worked_examples, "rejection", lambda weights, _: [1 / len(weights)] * len(weights)
    ),
    "quantile-of-largest-noise": patched(appendix_d, "largest_noise", lambda p, m, epsilon: p),
    "m-leaves-the-range-of-doubles": resized(10**9, "foods"),
    "pnf-joint-without-error-on-three": worse("linf"),
    "pnf-joint-is-like-joint": worse("linf", factor=10),
    "pnf-joint-is-not-different": worse("linf", factor=10),
    "example-of-four-items": patched(appendix_d, "EXAMPLES", WRONG_EXAMPLES),
    "example-of-thousand-items": patched(appendix_d, "EXAMPLES", WRONG_EXAMPLES),
    "same-distribution-as-algorithm-1": halved_losses,
    "speed-up-over-algorithm-1": changed_times("joint", lambda k: 100),
    "joint-takes-milliseconds": changed_times("joint", lambda k: 60),
    "pnf-joint-works-at-every-k": without_pnf_joint_beyond_45,
    "same-bytes": lambda world, _: setattr(world, "digest", "b" * 64),
}

# Claims that can hold partly, each with one part made false.
PARTLY_TRUE = {
    "strongest-pure-mechanism": worse("l1"),
    "improves-on-approximate-for-moderate-k": worse("l1"),
    "peeling-is-the-best-baseline": all_metrics("pnf_peel", 1e6),
    "signed-utility-example": patched(
        section_3, "UTILITY_EXAMPLE", {(1, 3, 4, 5, 2): (-10, -30), (1, 2): (-1, -1)}
    ),
    "signed-loss-is-like-linf": worse("loss", factor=20),
    "space-of-algorithm-1": patched(section_3, "SPACE_CASES", ((20, 2), (4_000, 10))),
    "size-of-books": resized(10_999, "books"),
    "size-of-foods": resized(165_000, "foods"),
    "size-of-games": resized(4_999, "games"),
    "size-of-movies": resized(59_047, "movies"),
    "size-of-news": resized(39_644, "news"),
    "size-of-tweets": resized(51_999, "tweets"),
    "range-of-sizes": resized(7_000, "games"),
    "gaps-are-larger-on-four": changed_gaps(0, "news"),
    "best-where-gaps-are-large": worse("linf", datasets=["news"]),
    "linf-suits-joint-best": worse("l1", "pnf_peel"),
    "linf-lead-follows-gaps": worse("linf", datasets=["news"]),
    "linf-much-below-pnf-peel": worse("linf", datasets=LARGE, factor=15),
    "linf-widely-below-cdp-peel": worse("linf", datasets=LARGE, ks=KS[9:]),
    "linf-slightly-below-pnf-peel": worse("linf", "pnf_peel", factor=3, datasets=SMALL),
    "linf-below-cdp-peel-to-30": worse("linf", "cdp_peel", datasets=SMALL, ks=KS[10:]),
    "linf-has-plateaus": put(["joint"], "linf", lambda k: 10 * k, ["games"]),
    "linf-depends-less-on-k": put(["cdp_peel"], "linf", lambda k: 100 + k % 20),
    "index-of-joint-is-monotone": put(
        ["joint"], "linf_index", lambda k: 150 if k == 105 else k / 2
    ),
    "index-of-peeling-rises-and-falls": put(["cdp_peel"], "linf_index", lambda k: k),
    "index-of-cdp-peel-turns-less": put(["pnf_peel"], "linf_index", lambda k: k, ["games"]),
    "budget-of-one-selection": patched(section_4_3_1, "budget_by_lemma", lambda k: k**-2.0),
    "l1-largely-best-on-four": worse("l1", datasets=LARGE, ks=KS[11:]),
    "l1-lead-follows-gaps": worse("l1", datasets=["news"]),
    "l1-fits-slightly-less": worse("l1", "pnf_peel"),
    "l1-best-for-small-k": worse("l1", datasets=["news"], ks=(5, 15)),
    "l1-matches-pnf-peel": worse("l1", "pnf_peel", datasets=SMALL, factor=3),
    "l1-below-pnf-peel": worse("l1", datasets=LARGE, ks=KS[16:]),
    "l1-often-below-cdp-peel": worse("l1", ks=KS[2:10]),
    "order-of-times": changed_times("pnf_peel_alg2", lambda k: 1e-5),
    "improves-on-pure-mechanisms": worse("linf", datasets=SMALL),
    "improves-on-approximate-mechanisms": worse("linf"),
    "laplace-is-superior-for-one-item": worse("l1", "laplace_c1", datasets=SMALL),
    "k-relative-at-most-pnf-peel": worse("k_relative", datasets=["news"], ks=KS[8:]),
    "k-relative-below-cdp-peel": worse("k_relative", datasets=["books"], ks=KS[11:]),
    "k-relative-above-cdp-peel": worse("k_relative", "cdp_peel", ks=KS[11:]),
    "k-relative-trends": worse("k_relative", "cdp_peel", datasets=SMALL, ks=KS[11:]),
    "k-relative-differs-little": worse("k_relative", datasets=["news"]),
    "gamma-is-dominated": worse("l1", "pnf_peel", datasets=["movies"], ks=KS[15:]),
    "laplace-is-dominated": worse("l1", "cdp_peel", datasets=["movies"], ks=KS[15:]),
    "gain-of-permute-and-flip": patched(
        appendix_d, "GAIN_CASES", (((10, 5, 1, 1), 2), ((6, 6, 3), 2))
    ),
    "rejection-gives-both": patched(
        worked_examples,
        "rejection",
        lambda weights, _: [weight / sum(weights) for weight in weights],
    ),
    "pnf-joint-without-error-on-three": worse("linf", datasets=["news"]),
    "pnf-joint-is-like-joint": worse("linf", factor=10, datasets=["games"], ks=(5,)),
    "pnf-joint-is-not-different": worse("linf", factor=2, datasets=["games"], ks=(5,)),
    "example-of-four-items": patched(appendix_d, "EXAMPLES", ONE_WRONG_EXAMPLE),
    "example-of-thousand-items": patched(appendix_d, "EXAMPLES", ONE_WRONG_EXAMPLE),
    "speed-up-over-algorithm-1": changed_times("joint", lambda k: 0.07 * k),
    "joint-takes-milliseconds": changed_times("joint", lambda k: 0.0004 if k < 150 else 0.02),
}
TRUE_OR_FALSE = {
    "k-relative-is-least",
    "k-relative-is-lenient",
    "exponential-mechanism-is-private",
    "monotonic-utility-halves-epsilon",
    "exponential-mechanism-is-concentrated",
    "best-score-is-zero",
    "absolute-utility-is-a-distance",
    "sensitivity-is-one",
    "utility-theorem",
    *section_3.LEMMAS,
    "ties-may-differ",
    "one-error-scores-as-many",
    "histograms-count-every-item",
    "quantile-of-largest-noise",
    "m-leaves-the-range-of-doubles",
    "same-distribution-as-algorithm-1",
    "pnf-joint-works-at-every-k",
    "same-bytes",
}

# Computed from the definitions, and found to be false; see the test below.
REFUTED = "absolute-utility-is-a-distance"
# Seconds of another implementation are reported, not judged.
REPORTED = "time-of-the-published-algorithm"


@pytest.mark.parametrize("name", [name for name in CLAIMS if name not in (REFUTED, REPORTED)])
def test_a_claim_holds_where_it_is_true(name, true_results):
    outcome = CLAIMS[name].check(true_results)
    assert outcome.verdict == HOLDS, outcome.found


@pytest.mark.parametrize("name", FALSE)
def test_a_claim_does_not_hold_where_it_is_false(name, world, monkeypatch):
    FALSE[name](world, monkeypatch)
    outcome = CLAIMS[name].check(world.results())
    assert outcome.verdict == DOES_NOT_HOLD, outcome.found


@pytest.mark.parametrize("name", PARTLY_TRUE)
def test_a_claim_holds_partly_where_a_part_is_false(name, world, monkeypatch):
    PARTLY_TRUE[name](world, monkeypatch)
    outcome = CLAIMS[name].check(world.results())
    assert outcome.verdict == PARTLY, outcome.found


def test_every_claim_is_covered():
    assert set(FALSE) | {REFUTED, REPORTED} == set(CLAIMS)
    assert set(PARTLY_TRUE) | TRUE_OR_FALSE | {REPORTED} == set(CLAIMS)
    assert not set(PARTLY_TRUE) & TRUE_OR_FALSE


def test_the_refuted_claim_holds_where_one_item_is_selected(world, monkeypatch):
    assert verdict(REFUTED, world.results()) == DOES_NOT_HOLD
    monkeypatch.setattr(section_3, "DISTANCE_CASES", (((6, 4, 3, 1), 1), ((2, 2), 1)))
    assert verdict(REFUTED, world.results()) == HOLDS


def test_times_of_another_implementation_are_reported_only(world):
    world.time("joint_alg1", lambda k: k / 10)
    outcome = CLAIMS[REPORTED].check(world.results())
    assert outcome.verdict == NOT_COMPARABLE
    assert "0.5 s at k = 5" in outcome.found
    assert "19.5 s at k = 195" in outcome.found


def test_zero_medians_are_told_apart_by_the_trials(world):
    """Joint never errs on News, CDP-Peel in a fifth of the trials, which no median shows."""
    rows = (world.trials["dataset"] == "news") & (world.trials["mechanism"] == "cdp_peel")
    world.trials.loc[rows & (world.trials["trial"] > 0.8 * TRIALS), "k_relative"] = 100
    cells = world.results().cells(["news"], "joint", "cdp_peel", "k_relative")
    assert not cells.a.any()
    assert not cells.b.any()
    assert cells.lower.all()
    assert cells.open.all()
    assert cells.factor == 1


# ---------------------------------------------------------------- runs that have less


NEEDS_NO_RESULTS = {
    "k-relative-is-lenient",
    "exponential-mechanism-is-private",
    "monotonic-utility-halves-epsilon",
    "exponential-mechanism-is-concentrated",
    "best-score-is-zero",
    "signed-utility-example",
    "absolute-utility-is-a-distance",
    "sensitivity-is-one",
    *section_3.LEMMAS,
    "ties-may-differ",
    "space-of-algorithm-1",
    "budget-of-one-selection",
    "one-error-scores-as-many",
    "gain-of-permute-and-flip",
    "rejection-gives-both",
    "quantile-of-largest-noise",
    "m-leaves-the-range-of-doubles",
    "example-of-four-items",
    "example-of-thousand-items",
    "range-of-sizes",
    *(f"size-of-{dataset}" for dataset in SIX),
}


def verdicts(results):
    return checking.check_all(results).set_index("claim")["verdict"].drop([REFUTED, REPORTED])


def test_without_results_only_computed_claims_are_checked(world):
    table = checking.check_all(Results(world.datasets))
    checked = set(table.loc[table["verdict"] != NOT_CHECKED, "claim"])
    assert checked == NEEDS_NO_RESULTS
    missing = table[table["verdict"] == NOT_CHECKED]
    assert missing["found"].str.endswith(".").all()
    assert (missing["not_real"] == "").all()


@pytest.mark.parametrize("dataset", SIX)
def test_a_dataset_that_is_left_out_is_not_judged(dataset, world):
    world.drop(dataset=dataset)
    for name in ("datasets", "gaps", "histograms", "timing", "agreement"):
        table = getattr(world, name)
        setattr(world, name, table[table["dataset"] != dataset])
    table = verdicts(world.results())
    assert table[f"size-of-{dataset}"] == NOT_CHECKED
    assert table["improves-on-pure-mechanisms"] == NOT_CHECKED
    assert table["k-relative-is-least"] == HOLDS
    assert set(table) == {HOLDS, NOT_CHECKED}


def test_a_run_of_one_s_own_data_alone_is_judged_by_what_is_about_any_data(world):
    world.trials = world.trials[world.trials["dataset"] == "games"].assign(dataset="pets")
    for name in ("datasets", "gaps", "histograms", "timing", "agreement"):
        table = getattr(world, name)
        setattr(world, name, table[table["dataset"] == "games"].assign(dataset="pets"))
    table = checking.check_all(world.results()).set_index("claim")
    for name in ("k-relative-is-least", "utility-theorem", "histograms-count-every-item"):
        assert table.loc[name, "verdict"] == HOLDS
    assert table.loc["linf-has-plateaus", "verdict"] == NOT_CHECKED
    assert table.loc["linf-has-plateaus", "found"] == "This run leaves out foods."


@pytest.mark.parametrize(
    "mechanism", ["joint", "pnf_peel", "cdp_peel", "pnf_joint", "gamma", "laplace_c1"]
)
def test_a_mechanism_that_is_left_out_is_not_judged(mechanism, world):
    world.drop(mechanism=mechanism)
    table = verdicts(world.results())
    assert set(table) == {HOLDS, NOT_CHECKED}
    assert (table["gamma-is-dominated"] == HOLDS) == (mechanism not in ("pnf_peel", "gamma"))
    missing = ("joint", "pnf_peel", "cdp_peel", "laplace_c1")
    assert (table["laplace-is-superior-for-one-item"] == HOLDS) == (mechanism not in missing)


def test_a_mechanism_that_selects_sets_does_not_disturb(world):
    sets = world.trials[world.trials["mechanism"] == "joint"].assign(
        mechanism="sets", loss=np.nan, linf=np.nan, l1=np.nan, linf_index=np.nan
    )
    world.trials = pd.concat([world.trials, sets], ignore_index=True)
    assert set(verdicts(world.results())) == {HOLDS}


@pytest.mark.parametrize("ks", [[5], [195], [5, 15], [45, 55, 65], [1]])
def test_a_run_with_few_k_is_judged_by_what_it_has(ks, world):
    kept = [5] if ks == [1] else ks
    world.trials = world.trials[world.trials["k"].isin(kept)]
    world.timing = world.timing[world.timing["k"].isin(kept)]
    if ks == [1]:
        world.trials, world.timing = world.trials.assign(k=1), world.timing.assign(k=1)
    table = verdicts(world.results())
    for name in ("l1-often-below-cdp-peel", "linf-below-cdp-peel-to-30"):
        assert table[name] == NOT_CHECKED
    for name in ("linf-depends-less-on-k", "index-of-peeling-rises-and-falls"):
        assert (table[name] == NOT_CHECKED) == (len(ks) < 3)


@pytest.mark.parametrize(
    "changes",
    [{"neighbors": "swap"}, {"delta": 1e-3}, {"epsilon": 2}],
    ids=["swap", "delta", "epsilon"],
)
def test_another_setting_than_the_paper_s_is_not_judged_by_its_statements(changes, world):
    if "epsilon" in changes:
        changes = {"trials": world.trials.assign(**changes)}
    table = verdicts(world.results(**changes))
    assert table["linf-much-below-pnf-peel"] == NOT_CHECKED
    assert table["k-relative-is-least"] == HOLDS
    assert (table["utility-theorem"] == NOT_CHECKED) == ("neighbors" in changes)


def test_a_check_that_crashes_stops_the_run(world):
    results = world.results()
    results.trials = results.trials.drop(columns="l1")
    with pytest.raises(KeyError):
        checking.check_all(results)


def test_only_claims_about_running_times_depend_on_time(world):
    """What depends on time may differ from run to run; nothing else looks at times."""
    timed = {name for name, each in CLAIMS.items() if each.depends_on_time}
    for mechanism in ("joint", "joint_alg1", "pnf_peel_alg2", "cdp_peel_alg3"):
        world.time(mechanism, lambda k: 1e9 / k)
    table = verdicts(world.results())
    assert set(table[table != HOLDS].index) | {REPORTED} == timed
    assert len(timed) == 4


# ---------------------------------------------------------------- the files


def write(world, folder, digests=None):
    paths = {}
    tables = vars(world) | {"errors": errors_of(world.trials)}
    for name in checking.TABLES:
        paths[name] = folder / f"{name}.csv"
        tables[name].to_csv(paths[name], index=False)
    if digests is not None:
        paths["digests"] = folder / "digests"
        paths["digests"].write_text(f"{'0' * 64}  results/errors.csv\n{digests}")
    return paths


def test_the_files_are_the_same_each_time_and_say_what_is_not_real(world, tmp_path):
    paths = write(world, tmp_path, f"{'0' * 64}  results/trials.csv\n")
    for run in ("first", "second"):
        checking.main(tmp_path / f"{run}.csv", tmp_path / f"{run}.md", **paths)
    for kind in ("csv", "md"):
        first, second = (tmp_path / f"{run}.{kind}" for run in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()

    table = pd.read_csv(tmp_path / "first.csv", keep_default_na=False)
    assert list(table) == [
        "claim", "section", "place", "statement", "verdict", "found", "asked_for",
        "depends_on_time", "not_real",
    ]  # fmt: skip
    assert sorted(table["claim"]) == sorted(CLAIMS)
    assert (table.drop(columns="not_real") != "").all().all()
    table = table.set_index("claim")
    assert table.loc["same-bytes", "verdict"] == DOES_NOT_HOLD
    assert table.loc["size-of-foods", "not_real"] == "Foods: read from a figure"
    assert table.loc["size-of-games", "not_real"] == ""
    assert table.loc["linf-has-plateaus", "not_real"] == "Foods: read from a figure"
    assert table.loc["order-of-times", "depends_on_time"] == "yes"

    lines = (tmp_path / "first.md").read_text(encoding="utf-8").splitlines()
    ours = sum(section == "ours" for section in table["section"])
    paper = len(CLAIMS) - ours
    assert (
        f"- The paper: {paper} statements: *holds* {paper - 2}, *does not hold* 1, "
        "*not comparable* 1." in (lines)
    )
    assert f"- This project: {ours} statements: *holds* {ours - 1}, *does not hold* 1." in lines
    assert "(Foods: read from a figure)" in " ".join(lines)
    rows = [line for line in lines if line.startswith("| **")]
    assert len(rows) == len(CLAIMS)
    assert all(row.count(" | ") == 4 for row in rows)
    verdict_cells = [row.split(" | ")[0] for row in rows]
    assert sum("†" in cell for cell in verdict_cells) == (table["not_real"] != "").sum()
    assert sum("⏱" in cell for cell in verdict_cells) == 4
    headings = [line for line in lines if line.startswith("## ")]
    assert headings[0].startswith("## Abstract")
    assert headings[-2:] == ["## This project", "## What the words mean"]
    assert all(any(line.startswith(f"| {word.word} |") for line in lines) for word in WORDS)


def test_a_kept_digest_is_compared_with_the_table_of_trials(world, tmp_path):
    paths = write(world, tmp_path)
    assert verdict("same-bytes", checking.read_results(**paths)) == NOT_CHECKED
    digest = checking.read_results(**write(world, tmp_path, "")).digest
    paths = write(world, tmp_path, f"{digest}  results/trials.csv\n")
    assert verdict("same-bytes", checking.read_results(**paths)) == HOLDS


def test_a_claim_cannot_be_registered_twice_or_under_an_unknown_section():
    with pytest.raises(ValueError, match="two claims are called same-bytes"):
        registry.claim("ours", "", "", "", name="same-bytes")(lambda results: None)
    with pytest.raises(ValueError, match="not among the sections"):
        registry.claim("4.9", "", "", "")


class Tables(html.parser.HTMLParser):
    """The rows of a page: the attributes of each, and the texts of its cells."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.options, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append((dict(attributes), []))
        if tag == "td":
            self.rows[-1][1].append("")
        if tag == "option":
            self.options.append(dict(attributes)["value"])
        self.inside = tag == "td"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][1][-1] += data


def test_the_page_of_claims_can_be_filtered_and_needs_nothing_else(world, tmp_path):
    table = checking.check_all(world.results())
    table.loc[0, "statement"] = "a <b> & c"
    text = pages.claims_page(table)
    found = Tables(text)
    rows = [row for row in found.rows if "data-section" in row[0]]
    chosen = [(row["data-section"], row["data-verdict"]) for row, _ in rows]
    assert chosen == list(zip(table["section"], table["verdict"], strict=True))
    assert set(found.options) == {"", *table["section"], *table["verdict"]}
    assert rows[0][1][1] == "a <b> & c"
    assert [cells[0] for _, cells in rows] == list(table["verdict"])
    assert any("depends on time; Foods: read from a figure" in cells[-1] for _, cells in rows)
    assert [cells[0] for _, cells in found.rows if len(cells) == 3] == [w.word for w in WORDS]
    assert "http" not in text
    assert "src=" not in text


def test_the_page_of_datasets_says_what_the_counts_are(world, tmp_path):
    world.datasets.assign(source="embedded", users="once", total=10**6, largest=99).to_csv(
        tmp_path / "datasets.csv", index=False
    )
    pages.write_page(tmp_path / "page.html", pages.datasets_page, tmp_path / "datasets.csv")
    rows = Tables((tmp_path / "page.html").read_text(encoding="utf-8")).rows
    assert rows[2][1] == [
        *("Foods", "read from a figure", "embedded", "once", "166,049", "1,000,000", "99")
    ]
    assert rows[1][1][1] == "real"


# ---------------------------------------------------------------- the words


def cells(a, b, z=None, datasets=None):
    """Cells with these medians; a z score of 9 is sure, one of 0 is none."""
    a, b = np.array(a, float), np.array(b, float)
    z = 9 * np.sign(a - b) if z is None else np.array(z, float)
    datasets = np.array(["one"] * len(a) if datasets is None else datasets)
    return Cells(datasets, np.array(["linf"] * len(a)), np.arange(len(a)), a, b, z, 0.01)


def truths(true, of):
    return np.arange(of) < true


@pytest.mark.parametrize(
    ("word", "holds", "partly", "fails"),
    [("consistently", 19, 17, 16), ("almost always", 18, 15, 14), ("often", 10, 5, 4)],
)
def test_words_that_are_judged_by_a_share(word, holds, partly, fails):
    assert judging.by_share(word, truths(holds, 20)) == HOLDS
    assert judging.by_share(word, truths(holds - 1, 20)) == PARTLY
    assert judging.by_share(word, truths(partly, 20)) == PARTLY
    assert judging.by_share(word, truths(fails, 20)) == DOES_NOT_HOLD
    assert judging.by_share(word, truths(0, 0)) == NOT_CHECKED


def test_always():
    none = truths(0, 20)
    assert judging.always(truths(20, 20), none) == HOLDS
    assert judging.always(truths(18, 20), none) == HOLDS  # two unsure ones are noise
    assert judging.always(truths(17, 20), none) == PARTLY
    assert judging.always(truths(19, 20), ~truths(19, 20)) == PARTLY
    assert judging.always(truths(17, 20), ~truths(17, 20)) == DOES_NOT_HOLD
    assert judging.always(truths(14, 20), none) == DOES_NOT_HOLD
    assert judging.always(truths(0, 0), truths(0, 0)) == NOT_CHECKED


def test_consistently():
    assert judging.consistently(truths(20, 20), truths(0, 20)) == HOLDS
    assert judging.consistently(truths(19, 20), ~truths(19, 20)) == HOLDS
    assert judging.consistently(truths(38, 40), ~truths(37, 40)) == PARTLY
    assert judging.consistently(truths(18, 20), truths(0, 20)) == PARTLY
    assert judging.consistently(truths(10, 20), truths(0, 20)) == DOES_NOT_HOLD


def test_mostly():
    two = ["one"] * 3 + ["two"] * 6
    assert judging.mostly(cells([1] * 6 + [3] * 3, [2] * 9)) == HOLDS
    assert judging.mostly(cells([1] * 5 + [3] * 4, [2] * 9)) == PARTLY
    assert judging.mostly(cells([1] * 4 + [3] * 5, [2] * 9)) == DOES_NOT_HOLD
    assert judging.mostly(cells([3] * 3 + [1] * 6, [2] * 9, datasets=two)) == PARTLY
    assert judging.mostly(cells([1] * 6 + [3] * 3, [2] * 9, [0] * 6 + [9] * 3)) == PARTLY
    assert judging.mostly(cells([0, 0], [0, 0])) == NOT_CHECKED


def test_often():
    assert judging.often(cells([1, 1, 3, 3], [2] * 4)) == HOLDS
    assert judging.often(cells([1, 1, 3, 3], [2] * 4, [0, 0, 9, 0])) == PARTLY
    assert judging.often(cells([1, 3, 3, 3], [2] * 4)) == PARTLY
    assert judging.often(cells([3, 3, 3, 3], [2] * 4)) == DOES_NOT_HOLD


def test_dominates():
    assert judging.dominates(cells([1, 1, 1, 2], [2] * 4)) == HOLDS
    assert judging.dominates(cells([1, 2, 2, 2], [2] * 4)) == PARTLY  # never worse, rarely better
    assert judging.dominates(cells([1] * 19 + [3], [2] * 20)) == PARTLY
    assert judging.dominates(cells([1, 3], [2, 2])) == DOES_NOT_HOLD


def test_much_and_slightly():
    assert [judging.much(x) for x in (2, 1.25, 1.2)] == [HOLDS, PARTLY, DOES_NOT_HOLD]
    assert judging.slightly(cells([9], [11])) == HOLDS
    assert judging.slightly(cells([9], [11], [0])) == PARTLY
    assert judging.slightly(cells([9], [99])) == PARTLY
    assert judging.slightly(cells([11], [9])) == DOES_NOT_HOLD


def test_matches():
    assert judging.matches(cells([99], [105])) == HOLDS
    assert judging.matches(cells([99], [300], [0])) == HOLDS  # not surely different
    assert judging.matches(cells([99], [300])) == PARTLY  # better than a match
    assert judging.matches(cells([119], [99])) == PARTLY
    assert judging.matches(cells([300], [99])) == DOES_NOT_HOLD


def test_wide_range():
    everywhere = truths(20, 20)
    assert judging.over_wide_range(truths(10, 20), everywhere) == HOLDS
    assert judging.over_wide_range(truths(9, 20), everywhere) == PARTLY
    assert judging.over_wide_range(truths(4, 20), everywhere) == DOES_NOT_HOLD
    assert judging.over_wide_range(truths(5, 20), truths(6, 20)) == HOLDS  # 5 of the 6 open
    assert judging.over_wide_range(truths(5, 20), truths(7, 20)) == PARTLY
    assert judging.over_wide_range(truths(0, 20), truths(0, 20)) == DOES_NOT_HOLD


def test_plateaus():
    k = np.array([5, 15, 25, 35, 45])
    assert judging.longest_plateau(k, np.array([9, 99, 100, 105, 108])) == (15, 45)
    assert judging.longest_plateau(k, np.array([9, 50, 100, 105, 108])) == (5, 5)  # three only
    assert judging.longest_plateau(k, np.array([0, 0, 0, 0, 0])) == (5, 5)  # no error at all


def test_parts_of_a_statement():
    assert judging.all_of([HOLDS, HOLDS, NOT_CHECKED]) == HOLDS
    assert judging.all_of([HOLDS, DOES_NOT_HOLD]) == PARTLY
    assert judging.all_of([DOES_NOT_HOLD]) == DOES_NOT_HOLD
    assert judging.all_of([]) == NOT_CHECKED
    assert [judging.all_or_some(x) for x in ([1, 1], [1, 0], [0, 0])] == [
        HOLDS,
        PARTLY,
        DOES_NOT_HOLD,
    ]
    assert [judging.all_or_most(x) for x in ([1, 1], [1, 1, 0], [1, 0])] == [
        HOLDS,
        PARTLY,
        DOES_NOT_HOLD,
    ]


def test_the_last_k_up_to_which_something_is_true():
    def last(a, z):
        found = cells(a, [2] * len(a), z)
        return section_4_3_1.last_win(found)

    assert last([1, 1, 3, 1], [-9, -9, 9, -9]) == 1
    assert last([1, 1, 3, 1], [-9, -9, 0, -9]) == 3  # one unclear break is noise
    assert last([1, 3, 3, 1], [-9, 0, 0, -9]) == 0
    assert section_4_3_1.rank_correlation([1, 2, 3], [5, 7, 9]) == pytest.approx(1)
    assert section_4_3_1.rank_correlation([1, 2, 3], [5, 5, 5]) == 0


# ---------------------------------------------------------------- the tests behind "surely"


def test_the_rank_test_agrees_with_all_rearrangements():
    a, b = [1, 2, 2, 5, 9], [2, 4, 7, 7, 8, 9]
    pooled = np.array(a + b)
    scores = [
        rank_z(pooled[list(chosen)], np.delete(pooled, chosen))
        for chosen in itertools.combinations(range(len(pooled)), len(a))
    ]
    exact = np.mean(np.abs(scores) >= abs(rank_z(a, b)) - 1e-12)
    assert two_sided(rank_z(a, b)) == pytest.approx(exact, abs=0.02)
    assert rank_z(a, b) == -rank_z(b, a) < 0
    assert rank_z([3, 3], [3, 3, 3]) == 0


def compared(a, b):
    """Cells of two lists of samples, as `Results.cells` makes them."""
    n = len(a)
    medians = [[np.median(x) for x in samples] for samples in (a, b)]
    z = [rank_z(x, y) for x, y in zip(a, b, strict=True)]
    return Cells(
        np.array(["one"] * n), np.array(["linf"] * n), np.arange(n),
        *map(np.array, medians), np.array(z), LEVEL / n,
    )  # fmt: skip


def test_equal_mechanisms_are_rarely_called_surely_different():
    # 400 comparisons at 20 k, of counts with many ties. With a chance of LEVEL each, more than
    # 44 would be found with a probability below 1e-6.
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(400):
        result = compared(rng.poisson(2, (20, 50)), rng.poisson(2, (20, 50)))
        found += np.any(result.surely_lower | result.surely_higher)
    assert binomial_tail(45, 400, LEVEL) < 1e-6
    assert found <= 44


def test_a_comparison_counts_what_is_lower_and_what_is_sure():
    ones, some = np.ones(50), 1.0 * (np.arange(50) >= 30)
    found = compared(
        [0 * ones, 2 * ones, np.arange(50), 9 * ones, 0 * ones],
        [0 * ones, 5 * ones, np.arange(50) + 1, ones, some],
    )
    assert found.open.tolist() == [False, True, True, True, True]
    assert found.lower.tolist() == [False, True, True, False, True]
    assert found.surely_lower.tolist() == [False, True, False, False, True]
    assert found.surely_higher.tolist() == [False, False, False, True, False]
    assert found.factor == pytest.approx((6 / 3 * 26.5 / 25.5 * 2 / 10) ** (1 / 3))
    other = found.reversed()
    assert other.higher.tolist() == found.lower.tolist()
    assert other.surely_higher.tolist() == found.surely_lower.tolist()


def test_factors_weigh_datasets_alike():
    found = cells([1, 1, 1], [3, 3, 7], datasets=["one", "one", "two"])
    assert found.factor == pytest.approx(math.sqrt(2 * 4))
    assert found.of("two").factor == pytest.approx(4)


def test_the_distribution_test_knows_equal_from_different():
    # Equal samples of 300: 200 tests at 5 %, of which more than 30 reject with p < 1e-6.
    rng = np.random.default_rng(2)
    rejected = sum(
        distribution_test(rng.normal(size=300), rng.normal(size=300)) <= 0.05 for _ in range(200)
    )
    assert binomial_tail(31, 200, 0.05) < 1e-6
    assert rejected <= 30
    assert distribution_test(rng.normal(size=300), rng.normal(0.5, size=300)) < 1e-3
    assert distribution_test([1, 2, 3], [1, 2, 3]) == 1
    # the tabulated 5 % point of the limit is 1.358
    n = 10**6
    shift = round(1.358 * math.sqrt(2 / n) * n)
    assert distribution_test(np.arange(n), np.arange(n) + shift) == pytest.approx(0.05, abs=1e-3)


def test_the_binomial_tail_is_exact():
    assert binomial_tail(0, 50, 0.01) == pytest.approx(1)
    assert binomial_tail(1, 50, 0.01) == pytest.approx(1 - 0.99**50)
    assert binomial_tail(2000, 2000, 0.5) == pytest.approx(0.5**2000)


# ---------------------------------------------------------------- worked examples


def enumerated(counts, k):
    """The loss of every sequence of k distinct items."""
    return [
        max(c - s for c, s in zip(counts, chosen, strict=False))
        for chosen in itertools.permutations(counts, k)
    ]


@pytest.mark.parametrize(("counts", "k"), [([10, 5, 1, 1], 2), ([7, 7, 5, 0], 2), ([3, 3], 1)])
def test_worked_examples_agree_with_enumeration(counts, k):
    values, sequences = np.unique(enumerated(counts, k), return_counts=True)
    weight = np.exp(-0.8 * np.array(enumerated(counts, k)) / 2)
    found = worked_examples.exponential(counts, k, 0.8)
    assert found[0].tolist() == values.tolist()
    assert found[1].tolist() == sequences.tolist()
    expected = [
        weight[np.array(enumerated(counts, k)) == value].sum() / weight.sum() for value in values
    ]
    assert found[2] == pytest.approx(expected, rel=1e-12)

    found = worked_examples.permute_and_flip(counts, k, 0.8)[2]
    chances = np.array(
        worked_examples.rejection([Fraction(float(x)) for x in weight], with_replacement=False),
        dtype=float,
    )
    expected = [chances[np.array(enumerated(counts, k)) == value].sum() for value in values]
    assert found == pytest.approx(expected, rel=1e-10)


def test_what_lemmas_are_checked_on_is_small_and_has_ties():
    assert any(len(set(counts)) < len(counts) for counts, _ in small_cases.CASES)
    assert any(k == len(counts) for counts, k in small_cases.CASES)
    for counts, k in small_cases.CASES:
        assert list(counts) == sorted(counts, reverse=True)
        assert math.perm(len(counts), k) <= 1000


@pytest.mark.parametrize(
    ("counts", "sequence", "users"),
    [((6, 4, 3), (1, 2), 0), ((6, 4, 3), (2, 1), 2), ((6, 4, 3), (1, 3), 1), ((6, 4, 3), (3,), 3)],
)
def test_users_that_make_a_sequence_the_true_one(counts, sequence, users):
    """Against a search over all ways to move each count."""

    def enough(n):
        """Can n users do it? Some are added; each of the others is removed."""
        for added in range(n + 1):
            moves = range(added - n, added + 1)
            for moved in itertools.product(moves, repeat=len(counts)):
                new = [c + m for c, m in zip(counts, moved, strict=True)]
                chosen = [new[item - 1] for item in sequence]
                others = [c for item, c in enumerate(new, start=1) if item not in sequence]
                if chosen == sorted(chosen, reverse=True) and chosen[-1] >= max(others):
                    return True
        return False

    assert small_cases.users_to_change(counts, sequence) == users
    assert enough(users)
    assert users == 0 or not enough(users - 1)


# ---------------------------------------------------------------- draws for the agreement


def test_the_agreement_table_has_the_losses_of_both_samplers(tmp_path):
    profile = np.array([9, 5, 1]), np.array([1, 2, 30])
    files = tmp_path / "tiny.csv", tmp_path / "tiny.json"
    write_profile(files[0], *profile)
    write_facts(files[1], *profile, dataset="tiny", source="file")
    setting = {"neighbors": "add-remove"}
    for name in ("a.csv", "b.csv"):
        agreement.write_agreement(
            tmp_path / name,
            [files],
            datasets=["tiny"],
            ks=[2, 4, 34],  # there are 33 items
            epsilon="1",
            draws=300,
            seed=2022,
            settings={m: {"mechanism": m, **setting} for m in ("joint", "joint_alg1")},
        )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    table = pd.read_csv(tmp_path / "a.csv")
    assert list(table) == list(agreement.HEADER)
    assert table.groupby(["k", "mechanism"]).size().to_dict() == {
        (k, m): 300 for k in (2, 4) for m in ("joint", "joint_alg1")
    }
    assert set(table["loss"]) == {0, 4, 8}
    tiny = pd.DataFrame([{"dataset": "tiny", "title": "Tiny", "status": "real", "d": 33}])
    results = Results(tiny, agreement=table)
    assert verdict("same-distribution-as-algorithm-1", results) == HOLDS
