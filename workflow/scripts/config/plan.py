"""What is to be made: the checked config, and the jobs and files that follow from it.

The rules stay free of logic; this module can be called and tested without Snakemake.
"""

import hashlib
import itertools
import json
import math
import os
from pathlib import Path

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config.check import check, epsilon_text
from workflow.scripts.config.code import imported_files
from workflow.scripts.data.profiles import read_facts

# What a job of trials makes: the trials of its cells, and the cells that could not be run.
CELLS = "results/trials/{dataset}/{mechanism}/epsilon={epsilon}_ks={ks}_trials={first}-{last}.csv"
MISSING = CELLS.replace(".csv", ".missing.csv")

TABLES = (
    "errors", "trials", "missing", "datasets", "gaps", "histograms", "timing", "timing_summary",
    "agreement", "claims",
)  # fmt: skip
PAGES = ("claims.md", "claims.html", "datasets.html", "explorer.html", "config.yaml")
RANKING = ("leaderboard.csv", "leaderboard.html", "winners.csv")


class Plan:
    """A checked config and what follows from it."""

    def __init__(self, config, root, mark=str, **further):
        """Check the config; `further` are options of `check`.

        mark: what the rules do to the path of a file that exists before the run begins.
        """
        self.root, self.mark = Path(root), mark
        self.config = check(config, self.root, **further)
        self.dataset_names = list(self.config["datasets"])
        self.epsilon_texts = [epsilon_text(epsilon) for epsilon in self.config["epsilons"]]

    def __getitem__(self, key):
        return self.config[key]

    def here(self, *paths):
        """Paths of files of the project, wherever the working directory is."""
        return [self.mark(str(self.root / path)) for path in paths]

    # -------------------------------------------------------------- data

    def origin(self, name):
        """Input files of a dataset: where its counts come from, and what to compare them with."""
        dataset, (embedded,) = self["datasets"][name], self.here(f"data/embedded/{name}.csv")
        if dataset["source"] == "file":
            return {"raw": self.mark(dataset["file"])}
        if dataset["source"] == "embedded":
            return {"raw": embedded}
        raw = {"raw": f"data/raw/{name}/verified/{dataset['download']['filename']}"}
        # A downloaded original is compared with the embedded profile where that is real.
        known = dataset["status"] == "real" and Path(embedded).exists()
        return raw | {"embedded": embedded} if known else raw

    def about(self):
        """What the config says of each dataset, apart from where its counts come from.

        A downloaded original is real, and nothing of it is modelled.
        """
        said = ("title", "status", "modelled_below", "resolution")
        return {
            name: {"title": dataset["title"], "status": "real"}
            if dataset["source"] == "download"
            else {key: dataset[key] for key in said if key in dataset}
            for name, dataset in self["datasets"].items()
        }

    # -------------------------------------------------------------- mechanisms

    def variant(self, name):
        """What is behind a name of the config: mechanism, options, epsilons and label."""
        defaults = {"mechanism": name, "options": {}, "epsilons": self["epsilons"]}
        variant = defaults | self["variants"].get(name, {})
        return {"label": mechanisms.get(variant["mechanism"]).label} | variant

    def mechanism(self, name):
        return mechanisms.get(self.variant(name)["mechanism"])

    def labels(self, *names):
        """The names of the mechanisms in figures."""
        return {name: self.variant(name)["label"] for name in names}

    def setting(self, name):
        """The mechanism behind a name, and what else its `prepare` gets than counts, k and epsilon.

        delta is there only where the mechanism looks at it.
        """
        variant = self.variant(name)
        setting = {"mechanism": variant["mechanism"], "neighbors": self["neighbors"]}
        if self.mechanism(name).guarantee == "approx":
            setting["delta"] = self["delta"]
        return setting | variant["options"]

    def settings(self, *names):
        return {name: self.setting(name) for name in names}

    def about_mechanisms(self):
        """What the mechanisms of this run guarantee, and what they give."""
        pure = self["delta"] == 0  # which the check allows only where all mechanisms are, then
        run = {name: self.mechanism(name) for name in self["mechanisms"]}
        return {
            name: {"guarantee": "pure" if pure else mechanism.guarantee, "output": mechanism.output}
            for name, mechanism in run.items()
        }

    def ranked(self):
        """`about_mechanisms` of those that are compared with each other."""
        hidden = self["figures"]["hidden_mechanisms"]
        return {n: about for n, about in self.about_mechanisms().items() if n not in hidden}

    def partial(self):
        """Whether a mechanism of this run may give fewer than k items."""
        return any(self.mechanism(name).output.startswith("partial") for name in self["mechanisms"])

    def bounded(self):
        """{mechanism: [[c, name of its variant for users with at most c items], ...]}.

        The mechanism itself is the last of them: its users may contribute to all items.
        """
        found = {}
        for name in self["mechanisms"]:
            variant = self.variant(name)
            mechanism, options = variant["mechanism"], variant["options"]
            if list(options) == ["contributions"] and name != mechanism:
                found.setdefault(mechanism, []).append([options["contributions"], name])
        return {name: [*sorted(pairs), ["all", name]] for name, pairs in found.items()}

    def epsilons_of(self, name):
        """The epsilons, as texts, at which a mechanism is run."""
        given = self.variant(name)["epsilons"]
        return [epsilon for epsilon in self.epsilon_texts if float(epsilon) in given]

    # -------------------------------------------------------------- trials

    def chunks(self):
        """The k of each job, by the name that its files have: {"5-195": [5, ..., 195]}."""
        ks, size = self["ks"], self["cells_per_job"]
        size = len(ks) if size == "all" else size
        chunks = [ks[first : first + size] for first in range(0, len(ks), size)]
        return {f"{chunk[0]}-{chunk[-1]}": chunk for chunk in chunks}

    def jobs(self, dataset):
        """One dict for each job of a dataset's trials, in the order of the config."""
        size, trials, jobs = self["trials_per_job"], self["trials"], []
        runs = [(name, text) for name in self["mechanisms"] for text in self.epsilons_of(name)]
        firsts = range(1, trials + 1, size)
        chunks = self.chunks().items()
        for (mechanism, text), (chunk, ks), first in itertools.product(runs, chunks, firsts):
            last = min(first + size - 1, trials)
            job = {"mechanism": mechanism, "epsilon": text, "first": first, "last": last}
            names = job | {"dataset": dataset, "ks": chunk}
            files = {"cells": CELLS.format(**names), "missing": MISSING.format(**names)}
            jobs.append(job | {"ks": ks} | files)
        return jobs

    def memory_mb(self, name, k, counts, facts, written_out=False):
        """Memory that a job needs for a mechanism, from what is known of its counts.

        On a cluster two Snakemake processes wait beside the job; that is the first term. Profiles
        take some 85 bytes for each distinct count, which is about 10 bytes of the file. Written
        out, d counts are held a few times.
        """
        try:
            d = read_facts(facts)["d"]
        except InputError:
            d = 0  # the job says what is wrong with the file
        extra = self.mechanism(name).extra_memory(d, k) + (50 * d if written_out else 0)
        return 500 + (12 * os.path.getsize(counts) + extra) // 10**6

    def trial_minutes(self, name, ks, first, last):
        """Minutes that the cells of a job take at most."""
        preparing = self.mechanism(name).extra_seconds
        trials = (int(last) - int(first) + 1) * sum(ks) // 200_000
        return 2 + trials + math.ceil(sum(map(preparing, ks)) / 60)

    def digest(self):
        """Identifies what the errors depend on; titles, figures and timing do not count."""
        keys = ("seed", "mechanisms", "epsilons", "delta", "neighbors", "ks", "trials")
        settings = self.settings(*self["mechanisms"])
        sources = {name: dataset["source"] for name, dataset in self["datasets"].items()}
        text = json.dumps([{key: self[key] for key in keys}, settings, sources])
        return hashlib.sha256(text.encode()).hexdigest()

    # -------------------------------------------------------------- files

    def products(self, figures):
        """All that the default run makes, for `rule all` and the manifest."""
        ranking = RANKING if self["leaderboard"] else ()
        return [
            *(f"results/{name}.csv" for name in TABLES),
            *(f"results/{name}" for name in (*PAGES, *ranking)),
            *(f"figures/{name}.{form}" for name in figures for form in ("png", "pdf", "html")),
        ]

    def code_of(self, *names):
        """Files of the mechanisms and all that they import of the package."""
        modules = [f"dp_topk.mechanisms.{self.variant(name)['mechanism']}" for name in names]
        return self.here(*sorted(imported_files(self.root, "dp_topk.mechanisms", *modules)))

    def code_of_step(self, module):
        """Files of the pipeline that a step imports: they are inputs, so an edit reruns it."""
        return self.here(*sorted(imported_files(self.root, f"workflow.scripts.{module}")))
