"""The statements that compare no mechanisms cell by cell: a function each.

A function gets the Results of a run, and what statements.csv has in brackets after its name. It
returns an Outcome or raises NotChecked. They stand in the order of the paper.
"""

import functools
import itertools
import math

import numpy as np

from workflow.scripts.claims import words
from workflow.scripts.claims.evidence import PEELING, Outcome, need, short
from workflow.scripts.claims.words import LOW, SIX, SMALL, verdict
from workflow.scripts.results import comparing
from workflow.scripts.results.comparing import holm

THREE = ("joint", *PEELING)
CHECKS = {}  # functions by name
percent = "{:.0%}".format


def check(function):
    """Make a function known by its name, which statements.csv has."""
    CHECKS[function.__name__] = function
    return function


def check_on_foods_and_games(judge):
    """Judge each of the two datasets by a function that returns a verdict and what was found."""

    @check
    @functools.wraps(judge)
    def judge_both(results):
        results.require(SMALL, THREE)
        parts = {results.title(dataset): judge(results, dataset) for dataset in SMALL}
        found = "; ".join(f"{title}: {text}" for title, (_, text) in parts.items())
        return Outcome(words.together([one for one, _ in parts.values()]), found, SMALL)

    return judge_both


@check
def signed_loss_is_like_linf(results):
    loss, linf = (results.cells("joint", PEELING, SIX, [metric]) for metric in ("loss", "linf"))
    same = ((loss.win == linf.win) & (loss.loss == linf.loss)).mean()
    factors = np.array([(linf.a + 1) / (loss.a + 1), (linf.b + 1) / (loss.b + 1)])  # 1 or more
    near, far = (factors <= 1.25).mean(), (factors >= 2).mean()
    found = f"same outcome at {same:.0%} of {len(loss)} cells, medians within 1.25 at {near:.0%}"
    return Outcome(verdict(same >= 0.9 and near >= 0.8, same >= 0.75 and far <= 1 / 3), found, SIX)


@check
def utility_theorem(results):
    trials = results.table("trials")
    trials = trials[trials["mechanism"] == "joint"]
    there = len(trials) and results.neighbors == "add-remove"
    need(there, "This run has no trials of joint with add-remove neighbours.")
    d = trials["dataset"].map({name: facts["d"] for name, facts in results.facts.items()})
    bound = 2 * (trials["k"] * np.log(d) + 5) / trials["epsilon"]
    over = trials["loss"] > bound
    cells = over.groupby([trials[name] for name in ("dataset", "epsilon", "k")])
    chances = [comparing.binomial_tail(cell.sum(), len(cell), 0.01) for _, cell in cells]
    found = (
        f"beyond the bound in {over.sum():,} of {len(trials):,} trials, largest loss "
        f"{(trials['loss'] / bound).max():.0%} of it"
    )
    return Outcome(verdict(not holm(chances).any()), found, tuple(trials["dataset"].unique()))


@check
def size_is(results, dataset, size, listed="0"):
    """`listed`: the items that the source lists, where some of them have no count."""
    results.require([dataset])
    d, size, listed = int(results.facts[dataset]["d"]), int(size), int(listed)
    found = f"d = {d:,}" + (f", {listed:,} are listed, not all of them rated" if listed else "")
    if results.facts[dataset]["status"] in ("stand-in", "from-figure"):
        found += ", a number that the counts here were made to have"
    nearly = d < size <= max(listed, d / 0.98)
    return Outcome(verdict(size <= d < size + 1000, nearly), found, (dataset,))


@check
def range_of_sizes(results):
    results.require(SIX)
    d = {name: int(results.facts[name]["d"]) for name in SIX}
    least, most = min(d, key=d.get), max(d, key=d.get)
    truths = round(d[least], -3) == 5_000, round(d[most], -3) == 166_000, most == "foods"
    found = f"from {d[least]:,} ({results.title(least)}) to {d[most]:,} ({results.title(most)})"
    return Outcome(verdict(all(truths), any(truths)), found, SIX)


@check
def gaps_are_larger_on_four(results):
    gaps = results.table("gaps")
    results.require(SIX)
    medians = gaps[gaps["k"] <= 200].groupby("dataset")["gap"].median().reindex(SIX)
    found = f"median gaps {results.named(medians, '{:,.0f}'.format)}"
    return Outcome(verdict(*words.ordered(medians)), found, SIX)


def logs_above_zero(results, rival):
    """The logarithms of the ratios in ℓ∞ and in ℓ1, at the cells with all four medians above 0.

    Where Joint's medians are 0, a ratio is the rival's error + 1, which is larger in ℓ1 than in ℓ∞
    whatever the mechanisms do.
    """
    linf, l1 = (results.cells("joint", [rival], SIX, [metric]) for metric in ("linf", "l1"))
    there = np.min([linf.a, linf.b, l1.a, l1.b], axis=0) > 0
    need(there.any(), "This run has no cell with all medians above 0.")
    return np.log([linf.ratio[there], l1.ratio[there]])


@check
def linf_suits_joint_best(results):
    good, texts = [], []
    for rival in PEELING:
        cells = results.cells("joint", [rival], SIX, ["linf", "l1"])
        won = [part.told.won for part in cells.by("metric").values()]
        ratios = np.exp(logs_above_zero(results, rival).mean(axis=1))
        good += [won[0] > won[1] and ratios[0] > ratios[1]]
        numbers = " and ".join(map(percent, won)), " and ".join(map(short, ratios))
        texts += ["{}: won in ℓ∞ and ℓ1 {}, mean ratios {}".format(results.title(rival), *numbers)]
    return Outcome(verdict(all(good), any(good)), "; ".join(texts), SIX)


@check_on_foods_and_games
def linf_has_plateaus(results, dataset):
    ks = {name: k_on_plateaus(results.medians(dataset, name, "linf")) for name in THREE}
    joint, *rivals = ks.values()
    return verdict(joint > max(rivals), joint), results.named(ks, "at {} k".format)


def k_on_plateaus(medians):
    """How many k are within plateaus, of a series of medians over k."""
    parts = (medians.iloc[start : start + 4] for start in range(len(medians) - 3))
    flat = (p for p in parts if p.min() > 0 and p.max() + 1 <= 1.1 * (p.min() + 1))
    return len({k for part in flat for k in part.index})


@check_on_foods_and_games
def linf_depends_less_on_k(results, dataset):
    numbers = {}
    for name in THREE:
        medians = results.medians(dataset, name, "linf") + 1
        need(len(medians) >= 3, "This run has fewer than three k.")
        level = (np.abs(np.diff(medians)) <= 0.05 * medians.iloc[:-1]).mean()
        slope = abs(np.polyfit(np.log(medians.index), np.log(medians), 1)[0])
        kendall = np.mean([np.sign(b - a) for a, b in itertools.combinations(medians, 2)])
        numbers[name] = level, slope, kendall
    level, slope, kendall = zip(*numbers.values(), strict=True)
    by_steps = level[0] > max(level[1:]) and min(kendall[1:]) >= 0.9
    by_slope = slope[0] < min(slope[1:])
    text = results.named(numbers, lambda each: "{:.0%} and {:.2f}".format(*each))
    return verdict(by_steps and by_slope, by_steps or by_slope), f"level steps, slope: {text}"


def course(results, dataset, mechanism):
    """The positions of the largest loss over k, of the trials that have a loss.

    Returns the medians as {k: median}; those at the first k, the peak and the last as a text,
    '4 (k = 5) → 38.5 (k = 65) → 34 (k = 195)'; and the pairs of k between which positions rise
    significantly, and where they fall.
    """
    trials = results.trials_at[dataset, mechanism]
    found = {k: cell["linf_index"][cell["loss"] > 0] for k, cell in trials.items()}
    found = {k: values for k, values in found.items() if len(values)}
    need(len(found) >= 3, "This run has fewer than three k with an error.")
    medians = {k: np.median(values) for k, values in found.items()}
    ks = dict.fromkeys([min(medians), max(medians, key=medians.get), max(medians)])
    text = " → ".join(f"{medians[k]:g} (k = {k})" for k in ks)
    pairs = np.array(list(itertools.combinations(found, 2)))
    z = np.array([comparing.rank_z(found[a], found[b]) for a, b in pairs])
    told = holm([comparing.two_sided(x) for x in z])
    return medians, text, pairs[told & (z < 0)], pairs[told & (z > 0)]


@check_on_foods_and_games
def index_of_joint_is_monotone(results, dataset):
    medians, text, rises, falls = course(results, dataset, "joint")
    back = min(len(rises), len(falls)) / math.comb(len(medians), 2)
    steps = np.array([b / a for a, b in itertools.pairwise(medians.values())])
    steady = max((steps >= 0.9).mean(), (steps <= 1 / 0.9).mean())
    last = max([*rises[:, 0], *falls[:, 0]], default=0)
    level = min([k for k in medians if k > last], default=max(medians))
    text += f", {'rises' if len(rises) >= len(falls) else 'falls'}, then level from k = {level} on"
    text += f", {percent(back) if back else 'no'} reversal is significant"
    return verdict(not back and steady >= 17 / 19, back <= 0.05), text


@check
def index_of_peeling_rises_and_falls(results):
    results.require(SMALL, THREE)
    shown, texts = set(), []
    for dataset, name in itertools.product(SMALL, PEELING):
        _, text, rises, falls = course(results, dataset, name)
        turns = {*rises[:, 1]} & {*falls[:, 0]}
        shown |= {name} if turns else set()
        where = f"{results.title(dataset)}, {results.title(name)}"
        texts.append(f"{where}: {'yes' if turns else 'no'}, {text}")
    return Outcome(verdict(len(shown) == 2, shown), "; ".join(texts), SMALL)


@check_on_foods_and_games
def index_of_cdp_peel_turns_less(results, dataset):
    kept = {}
    for name in PEELING:
        medians, *_ = course(results, dataset, name)
        kept[name] = medians[max(medians)] / max(medians.values())
    holds = kept["pnf_peel"] < min(1, kept["cdp_peel"])
    return verdict(holds), f"left of the peak: {results.named(kept, percent)}"


@check
def l1_fits_slightly_less(results):
    linf, l1 = np.concatenate([logs_above_zero(results, rival) for rival in PEELING], axis=1)
    size = math.exp(np.mean(linf - l1))
    found = f"{short(size)} in the mean, at {len(l1)} cells"
    return Outcome(verdict(1.02 <= size <= 1.5, size > 1.5), found, SIX)


@check
def l1_may_be_high(results):
    linf, l1 = results.cells("joint", PEELING, SIX, ["linf", "l1"]).by("metric").values()
    both = linf[linf.win & l1.loss]
    found = f"at {len(both)} of {len(linf)} cells"
    if len(both):
        where = results.title(both.dataset[0]), results.title(both.rival[0])
        found += f", such as {', '.join(where)}, k = {both.k[0]}"
    return Outcome(verdict(len(both)), found, SIX)


@check
def grows_no_faster(results, mechanism, bound):
    dataset = results.table("timing")["dataset"].iloc[0]
    times = results.seconds(mechanism, dataset=dataset)[mechanism].loc[LOW[1] :]
    need(len(times) >= 2, f"This run has fewer than two times of {mechanism} for k from 45 on.")
    k, d = np.asarray(times.index, dtype=float), results.facts[dataset]["d"]
    bounds = {
        "d k log k + d log d": d * k * np.log(k) + d * np.log(d),
        "d k": d * k,
        "d + k log k": d + k * np.log(k),
    }
    slope, limit = (np.polyfit(np.log(k), np.log(t), 1)[0] for t in (times, bounds[bound]))
    found = f"slope {slope:.2f} for k from {k[0]:g} to {k[-1]:g}, that of {bound} is {limit:.2f}"
    return Outcome(verdict(slope <= limit + 0.3), found, (dataset,))


@check
def order_of_times(results):
    joint, pnf, cdp = results.seconds("joint_alg1", "pnf_peel_alg2", "cdp_peel_alg3").T.to_numpy()
    right = (joint > pnf) & (pnf > cdp)
    found = f"in order at {right.sum()} of {len(right)} k"
    return Outcome(verdict(right.all(), right.mean() >= 0.75), found, ("foods",))


@check
def time_of_the_published_algorithm(results):
    times = results.seconds("joint_alg1")["joint_alg1"]
    found = ", ".join(f"{seconds:.3g} s at k = {k}" for k, seconds in times.items())
    return Outcome(words.NOT_COMPARABLE, found, ("foods",))


@check
def k_relative_differs_little(results):
    cells = results.cells("joint", PEELING, SIX, ["k_relative"])
    alike = cells.each(lambda part: min(p.matching.mean() for p in part.by("rival").values()))
    number = sum(share >= 2 / 3 for share in alike.values())
    found = f"{number} datasets; shares of k that match: {results.named(alike, percent)}"
    return Outcome(verdict(number >= 3, number == 2), found, SIX)


def zeros(results):
    """On each dataset, the share of ℓ∞ medians that are essentially zero, of four mechanisms."""
    four, shares = (*THREE, "pnf_joint"), {}
    results.require(SIX, four)
    for dataset in SIX:
        medians = [results.medians(dataset, name, "linf").loc[: LOW[1]] for name in four]
        need(all(map(len, medians)), f"This run has no k up to {LOW[1]}.")
        shares[dataset] = np.concatenate([m <= 1 for m in medians]).mean()
    return shares


@check
def without_error_on_three(results):
    shares = zeros(results)
    zero, near = (sum(share >= bound for share in shares.values()) for bound in (1, 0.75))
    found = f"{zero} datasets; shares of medians: {results.named(shares, percent)}"
    return Outcome(verdict(zero == 3, zero in (2, 4) or near >= 3), found, SIX)


@check
def indistinguishable_on_the_others(results):
    others = tuple(name for name, share in zeros(results).items() if share < 1)
    need(others, "All errors are essentially zero on every dataset.")
    cells = results.cells("joint", ["pnf_joint"], others, ["linf"], LOW)
    found = f"{cells.significant.sum()} of {len(cells)} differ, {cells.matching.mean():.0%} match"
    return Outcome(words.judged("not different", cells), found, others)


@check
def same_distribution_as_algorithm_1(results):
    groups = results.table("agreement").groupby(["mechanism", "dataset", "k"])
    losses = groups["loss"].apply(np.array)
    pairs = zip(losses["joint"], losses["joint_alg1"], strict=True)
    chances = [comparing.distribution_test(a, b) for a, b in pairs]
    draws = sum(map(len, losses["joint"]))
    found = f"smallest p {min(chances):.2g} of {len(chances)} tests with {draws:,} draws of each"
    return Outcome(verdict(not holm(chances).any()), found, tuple(losses.index.unique("dataset")))


@check
def speed_up_over_algorithm_1(results):
    times = results.seconds("joint_alg1", "joint")
    ratio = times["joint_alg1"] / times["joint"]
    found = ", ".join(f"{value:,.0f} times at k = {k}" for k, value in ratio.items())
    return Outcome(verdict((ratio >= 10).all(), (ratio > 1).all()), found, ("foods",))
