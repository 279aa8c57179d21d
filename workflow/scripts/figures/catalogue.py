"""Every figure, one entry each: what it is drawn from, what it shows, its caption.

A new figure is an entry here and a function in drawing.py or ranking.py, nothing else. The rules
read this module whenever Snakemake starts, so it names the functions and imports no Matplotlib.
"""

from typing import NamedTuple

from workflow.scripts.data.status import STATUS

MARKED = ("from-figure", "stand-in")  # whose top counts are not the original's

TABLES = {
    "errors": "results/errors.csv",
    "missing": "results/missing.csv",
    "gaps": "results/gaps.csv",
    "histograms": "results/histograms.csv",
    "timing": "results/timing_summary.csv",
    "scaling": "results/scaling.csv",
    "winners": "results/winners.csv",
}


CONTRIBUTION_KS = (25, 95)  # the figure of contributions has the k nearest to these


class Figure(NamedTuple):
    """An entry.

    function: of drawing.py, which draws it from the tables and what the figure shows.
    tables: {argument: path} of the files that it is drawn from.
    shows: its other arguments, plain values: an edit to any of them draws the figure anew.
    caption: for the report.
    """

    function: str
    tables: dict
    shows: dict
    caption: str


def figures(plan):
    """{name: Figure} of all that the default run draws, without what this config cannot fill."""
    settings, ks = plan["figures"], plan["ks"]
    timing = plan["timing"]
    everyone = [name for name in plan["mechanisms"] if name not in settings["hidden_mechanisms"]]
    main = [name for name in everyone if name not in settings["appendix_mechanisms"]] or everyone
    pair = [name for name in ("joint", "pnf_joint") if name in everyone]
    rivals = [name for name in main if name not in pair]
    small = [k for k in ks if k <= settings["pnf_joint_max_k"]]
    runs = (
        f"{plan['trials']} trials for each k, epsilon = {plan.epsilon_texts[0]}, "
        f"delta = {plan['delta']:g} for the approximate mechanisms, {plan['neighbors']} "
        f"neighbours, seed {plan['seed']}. Line: median; band: quartiles; logarithmic axis"
    )

    def on(*datasets):
        return {"titles": titles(plan, datasets)}

    def lines(names, ks=ks):
        return {"labels": plan.labels(*names), "epsilon": float(plan.epsilon_texts[0]), "ks": ks}

    entries = {
        "figure-1-gaps-and-errors": Figure(
            function="gaps_and_errors",
            tables=tables("errors", "missing", "gaps"),
            shows=on(*plan.dataset_names) | lines(main),
            caption="Gaps between the largest counts, l-infinity and l1 error of each dataset. "
            f"{runs}, values padded by 1.",
        ),
        "figure-2-linf-index": settings["index_datasets"]
        and Figure(
            function="error_grid",
            tables=tables("errors", "missing"),
            shows=on(*settings["index_datasets"]) | lines(main) | {"metric": "linf_index"},
            caption=f"Place of the largest error in the sequence. {runs}.",
        ),
        "figure-3-time": timing["mechanisms"]
        and Figure(
            function="time_against_k",
            tables=tables("timing"),
            shows=on(timing["dataset"]) | {"labels": plan.labels(*timing["mechanisms"])},
            caption="Seconds for one call of select, which sorts the counts, prepares and draws, "
            f"alone on the machine; up to {timing['trials']} calls for each k, fewer where one "
            "takes seconds. Dashed with open markers: the published algorithms, in vectorised "
            "NumPy and not in the published Python. Solid: the samplers of this project for the "
            "same distributions, in the same colours.",
        ),
        "figure-4-histograms": Figure(
            function="histogram_grid",
            tables=tables("histograms"),
            shows=on(*plan.dataset_names),
            caption="How many items have which count.",
        ),
        "figure-5-k-relative": Figure(
            function="error_grid",
            tables=tables("errors", "missing"),
            shows=on(*plan.dataset_names) | lines(main) | {"metric": "k_relative"},
            caption=f"k-relative error. {runs}, values padded by 1.",
        ),
        "figure-6-all-mechanisms": Figure(
            function="all_metrics",
            tables=tables("errors", "missing"),
            shows=on(settings["all_mechanisms_dataset"]) | lines(everyone),
            caption="Every mechanism and every error of the paper on one dataset. "
            f"{runs}, values padded by 1 except the index.",
        ),
        "figure-7-pnf-joint": (len(pair) == 2 and small)
        and Figure(
            function="error_grid",
            tables=tables("errors", "missing"),
            shows=on(*plan.dataset_names) | lines([*pair, *rivals], small) | {"metric": "linf"},
            caption="l-infinity error of Joint and of its permute-and-flip form, for small k. "
            f"{runs}, values padded by 1.",
        ),
        "error-against-epsilon": len(plan.epsilon_texts) > 1
        and Figure(
            function="errors_against_epsilon",
            tables=tables("errors", "missing"),
            shows=on(*plan.dataset_names)
            | {"labels": plan.labels(*everyone), "k": settings["epsilon_figure_k"]},
            caption=f"Error against epsilon at k = {settings['epsilon_figure_k']}; "
            f"{plan['trials']} trials, seed {plan['seed']}.",
        ),
    }
    if plan["leaderboard"]:
        entries |= _of_the_field(plan, everyone, on(*plan.dataset_names))
    for name in plan.dataset_names:
        entries[f"datasets/{name}"] = Figure(
            function="dataset_page",
            tables={
                "errors": f"results/errors/{name}.csv",
                "missing": f"results/missing/{name}.csv",
                "counts": f"data/counts/{name}.csv",
                "facts": f"data/counts/{name}.json",
            }
            | ({"winners": f"results/winners/{name}.csv"} if plan["leaderboard"] else {}),
            shows=on(name)
            | lines(everyone)
            | (_maps(plan, everyone) if plan["leaderboard"] else {}),
            caption=f"All about one dataset. {runs} except for recall, errors padded by 1.",
        )
    return {name: entry for name, entry in entries.items() if entry}


def _of_the_field(plan, names, on):
    """The figures that compare all mechanisms at all epsilons."""
    ks, epsilons, first = plan["ks"], plan["epsilons"], plan["epsilons"][0]
    about = plan.ranked()
    approximate = [name for name in names if about[name]["guarantee"] == "approx"]
    lines = on | {"labels": plan.labels(*names), "approximate": approximate}
    pair = [name for name in ("joint", "pair") if name in names]
    bounded = {name: pairs for name, pairs in plan.bounded().items() if name in names}
    runs = f"{plan['trials']} trials, delta = {plan['delta']:g}, seed {plan['seed']}"
    return {
        "rivals": Figure(
            function="errors_by_dataset",
            tables=tables("errors", "missing"),
            shows=lines | {"ks": ks, "columns": [["linf", first], ["recall", first]]},
            caption=f"l-infinity error and recall of all mechanisms at epsilon = {first:g}; "
            f"{runs}. Mechanisms that give a set have a recall only.",
        ),
        "winners": Figure(
            function="winner_maps",
            tables=tables("winners"),
            shows=on | {"labels": plan.labels(*names), "ks": ks} | _maps(plan, names),
            caption="The mechanism with the smallest median error at each k and epsilon; pure and "
            "approximate mechanisms apart. Sequences are compared by l-infinity error, sets by "
            f"recall. Pale: a tie by a rank test; grey: nobody differs. {runs}.",
        ),
        "epsilon-needed": Figure(
            function="epsilon_needed",
            tables=tables("errors"),
            shows=lines | {"ks": ks} | _maps(plan, names),
            caption="The smallest epsilon at which the median selection is perfect: no error in "
            f"any place of the sequence, or no item missed. {runs}.",
        ),
        "contributions": bounded
        and Figure(
            function="against_contributions",
            tables=tables("errors"),
            shows=lines | {"epsilon": first, "ks": _near(CONTRIBUTION_KS, ks), "bounded": bounded},
            caption="Error against the number c of items that a user contributes to, for the "
            f"mechanisms that can use it, at epsilon = {first:g}; level lines: the others; {runs}.",
        ),
        "joint-and-pair": len(pair) == 2
        and Figure(
            function="errors_by_dataset",
            tables=tables("errors", "missing"),
            shows=on
            | {"labels": plan.labels(*pair), "approximate": [], "ks": ks}
            | {"columns": [["linf", e] for e in dict.fromkeys([first, min(epsilons)])]},
            caption="l-infinity error of the exponential mechanism with the paper's loss, Joint, "
            f"and with the true distance, Pair; {runs}. Gaps: Pair is not available there.",
        ),
    }


def _maps(plan, names):
    """The epsilons of a map, and which mechanisms were run at some of them only."""
    runs = {plan.labels(name)[name]: plan.epsilons_of(name) for name in names}
    limits = [
        f"{label} was run at \u03b5 = {' and '.join(some)} only."
        for label, some in runs.items()
        if some != plan.epsilon_texts
    ]
    return {"epsilons": plan["epsilons"], "limits": limits}


def _near(wanted, ks):
    """The k nearest to those wanted."""
    return list(dict.fromkeys(min(ks, key=lambda k: abs(k - each)) for each in wanted))


def scaling(plan):
    """The figure that has a target of its own, because its table takes a minute."""
    return Figure(
        function="scaling_panels",
        tables=tables("scaling"),
        shows={"labels": plan.labels(*plan["scaling"]["mechanisms"])},
        caption="Seconds for one call of select on generated counts.",
    )


def in_report(name):
    """Where the report has the picture of a figure, for Snakemake's `report`."""
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


def tables(*names):
    """The paths of tables that hold all datasets."""
    return {name: TABLES[name] for name in names}


def titles(plan, datasets):
    """How figures call each dataset; where its top counts are not the original's, that is said."""
    about = {name: plan.about()[name] for name in datasets}
    marks = {status: f" ({STATUS[status]})" for status in MARKED}
    return {name: each["title"] + marks.get(each["status"], "") for name, each in about.items()}
