"""The statements that compare no mechanisms cell by cell: a function each.

A function gets the Results of a run, and what statements.csv has in brackets after its name. It
returns an Outcome or raises NotChecked.
"""

import itertools
import math

import numpy as np

from workflow.scripts.claims import words
from workflow.scripts.claims.evidence import METRICS, PEELING, NotChecked, Outcome
from workflow.scripts.claims.words import HOLDS, SIX, SMALL, verdict
from workflow.scripts.results.comparing import (
    binomial_tail,
    distribution_test,
    holm,
    rank_z,
    two_sided,
)

THREE = ("joint", *PEELING)
FOUR = (*THREE, "pnf_joint")
LOW_K = 45  # the largest k of figure 7


def signed_loss_is_like_linf(results):
    loss, linf = (results.cells("joint", PEELING, SIX, [metric]) for metric in ("loss", "linf"))
    same = ((loss.win == linf.win) & (loss.loss == linf.loss)).mean()
    pairs = (linf.a, loss.a), (linf.b, loss.b)  # a loss is never above ℓ∞
    near = np.mean([error + 1 <= 1.25 * (signed + 1) for error, signed in pairs])
    found = f"same outcome at {same:.0%} of {len(loss)} cells, medians within 1.25 at {near:.0%}"
    return Outcome(verdict(same >= 0.9 and near >= 0.75, same >= 0.75), found, SIX)


def utility_theorem(results):
    trials = results.table("trials")
    trials = trials[trials["mechanism"] == "joint"]
    if trials.empty or results.neighbors != "add-remove":
        raise NotChecked("This run has no trials of joint with add-remove neighbours.")
    d = trials["dataset"].map(results.datasets.set_index("dataset")["d"])
    bound = 2 * (trials["k"] * np.log(d) + 5) / trials["epsilon"]
    over = trials["loss"] > bound
    cells = over.groupby([trials["dataset"], trials["epsilon"], trials["k"]]).agg(["sum", "size"])
    chances = [binomial_tail(int(beyond), int(n), 0.01) for beyond, n in cells.to_numpy()]
    found = (
        f"beyond the bound in {over.sum():,} of {len(trials):,} trials; largest loss "
        f"{(trials['loss'] / bound).max():.0%} of it"
    )
    return Outcome(verdict(not holm(chances).any()), found, tuple(trials["dataset"].unique()))


# ---------------------------------------------------------------- datasets


def size_is(results, dataset, size, listed="0"):
    """`listed`: the items that the source lists, where some of them have no count."""
    results.require([dataset])
    d, size, listed = int(results.facts[dataset]["d"]), int(size), int(listed)
    found = f"d = {d:,}" + (f"; {listed:,} are listed, not all of them rated" if listed else "")
    if results.facts[dataset]["status"] in ("stand-in", "from-figure"):
        found += ", a number that the counts here were made to have"
    nearly = d < size <= max(listed, d / 0.98)
    return Outcome(verdict(size <= d < size + 1000, nearly), found, (dataset,))


def range_of_sizes(results):
    results.require(SIX)
    d = {name: int(results.facts[name]["d"]) for name in SIX}
    least, most = min(d, key=d.get), max(d, key=d.get)
    truths = round(d[least], -3) == 5_000, round(d[most], -3) == 166_000, most == "foods"
    found = f"from {d[least]:,} ({results.title(least)}) to {d[most]:,} ({results.title(most)})"
    return Outcome(verdict(all(truths), any(truths)), found, SIX)


def gaps_are_larger_on_four(results):
    gaps = results.table("gaps")
    results.require(SIX)
    medians = gaps[gaps["k"] <= 200].groupby("dataset")["gap"].median().reindex(SIX)
    return Outcome(words.ordered(medians), results.named(medians, ",.0f"), SIX)


# ---------------------------------------------------------------- one metric against another


def above_zero(results, rival, *metrics):
    """The ratios of two metrics in the cells with all four medians above 0.

    Where Joint's medians are 0, a ratio is the rival's error + 1, which is larger in ℓ1 than in ℓ∞
    whatever the mechanisms do.
    """
    one, other = (results.cells("joint", [rival], SIX, [metric]) for metric in metrics)
    there = np.min([one.a, one.b, other.a, other.b], axis=0) > 0
    if not there.any():
        raise NotChecked("This run has no cell with all medians above 0.")
    return one.ratio[there], other.ratio[there]


def linf_suits_joint_best(results):
    cells = results.cells("joint", PEELING, SIX, list(METRICS))
    won = {
        (rival, metric): cells.win[(cells.rival == rival) & (cells.metric == metric)].mean()
        for rival in PEELING
        for metric in METRICS
    }
    larger = {
        (rival, metric): np.mean(np.greater(*above_zero(results, rival, "linf", metric)))
        for rival in PEELING
        for metric in ("l1", "k_relative")
    }
    good = {key: won[key[0], "linf"] >= won[key] and larger[key] >= 0.75 for key in larger}
    than_l1 = [good[rival, "l1"] for rival in PEELING]
    one_rival = any(all(good[key] for key in good if key[0] == rival) for rival in PEELING)
    half = all(larger[rival, "l1"] >= 0.5 for rival in PEELING)
    found = "; ".join(
        f"{results.label(rival)}: cells won "
        + ", ".join(f"{name} {won[rival, metric]:.0%}" for metric, name in METRICS.items())
        + ", larger ratio than in "
        + ", ".join(
            f"{METRICS[m]} at {share:.0%}" for (r, m), share in larger.items() if r == rival
        )
        for rival in PEELING
    )
    return Outcome(verdict(all(good.values()), all(than_l1) or one_rival or half), found, SIX)


def l1_fits_slightly_less(results):
    parts = {rival: np.log(above_zero(results, rival, "linf", "l1")) for rival in PEELING}
    size = math.exp(np.mean(np.concatenate([linf - l1 for linf, l1 in parts.values()])))
    found = "; ".join(
        f"{results.label(rival)} mean ratios ℓ∞ {linf:.3g}, ℓ1 {l1:.3g} ({len(logs[0])} cells)"
        for rival, logs in parts.items()
        for linf, l1 in [np.exp(logs.mean(axis=1))]
    )
    return Outcome(verdict(1 < size <= 1.5, size > 1), f"{size:.3g} in the mean; {found}", SIX)


def l1_may_be_high(results):
    cells = results.cells("joint", PEELING, SIX, ["linf", "l1"])
    linf, l1 = (cells[cells.metric == metric] for metric in ("linf", "l1"))
    both = linf[linf.win & l1.loss]
    found = f"at {len(both)} of {len(linf)} cells"
    for dataset, rival, k in list(zip(both.dataset, both.rival, both.k, strict=True))[:1]:
        found += f", such as {results.title(dataset)}, {results.label(rival)}, k = {k}"
    return Outcome(verdict(len(both)), found, SIX)


def k_relative_differs_little(results):
    cells = results.cells("joint", PEELING, SIX, ["k_relative"])
    alike = {
        rival: {name: part.matching.mean() for name, part in part.by_dataset().items()}
        for rival in PEELING
        for part in [cells[cells.rival == rival]]
    }
    found = "; ".join(
        f"{results.label(rival)} matched at {results.named(shares, '.0%')}"
        for rival, shares in alike.items()
    )
    little = np.array([list(shares.values()) for shares in alike.values()]) >= 0.5
    both, either = little.all(axis=0).sum(), little.sum(axis=1).max()
    return Outcome(verdict(both >= 3, both == 2 or either >= 3), f"{both} datasets; {found}", SIX)


# ---------------------------------------------------------------- Foods and Games, along k


def on_foods_and_games(results, judge):
    """Judge each of the two, after the medians or positions of three mechanisms at some k."""
    results.require(SMALL, THREE)
    parts = {name: judge(name) for name in SMALL}
    found = "; ".join(f"{results.title(name)}: {text}" for name, (_, text) in parts.items())
    verdicts = {one for one, _ in parts.values()}
    return Outcome(verdict(verdicts == {HOLDS}, verdicts != {words.DOES_NOT_HOLD}), found, SMALL)


def k_on_plateaus(medians):
    """How many k are within plateaus, of a series of medians over k."""
    found = set()
    for start in range(len(medians) - 3):
        part = medians.iloc[start : start + 4]
        if part.min() > 0 and part.max() + 1 <= 1.1 * (part.min() + 1):
            found |= set(part.index)
    return len(found)


def linf_has_plateaus(results):
    def judge(dataset):
        ks = {name: k_on_plateaus(results.medians(dataset, name, "linf")) for name in THREE}
        text = ", ".join(f"{results.label(name)} at {n} k" for name, n in ks.items())
        return verdict(all(ks["joint"] > ks[name] for name in PEELING), ks["joint"]), text

    return on_foods_and_games(results, judge)


def linf_depends_less_on_k(results):
    results.require(SMALL, THREE)

    def slopes(chosen):
        """{(dataset, mechanism): slope}, at all k or where all three medians are above 0."""
        found = {}
        for dataset in SMALL:
            medians = {name: results.medians(dataset, name, "linf") for name in THREE}
            there = np.all([chosen(m) for m in medians.values()], axis=0)
            if there.sum() < 3:
                raise NotChecked("This run has fewer than three k with an error.")
            for name, values in medians.items():
                logs = np.log(values.index[there]), np.log(values[there] + 1)
                found[dataset, name] = abs(np.polyfit(*logs, 1)[0])
        more = sum(found[d, name] > found[d, "joint"] for d in SMALL for name in PEELING)
        return found, verdict(more == 4, more >= 2)

    found, judged = slopes(lambda medians: medians >= 0)
    text = "; ".join(
        f"{results.title(d)}: " + ", ".join(f"{results.label(m)} {found[d, m]:.2f}" for m in THREE)
        for d in SMALL
    )
    _, other = slopes(lambda medians: medians > 0)
    text += f"; fragile: {other} at the k with medians above 0" * (other != judged)
    return Outcome(judged, f"slopes {text}", SMALL)


def positions(results, dataset, mechanism):
    """{k: positions of the largest loss}, of the trials that have a loss."""
    found = {
        k: cell["linf_index"][cell["loss"] > 0]
        for k, cell in results.trials_of(dataset, mechanism).items()
    }
    found = {k: values for k, values in found.items() if len(values)}
    if len(found) < 3:
        raise NotChecked("This run has fewer than three k with an error.")
    return found


def moves(found):
    """The pairs of k between which the position rises significantly, and where it falls."""
    pairs = list(itertools.combinations(found, 2))
    z = [rank_z(found[a], found[b]) for a, b in pairs]
    told = [
        (pair, x) for pair, x, t in zip(pairs, z, holm([two_sided(x) for x in z]), strict=True) if t
    ]
    return [pair for pair, x in told if x < 0], [pair for pair, x in told if x > 0]


def course(found):
    """'4 (k = 5) → 38.5 (k = 65) → 34 (k = 195)': the median at the first k, the peak, the last."""
    medians = {k: np.median(values) for k, values in found.items()}
    ks = dict.fromkeys([min(medians), max(medians, key=medians.get), max(medians)])
    return medians, " → ".join(f"{medians[k]:g} (k = {k})" for k in ks)


def index_of_joint_is_monotone(results):
    def judge(dataset):
        found = positions(results, dataset, "joint")
        medians, text = course(found)
        pairs = list(itertools.combinations(medians.values(), 2))
        tau = np.mean([np.sign(b - a) for a, b in pairs])
        rises, falls = moves(found)
        against = len(falls if tau > 0 else rises)
        level = min([k for k in found if all(a < k for a, _ in rises + falls)], default=max(found))
        one = verdict(
            not against and abs(tau) >= 0.7, against <= 0.05 * len(pairs) and abs(tau) >= 0.3
        )
        return one, (
            f"{text}, τ = {tau:.2f}; {len(rises)} significant rises and {len(falls)} falls between "
            f"the {len(pairs)} pairs of k, none from k = {level} on"
        )

    return on_foods_and_games(results, judge)


def index_of_peeling_rises_and_falls(results):
    results.require(SMALL, THREE)
    shown, texts = dict.fromkeys(PEELING, False), []
    for dataset, name in itertools.product(SMALL, PEELING):
        found = positions(results, dataset, name)
        rises, falls = moves(found)
        turns = bool({b for _, b in rises} & {a for a, _ in falls})
        shown[name] |= turns
        where = f"{results.title(dataset)}, {results.label(name)}"
        texts.append(f"{where}: {'yes' if turns else 'no'}, {course(found)[1]}")
    return Outcome(verdict(all(shown.values()), any(shown.values())), "; ".join(texts), SMALL)


def index_of_cdp_peel_turns_less(results):
    def judge(dataset):
        kept = {}
        for name in PEELING:
            medians, _ = course(positions(results, dataset, name))
            kept[name] = medians[max(medians)] / max(medians.values())
        text = ", ".join(f"{results.label(name)} {share:.0%}" for name, share in kept.items())
        return verdict(kept["pnf_peel"] < min(1, kept["cdp_peel"])), f"left of the peak: {text}"

    return on_foods_and_games(results, judge)


# ---------------------------------------------------------------- time


def grows_no_faster(results, mechanism, bound):
    times = results.seconds(mechanism)[mechanism]
    times = times[times.index >= LOW_K]
    if len(times) < 2:
        raise NotChecked(f"This run has fewer than two times of {mechanism} for k from 45 on.")
    (dataset,) = results.timing["dataset"].unique()
    k, d = np.asarray(times.index, dtype=float), results.facts[dataset]["d"]
    bounds = {
        "d k log k + d log d": d * k * np.log(k) + d * np.log(d),
        "d k": d * k,
        "d + k log k": d + k * np.log(k),
    }
    slope, limit = (np.polyfit(np.log(k), np.log(t), 1)[0] for t in (times, bounds[bound]))
    found = f"slope {slope:.2f} for k from {k[0]:g} to {k[-1]:g}, that of {bound} is {limit:.2f}"
    return Outcome(verdict(slope <= limit + 0.3), found, (dataset,))


def order_of_times(results):
    order = ("joint_alg1", "pnf_peel_alg2", "cdp_peel_alg3")
    times = results.seconds(*order, dataset="foods")
    right = (times[order[0]] > times[order[1]]) & (times[order[1]] > times[order[2]])
    last = ", ".join(f"{results.label(m)} {times[m].iloc[-1]:.3g} s" for m in order)
    found = f"in order at {right.sum()} of {len(times)} k; at k = {times.index[-1]} {last}"
    return Outcome(verdict(right.all(), right.mean() >= 0.75), found, ("foods",))


def time_of_the_published_algorithm(results):
    times = results.seconds("joint_alg1", dataset="foods")["joint_alg1"]
    found = ", ".join(f"{seconds:.3g} s at k = {k}" for k, seconds in times.items())
    return Outcome(words.NOT_COMPARABLE, found, ("foods",))


def speed_up_over_algorithm_1(results):
    times = results.seconds("joint_alg1", "joint", dataset="foods")
    ratio = times["joint_alg1"] / times["joint"]
    found = ", ".join(f"{value:,.0f} times at k = {k}" for k, value in ratio.items())
    return Outcome(verdict((ratio >= 10).all(), (ratio > 1).all()), found, ("foods",))


# ---------------------------------------------------------------- appendix D


def zeros(results):
    """On each dataset, the share of ℓ∞ medians that are essentially zero, of four mechanisms."""
    results.require(SIX, FOUR)
    shares = {}
    for dataset in SIX:
        medians = [results.medians(dataset, name, "linf").loc[:LOW_K] for name in FOUR]
        if not all(map(len, medians)):
            raise NotChecked(f"This run has no k up to {LOW_K}.")
        shares[dataset] = np.concatenate([m <= 1 for m in medians]).mean()
    return shares


def without_error_on_three(results):
    shares = zeros(results)
    zero, near = (sum(share >= bound for share in shares.values()) for bound in (1, 0.75))
    found = f"{zero} datasets; shares of medians: {results.named(shares, '.0%')}"
    return Outcome(verdict(zero >= 3, zero == 2 or near >= 3), found, SIX)


def indistinguishable_on_the_others(results):
    others = tuple(name for name, share in zeros(results).items() if share < 1)
    if not others:
        raise NotChecked("All errors are essentially zero on every dataset.")
    cells = results.cells("joint", ["pnf_joint"], others, ["linf"], (1, LOW_K))
    found = (
        f"{cells.significant.sum()} of {len(cells)} cells significantly different, "
        f"{cells.matching.mean():.0%} match, mean ratio {cells.mean_ratio:.3g}"
    )
    return Outcome(words.not_different(cells), found, others)


# ---------------------------------------------------------------- this project


def same_distribution_as_algorithm_1(results):
    chances, draws, datasets = [], 0, set()
    for (dataset, _), cell in results.table("agreement").groupby(["dataset", "k"]):
        a, b = (cell.loc[cell["mechanism"] == m, "loss"] for m in ("joint", "joint_alg1"))
        chances.append(distribution_test(a, b))
        draws += len(a)
        datasets.add(dataset)
    found = f"smallest p {min(chances):.2g} of {len(chances)} tests with {draws:,} draws of each"
    return Outcome(verdict(not holm(chances).any()), found, tuple(sorted(datasets)))
