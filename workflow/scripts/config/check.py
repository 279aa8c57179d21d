"""Check a config before anything runs: a complete plan, or one sentence about what to change.

The schema says what each key may hold (`structure`); this module checks what a schema cannot
say, and writes out defaults and abbreviations.
"""

import os
from pathlib import Path

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config.reading import plain, pop_nulls
from workflow.scripts.config.say import clipped, did_you_mean, listed, quoted, shown
from workflow.scripts.config.structure import check_structure, with_defaults
from workflow.scripts.data.originals import is_loopback, urls
from workflow.scripts.data.profiles import read_profile, size

NEEDED_BY_SOURCE = {"embedded": (), "download": ("download", "counts"), "file": ("file", "counts")}
COLUMNS = ("column", "item", "rows_per", "distinct", "absorb")

# The settings that hold names of mechanisms, or of datasets (one, or a list).
OF_MECHANISMS = ("scaling.mechanisms", "figures.appendix_mechanisms", "figures.hidden_mechanisms")
OF_DATASETS = (
    "timing.dataset",
    "agreement.datasets",
    "figures.index_datasets",
    "figures.all_mechanisms_dataset",
)


def check(config, root, named=None):
    """Return `config` as a plain dict with every default filled in, or raise InputError.

    root:   the project's folder; an absolute path in a module, where Snakemake may put a prefix
            before all relative paths.
    named:  {dataset: [(config file, `file` of the dataset that it names), ...]}.

    Nulls are gone, and so are datasets that `only` does not name; timing lists each k instead of
    saying `all`, and settings that name a dataset or a k name one that is in the run. Checking
    what was returned gives the same again.
    """
    config, root = plain(config), Path(root)
    if not isinstance(config, dict):
        raise InputError(f"the config is {shown(config)}; it must be a mapping of keys to values")
    left_out = pop_nulls(config, "datasets")
    untimed = pop_nulls(config.get("timing"), "mechanisms")
    pop_nulls(config, "variants")
    check_structure(config)
    config.setdefault("variants", {})
    _check_names(config, left_out, untimed)
    _check_variants(config)
    _check_delta(config)
    _check_scaling(config["scaling"])
    _fill(config)
    for name, dataset in config["datasets"].items():
        _check_dataset(name, dataset, root)
        if dataset["source"] == "file":
            dataset["file"] = _found(name, dataset["file"], root, (named or {}).get(name, ()))
    _check_left_out(left_out, config["datasets"], root)
    _check_agreement(config, root)
    return config


def epsilon_text(epsilon):
    """The shortest text that reads back as the same number, fit for file names: 1, 0.5, 1e-06."""
    return repr(float(epsilon)).removesuffix(".0").replace("e+", "e")


def _fill(config):
    """Write out defaults and abbreviations."""
    ks, timed, figures = config["ks"], config["timing"]["mechanisms"], config["figures"]
    config["epsilons"] = [float(epsilon) for epsilon in config["epsilons"]]
    config["delta"] = float(config["delta"])
    config["timing"]["mechanisms"] = {m: list(ks) if at == "all" else at for m, at in timed.items()}
    wanted = figures["epsilon_figure_k"]
    figures["epsilon_figure_k"] = min(ks, key=lambda k: (abs(k - wanted), k))
    config["datasets"] = {
        name: {"title": dataset["title"], "source": config["data"]} | with_defaults(dataset)
        for name, dataset in config["datasets"].items()
        if name in config.get("only", config["datasets"])
    }
    run = list(config["datasets"])
    for section, key in (path.split(".") for path in OF_DATASETS):
        value = config[section][key]
        in_run = [name for name in _list(value) if name in run] or run
        config[section][key] = in_run[0] if isinstance(value, str) else in_run


# ------------------------------------------------------------------ names and mechanisms


def _list(names):
    return [names] if isinstance(names, str) else names


def _require(path, names, known, what):
    """Refuse a name that is not known."""
    for name in names:
        if name not in known:
            raise InputError(
                f"{path}: {quoted(name)} is not {what}{did_you_mean(name, known)}; "
                f"possible: {listed(known)}"
            )


def _check_names(config, left_out, untimed):
    """What names a mechanism or a dataset names one that exists, even if it is left out."""
    shipped, only = mechanisms.names(), config.get("only", ())
    runnable, datasets = [*shipped, *config["variants"]], [*config["datasets"], *left_out]
    # Those of other packages can be timed, but their draws cannot be repeated.
    timed, timeable = [*config["timing"]["mechanisms"], *untimed], [*runnable, *mechanisms.EXTERNAL]
    for name, variant in config["variants"].items():
        _require(f"variants.{name}.mechanism", [variant["mechanism"]], shipped, "a mechanism")
    _require("mechanisms", config["mechanisms"], runnable, "a mechanism")
    _require("timing.mechanisms", timed, timeable, "a mechanism")
    for path in (*OF_MECHANISMS, *OF_DATASETS):
        section, key = path.split(".")
        known = (runnable, "a mechanism") if path in OF_MECHANISMS else (datasets, "a dataset")
        _require(path, _list(config[section][key]), *known)
    _require("only", only, datasets, "a dataset")
    if both := [name for name in only if name in left_out]:
        raise InputError(
            f"only has {quoted(both[0])}, which is left out under datasets (null); "
            "take it out of one of them"
        )


def _check_variants(config):
    for name, variant in config["variants"].items():
        path, base = f"variants.{name}", variant["mechanism"]
        if name in mechanisms.names() and name != base:
            raise InputError(
                f"{path} is the name of another mechanism; call the variant something else"
            )
        some = variant.get("epsilons", config["epsilons"])
        if name in config["mechanisms"] and not set(some) & set(config["epsilons"]):
            raise InputError(
                f"{path}.epsilons shares no value with epsilons, so {name} would not be run; "
                "add one of them there, or leave it out under mechanisms"
            )
        options = variant.get("options", ())
        _require(f"{path}.options", options, mechanisms.get(base).options, f"an option of {base}")


def _check_delta(config):
    """What is run is installed; with delta = 0 it is epsilon-DP, or cannot be run."""
    uses = {"mechanisms": config["mechanisms"], "timing.mechanisms": config["timing"]["mechanisms"]}
    for path, name in ((path, name) for path, names in uses.items() for name in names):
        variant = config["variants"].get(name, {"mechanism": name})
        try:
            mechanism = mechanisms.get(variant["mechanism"])
        except ValueError as error:
            raise InputError(f"{path} has {name}, but {error}") from None
        if config["delta"] == 0 and mechanism.guarantee == "approx" and not mechanism.zero_delta:
            raise InputError(
                f"delta is 0, but {path} has {name}, which needs a delta above 0; give one, "
                f"such as 1.0e-6, or take {name} out"
            )


def _check_scaling(scaling):
    for key, k, where, d in (
        ("k_for_items", scaling["k_for_items"], "items", min(scaling["items"])),
        ("ks", max(scaling["ks"]), "items_for_k", scaling["items_for_k"]),
    ):
        if k > d:
            raise InputError(
                f"scaling.{key} has {k}, more than the {d} of scaling.{where}; "
                "k items are selected from that many"
            )


# ------------------------------------------------------------------ datasets


def _check_dataset(name, dataset, root):
    path, source, counts = f"datasets.{name}", dataset["source"], dataset.get("counts", {})
    if "file" in dataset and source != "file":
        raise InputError(
            f"{path}.file is given, but {path}.source is {source}; "
            "write `source: file` to use it, or `file: null` to leave it"
        )
    for key in NEEDED_BY_SOURCE[source]:
        if key not in dataset:
            raise InputError(
                f"{path}.{key} is missing; a dataset with the source {source} needs it"
            )
    if source == "embedded" and not _profile(root, name).is_file():
        profiles = sorted(profile.stem for profile in (root / "data/embedded").glob("*.csv"))
        raise InputError(
            f"{path}.source is embedded, but data/embedded/ has no {name}.csv, only "
            f"{listed(profiles)}; for your own data write `source: file`"
        )
    for url in urls(dataset["download"]) if "download" in dataset else ():
        in_clear = url.startswith("http://") and not is_loopback(url)
        if in_clear and "sha256" not in dataset["download"]:
            raise InputError(
                f"{path}.download.url has {quoted(url, 150)}; http:// needs {path}.download.sha256,"
                " because anyone in between could change the file; give it, or an https:// address"
            )
    if "distinct" in counts and counts["distinct"] == counts["rows_per"]:
        raise InputError(
            f"{path}.counts.distinct and {path}.counts.rows_per are both "
            f"{quoted(counts['distinct'])}, so that every item would count 1; `distinct` is the "
            "column of users, `rows_per` that of items"
        )
    if "names" in counts:
        used = {key: [counts[key]] for key in counts if key in COLUMNS}
        used |= {"where": counts.get("where", ())}
        used |= {"profile": ("count", "items")} if "profile" in counts else {}
        for key, columns in used.items():
            _require(f"{path}.counts.{key}", columns, counts["names"], f"in {path}.counts.names")


def _found(name, file, root, named):
    """The path of a dataset's file: beside the config that names it, or from here."""
    here = os.getcwd()
    beside = [os.path.dirname(os.path.abspath(config)) for config, its in named if its == file]
    folders = list(dict.fromkeys([*reversed(beside), here]))
    for folder in folders:
        if os.path.isfile(path := os.path.join(folder, file)):
            return file if folder == here and not root.is_absolute() else path
    looked = " and ".join(["its absolute path"] if os.path.isabs(file) else folders)
    raise InputError(
        f"datasets.{name}.file is {quoted(file, 150)}, and there is no such file; looked for it in "
        f"{looked}"
    )


def _check_left_out(left_out, datasets, root):
    """Leaving out `bokos` is most likely meant to leave out `books`."""
    for name in left_out:
        hint = did_you_mean(name, datasets, cutoff=0.75)
        if hint and not _profile(root, name).is_file():
            raise InputError(
                f"datasets.{clipped(name)} is left out (null), but there is no such dataset{hint}"
            )


def _check_agreement(config, root):
    """Of the embedded datasets the numbers of items are known before the run."""
    names, ks = config["agreement"]["datasets"], config["agreement"]["ks"]
    if all(config["datasets"][name]["source"] == "embedded" for name in names):
        d = max(size(read_profile(_profile(root, name))[1]) for name in names)
        if min(ks) > d:
            raise InputError(
                f"agreement.ks has no k that {listed(names)} {'have' if names[1:] else 'has'} "
                f"enough items for; give one of at most {d}"
            )


def _profile(root, name):
    return root / "data" / "embedded" / f"{name}.csv"
