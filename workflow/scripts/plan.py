"""What is to be made: the checked config, and the jobs and files that follow from it.

The rules stay free of logic; this module can be called and tested without Snakemake.
"""

import ast
import hashlib
import json
import os
from functools import cache
from pathlib import Path

import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config_check import check, epsilon_text
from workflow.scripts.manifest import read_digests
from workflow.scripts.profiles import read_facts

PUBLISHED = "workflow/published.sha256"
TRIALS = "results/trials/{dataset}/{mechanism}/epsilon={epsilon}_k={k}_trials={first}-{last}"


class Plan:
    """A checked config and what follows from it."""

    def __init__(self, config, root, command_line=None):
        self.root = Path(root)
        self.config = check(
            config, mechanisms.names(), self.root / "data" / "embedded", command_line
        )
        self.datasets = list(self.config["datasets"])
        self.epsilons = [epsilon_text(epsilon) for epsilon in self.config["epsilons"]]

    def __getitem__(self, key):
        return self.config[key]

    def here(self, *paths):
        """Paths of files of the project, wherever the working directory is."""
        return [str(self.root / path) for path in paths]

    def origin(self, name):
        """Input files of a dataset: where its counts come from, and what to compare them with."""
        dataset, (embedded,) = self["datasets"][name], self.here(f"data/embedded/{name}.csv")
        if dataset["source"] == "file":
            return {"raw": dataset["file"]}
        if dataset["source"] == "embedded":
            return {"raw": embedded}
        raw = f"data/raw/{name}/{dataset['download']['filename']}"
        # A downloaded original is compared with the embedded profile where that is real.
        known = dataset["status"] == "real" and Path(embedded).exists()
        return {"raw": raw, "embedded": embedded} if known else {"raw": raw}

    def about(self):
        """What the config says of each dataset besides where its counts come from."""
        return {
            name: {
                "title": dataset["title"],
                "status": "real" if dataset["source"] == "download" else dataset["status"],
            }
            for name, dataset in self["datasets"].items()
        }

    def parts(self):
        """One dict of names and numbers for each job of trials, in the order of the config."""
        size, trials = self["trials_per_job"], self["trials"]
        return [
            {
                "dataset": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "k": k,
                "first": first,
                "last": min(first + size - 1, trials),
            }
            for dataset in self.datasets
            for mechanism in self["mechanisms"]
            for epsilon in self.epsilons
            for k in self["k"]
            for first in range(1, trials + 1, size)
        ]

    def trial_files(self, ending):
        """The file of each of those jobs that has this ending."""
        return [f"{TRIALS}{ending}".format(**part) for part in self.parts()]

    def digest(self):
        """Identifies what the errors depend on; titles, figures and timing do not count."""
        keys = ("seed", "mechanisms", "epsilons", "delta", "neighbors", "k", "trials")
        sources = {name: entry["source"] for name, entry in self["datasets"].items()}
        text = json.dumps([{key: self[key] for key in keys}, sources])
        return hashlib.sha256(text.encode()).hexdigest()

    def digest_of_all(self):
        """Identifies the whole config, for the manifest."""
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()

    def published_digests(self):
        """The file of published digests, if it is about this experiment."""
        digests = self.root / PUBLISHED
        known = digests.is_file() and read_digests(digests)["config"] == self.digest()
        return [str(digests)] if known else []

    def privacy(self, *names):
        """Privacy parameters besides epsilon; delta only where a mechanism looks at it."""
        approximate = any(mechanisms.get(name).guarantee == "approx" for name in names)
        delta = {"delta": self["delta"]} if approximate else {}
        return {"neighbors": self["neighbors"], **delta}

    def labels(self, *names):
        """How figures call the mechanisms."""
        return {name: mechanisms.get(name).label for name in names}

    def figures(self):
        """What each figure of the default run needs: its tables, what it shows, its caption."""
        settings, epsilon = self["figures"], self.epsilons[0]
        everyone = self["mechanisms"]
        main = [name for name in everyone if name not in settings["appendix_mechanisms"]]
        lines = {"epsilon": epsilon, "mechanisms": main or everyone}
        every_line = {"epsilon": epsilon, "mechanisms": everyone}
        timed = list(self["timing"]["mechanisms"])
        runs = (
            f"{self['trials']} trials for each k, epsilon = {epsilon}, delta = {self['delta']:g} "
            f"for the approximate mechanisms, {self['neighbors']} neighbours, "
            f"seed {self['seed']}. Line: median; band: quartiles; logarithmic axis"
        )
        figures = {
            "figure-1-gaps-and-errors": {
                "tables": ["errors", "gaps"],
                "shows": {"datasets": self.datasets, **lines},
                "caption": "Gaps between the largest counts, l-infinity and l1 error of each "
                f"dataset. {runs}, values padded by 1.",
            },
            "figure-2-linf-index": {
                "tables": ["errors"],
                "shows": {"datasets": settings["index_datasets"], **lines},
                "caption": f"Place of the largest error in the sequence. {runs}.",
            },
            "figure-3-time": {
                "tables": ["timing"],
                "shows": {"datasets": [self["timing"]["dataset"]], "mechanisms": timed},
                "caption": "Seconds for one call of select, which sorts the counts, prepares and "
                f"draws, alone on the machine; {self['timing']['trials']} calls for each k.",
            },
            "figure-4-histograms": {
                "tables": ["histograms"],
                "shows": {"datasets": self.datasets},
                "caption": "How many items have which count.",
            },
            "figure-5-k-relative": {
                "tables": ["errors"],
                "shows": {"datasets": self.datasets, **lines},
                "caption": f"k-relative error. {runs}, values padded by 1.",
            },
            "figure-6-all-mechanisms": {
                "tables": ["errors"],
                "shows": {"datasets": [settings["all_mechanisms_dataset"]], **every_line},
                "caption": f"Every mechanism and every error on one dataset. {runs}, values "
                "padded by 1 except the index.",
            },
        }
        pair = [name for name in ("joint", "pnf_joint") if name in everyone]
        if len(pair) == 2 and min(self["k"]) <= settings["pnf_joint_max_k"]:
            rivals = [name for name in main if name not in pair]
            figures["figure-7-pnf-joint"] = {
                "tables": ["errors"],
                "shows": {
                    "datasets": self.datasets,
                    "epsilon": epsilon,
                    "mechanisms": [*pair, *rivals],
                    "max_k": settings["pnf_joint_max_k"],
                },
                "caption": "l-infinity error of Joint and of its permute-and-flip form, for "
                f"small k. {runs}, values padded by 1.",
            }
        for name in self.datasets:
            figures[f"datasets/{name}"] = {
                "draws": "dataset",
                "tables": ["errors", "gaps", "histograms"],
                "shows": {"datasets": [name], **every_line},
                "caption": f"All about one dataset. {runs}, errors padded by 1.",
            }
        if len(self.epsilons) > 1:
            figures["error-against-epsilon"] = {
                "tables": ["errors"],
                "shows": {
                    "datasets": self.datasets,
                    "mechanisms": everyone,
                    "k": settings["epsilon_figure_k"],
                },
                "caption": f"Error against epsilon at k = {settings['epsilon_figure_k']}; "
                f"{self['trials']} trials, seed {self['seed']}.",
            }
        for name, figure in figures.items():
            figure.setdefault("draws", name)
            figure["category"] = "Datasets" if figure["draws"] == "dataset" else "Figures"
            if "mechanisms" in figure["shows"]:
                figure["shows"]["labels"] = self.labels(*figure["shows"]["mechanisms"])
        return figures

    def products(self):
        """All that the default run makes, for `rule all` and the manifest."""
        tables = ("errors", "trials", "datasets", "gaps", "histograms", "timing",
                  "timing_summary", "agreement", "claims")  # fmt: skip
        return [
            *(f"results/{name}.csv" for name in tables),
            "results/claims.md",
            "results/claims.html",
            "results/datasets.html",
            *(f"figures/{name}.{form}" for name in self.figures() for form in ("png", "pdf")),
        ]

    def code_of(self, *names):
        """Files of the mechanisms and all that they import of the package."""
        modules = ["mechanisms", *(f"mechanisms.{name}" for name in names)]
        return self.here(*sorted(imported_files(self.root, *modules)))

    def code_of_step(self, module):
        """Files of the pipeline that a step imports: they are inputs, so an edit reruns it."""
        return self.here(*sorted(imported_files(self.root, f"workflow.scripts.{module}")))


def let_jobs_import_from(root):
    """Put the project's folder first on the import path of all processes started from here."""
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *(p for p in others if p != root)])


def imported_files(root, *modules):
    """Files of these modules and of all project modules that they import, relative to root."""
    files, todo = {}, list(modules)
    while todo:
        module = todo.pop()
        if module in files:
            continue
        path = Path(*module.split("."))
        path = path / "__init__.py" if (root / path).is_dir() else path.with_suffix(".py")
        if not (root / path).is_file():
            continue
        files[module] = str(path)
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        todo += _imports((root / path).read_text(encoding="utf-8"), package)
    return set(files.values())


@cache
def _imports(source, package):
    """Names of the project's modules that a module of `package` imports, or that may be such."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            found.add(origin)
            found.update(f"{origin}.{alias.name}" for alias in node.names)
    return sorted(name for name in found if name.split(".")[0] in ("mechanisms", "workflow"))


def memory_mb(counts, facts, mechanism, k, written_out=False):
    """Memory that a job needs, from what is known of its counts.

    On a cluster two Snakemake processes wait beside the job; that is the first term. Profiles
    take some 85 bytes for each distinct count, which is about 10 bytes of the file. Written
    out, d counts are held a few times. The published algorithm sorts d k numbers besides.
    """
    try:
        d = read_facts(facts)["d"]
    except InputError:
        d = 0  # the job says what is wrong with the file
    cells = d * int(k) if mechanism == "joint_alg1" else 0
    items = d if written_out else 0
    return 500 + (12 * os.path.getsize(counts) + 50 * items + 50 * cells) // 10**6
