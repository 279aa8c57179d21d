"""Every figure, one entry each: what it is drawn from, what it shows, its caption.

A new figure is an entry here and one in FIGURES of drawing.py, which has the function that draws
it. The rules read this module whenever Snakemake starts, so it imports no Matplotlib.
"""

from typing import NamedTuple

from workflow.scripts.data.describe import STATUS

MARKED = ("from-figure", "stand-in")  # whose top counts are not the original's

OF_THE_PAPER = ("linf", "l1", "k_relative", "linf_index", "recall")
CONTRIBUTION_KS = (25, 95)  # the figure of contributions has the k nearest to these
WITH_LIST = ("joint", "rdp_peel")  # whom the mechanisms without a list of items are compared with


class Figure(NamedTuple):
    """An entry."""

    tables: dict  # {argument: path} of the files that it is drawn from
    shows: dict  # other arguments of its function, plain values: one that changes draws it again
    caption: str  # for the report


def figures(plan):
    """{name: Figure} of all that the default run draws, without what this config cannot fill."""
    settings, ks, timing = plan["figures"], plan["ks"], plan["timing"]
    every, ranked, large = plan.dataset_names, plan.ranked(), settings["epsilon_figure_k"]
    # What may hold fewer than k items is compared in a figure of its own.
    complete = [name for name in ranked if not ranked[name]["output"].startswith("partial")]
    everyone = complete or list(ranked)
    main = [name for name in everyone if name not in settings["appendix_mechanisms"]] or everyone
    # PNF-Joint has a figure of its own, as in the paper.
    baselines = [name for name in everyone if name != "pnf_joint"] or everyone
    joint_forms = ["joint", "pnf_joint"]
    small = [k for k in ks if k <= settings["pnf_joint_max_k"]]
    runs = (
        f"{plan['trials']} trials for each k, epsilon = {plan.epsilon_texts[0]}, "
        f"delta = {plan['delta']:g} for the approximate mechanisms, {plan['neighbors']} "
        f"neighbours, seed {plan['seed']}. Line: median; band: quartiles; logarithmic axis"
    )
    errors = tables("errors", "missing")
    entries = {
        "figure-1-gaps-and-errors": Figure(
            tables("errors", "missing", "gaps"),
            _errors(plan, main, every, ["gap", "linf", "l1"]),
            "Gaps between the largest counts, l-infinity and l1 error of each dataset. "
            f"{runs}, values padded by 1. Shaded: differences too small to be known.",
        ),
        "figure-2-linf-index": settings["index_datasets"]
        and Figure(
            errors,
            _errors(plan, main, settings["index_datasets"], ["linf_index"], unresolved={}),
            f"Place of the largest error in the sequence, 1 where there is none. {runs}.",
        ),
        "figure-3-time": timing["mechanisms"]
        and Figure(
            tables("timing_summary"),
            {
                "titles": titles(plan, [timing["dataset"]]),
                "labels": plan.labels(*timing["mechanisms"]),
            },
            "Seconds for one call of select, which sorts the counts, prepares and draws, with "
            f"nothing else running; up to {timing['trials']} calls for each k, fewer where one "
            "takes seconds. Open markers: the published algorithms, rewritten in vectorised "
            "NumPy. Filled markers: the samplers of this project for the same distributions, in "
            "the same colours.",
        ),
        "figure-4-histograms": Figure(
            tables("histograms"),
            {"titles": titles(plan, every), "modelled": _known(plan, "modelled_below", every)},
            "How many items have which count. Hatched: counts that are modelled, not counted.",
        ),
        "figure-5-k-relative": Figure(
            errors,
            _errors(plan, main, every, ["k_relative"]),
            f"k-relative error. {runs}, values padded by 1.",
        ),
        "figure-6-all-mechanisms": Figure(
            errors,
            _errors(plan, baselines, [settings["all_mechanisms_dataset"]], OF_THE_PAPER[:3]),
            "The three errors of the paper, with Laplace and Gamma as further baselines, on one "
            f"dataset. {runs}, values padded by 1.",
        ),
        "figure-7-pnf-joint": ({*joint_forms} <= {*everyone} and small)
        and Figure(
            errors,
            _errors(plan, [*joint_forms, *main], every, ["linf"], ks=small),
            "l-infinity error of Joint and of its permute-and-flip form, for small k. "
            f"{runs}, values padded by 1.",
        ),
        "error-against-epsilon": len(plan["epsilons"]) > 1
        and Figure(
            errors,
            _errors(
                plan,
                everyone,
                every,
                ["linf", "l1"],
                ks=[large],
                x="epsilon",
                epsilons=plan["epsilons"],
                unresolved={},
            ),
            f"Error against epsilon at k = {large}; {plan['trials']} trials, seed {plan['seed']}.",
        ),
    }
    winners, maps = [], {}
    if plan["leaderboard"]:
        entries |= _of_the_field(plan, complete)
        winners, maps = ["winners"], _maps(plan, everyone)
    for name in every:
        modelled = _known(plan, "modelled_below", [name])
        profile = {"counts": f"data/counts/{name}.csv", "facts": f"data/counts/{name}.json"}
        entries[f"datasets/{name}"] = Figure(
            profile | tables("errors", "missing", *winners, of=f"/{name}"),
            _errors(plan, everyone, [name], OF_THE_PAPER, modelled=modelled, **maps),
            f"All about one dataset. {runs} except for recall, errors padded by 1. Hatched or "
            "shaded: what is modelled, or too small to be known.",
        )
    return {name: entry for name, entry in entries.items() if entry}


def _of_the_field(plan, names):
    """The figures that compare all mechanisms at all epsilons."""
    ks, every, first = plan["ks"], plan.dataset_names, plan["epsilons"][0]
    about, epsilons = plan.ranked(), list(dict.fromkeys([first, min(plan["epsilons"])]))
    groups = {
        guarantee: plan.labels(*(name for name in names if about[name]["guarantee"] == guarantee))
        for guarantee in ("pure", "approx")
    }
    on = {"titles": titles(plan, every)}
    best = on | {"groups": groups, "delta": plan["delta"], "epsilon": first}
    bounded = {name: variants for name, variants in plan.bounded().items() if name in names}
    nearest = sorted({min(ks, key=lambda k: abs(k - near)) for near in CONTRIBUTION_KS})
    unlisted = [name for name in about if not plan.mechanism(name).needs_domain]
    compared = unlisted + [name for name in WITH_LIST if name in names]
    runs = f"{plan['trials']} trials, delta = {plan['delta']:g}, seed {plan['seed']}"
    errors, metrics = tables("errors", "missing"), ["returned", "missed", "linf"]
    entries = {
        "rivals": Figure(
            errors,
            best | {"ks": ks},
            f"l-infinity error and share of the top k missed at epsilon = {first:g}, for the best "
            f"mechanisms of each guarantee; {runs}.",
        ),
        "winners": Figure(
            tables("winners"),
            on | {"labels": plan.labels(*names), "ks": ks} | _maps(plan, names),
            "The mechanism with the smallest median error at each k and epsilon, where a rank test "
            "tells it from all others; pure and approximate mechanisms apart. Sequences are "
            f"compared by l-infinity error, sets by recall. White: a tie. {runs}.",
        ),
        "epsilon-needed": Figure(
            tables("errors"),
            on | {"groups": groups, "ks": ks} | _maps(plan, names),
            "The smallest epsilon at which the median selection is perfect: no error in "
            f"any place of the sequence, or no item missed. Hatched: not run. {runs}.",
        ),
        "contributions": bounded
        and Figure(
            tables("errors"),
            best | {"ks": nearest, "bounded": bounded},
            "Error against the number c of items that a user contributes to, for the "
            f"mechanisms that can use it, at epsilon = {first:g}; level lines: the best of the "
            f"others; {runs}.",
        ),
        "joint-and-pair": {"joint", "pair"} <= {*plan["mechanisms"]}
        and Figure(
            errors,
            _errors(plan, ["joint", "pair"], every, ["linf"], epsilons=epsilons, unresolved={}),
            "l-infinity error of the exponential mechanism with the paper's loss, Joint, "
            f"and with the true distance, Pair; {runs}. Gaps: Pair is not available there.",
        ),
    }
    for epsilon in epsilons if unlisted else ():
        entries["no-list" if epsilon == first else "no-list-small-epsilon"] = Figure(
            errors,
            _errors(plan, compared, every, metrics, epsilons=[epsilon], unresolved={}),
            "Mechanisms that need no list of items, compared with Joint and RDP-Peel, which need "
            "one: items returned, share of the top k missed and l-infinity error at epsilon = "
            f"{epsilon:g}; {runs}.",
        )
    return entries


def _errors(plan, names, datasets, metrics, **changes):
    """What a figure of errors shows, at the first epsilon and at all k unless changed."""
    about, labels = plan.about_mechanisms(), plan.labels(*names)
    weaker = [name for name in names if about[name]["guarantee"] == "approx"]
    return {
        "titles": titles(plan, datasets),
        "labels": labels | {name: f"{labels[name]} (approximate)" for name in weaker},
        "delta": plan["delta"] if weaker else 0,
        "metrics": metrics,
        "epsilons": plan["epsilons"][:1],
        "ks": plan["ks"],
        "unresolved": _known(plan, "resolution", datasets),
    } | changes


def _maps(plan, names):
    """The epsilons of a map, and which mechanisms were run at some of them only."""
    limits = {
        label: list(map(float, plan.epsilons_of(name)))
        for name, label in plan.labels(*names).items()
        if plan.epsilons_of(name) != plan.epsilon_texts
    }
    return {"epsilons": plan["epsilons"], "limits": limits}


def _known(plan, key, datasets):
    """{dataset: number} of what the config says about how far its counts are known."""
    about = plan.about()
    return {name: about[name][key] for name in datasets if about[name].get(key)}


def titles(plan, datasets):
    """The name of each dataset in figures, which says where top counts are not the original's."""
    about, marks = plan.about(), {status: f" ({STATUS[status]})" for status in MARKED}
    return {name: about[name]["title"] + marks.get(about[name]["status"], "") for name in datasets}


def scaling(plan):
    """The figure that has a target of its own, because its table takes a minute."""
    return Figure(
        tables("scaling"),
        {"labels": plan.labels(*plan["scaling"]["mechanisms"])},
        "Seconds for one call of select on generated counts.",
    )


def tables(*names, of=""):
    """The paths of tables that hold all datasets, or `of` one: "/DATASET"."""
    return {name: f"results/{name}{of}.csv" for name in names}


def in_report(name):
    """Where the report has the page of a figure, for Snakemake's `report`."""
    folder, _, shows = name.rpartition("/")
    return {
        "caption": "../report/figure.rst",  # from the rules; it takes the captions from the entries
        "category": "Datasets" if folder else "Figures",
        "labels": {"shows": shows},
    }


def entries(figures, *names):
    """What a job needs to know of the figures that it draws."""
    return {name: figures[name]._asdict() for name in names}


def files_of(figures, *names):
    """The tables that these figures are drawn from, each once."""
    return sorted({path for name in names for path in figures[name].tables.values()})
