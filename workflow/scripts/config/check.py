"""Check a config before anything runs: a complete plan, or one sentence about what to change.

The schema says what each key may hold (`structure`); this module checks what a schema cannot
say, and writes out defaults and abbreviations.
"""

import os
from pathlib import Path

from dp_topk import mechanisms
from workflow.scripts.common import InputError
from workflow.scripts.config.reading import (
    clipped,
    did_you_mean,
    listed,
    merged,
    plain,
    pop_nulls,
    quoted,
    shown,
    typed,
)  # fmt: skip
from workflow.scripts.config.structure import check_structure, default
from workflow.scripts.data.originals import is_loopback, urls
from workflow.scripts.data.profiles import read_profile, size

NEEDED_BY_SOURCE = {"embedded": (), "download": ("download", "counts"), "file": ("file", "counts")}


def check(config, root, command_line=None, named=None):
    """Return `config` as a plain dict with every default filled in, or raise InputError.

    root:            the project's folder; an absolute path in a module, where Snakemake may put a
                     prefix before all relative paths.
    command_line:    what `--config` gave, as in `workflow.config_settings.config`. Snakemake has
                     merged it into `config` already, but leaves everything inside its lists and
                     mappings as text; numbers, null, true and false are read from it here.
    named:           {dataset: [(config file, `file` of the dataset that it names), ...]}.

    The plan differs from the config in this: nulls are gone, and so are datasets that `only`
    does not name; each dataset has `source`, `status` and its other defaults, epsilons are
    floats, timing lists each k instead of saying `all`, and what names a dataset or a k names
    one that is there. Checking a plan gives the same plan.
    """
    config = plain(config)
    if command_line:
        config = merged(config, typed(plain(command_line)))
    if not isinstance(config, dict):
        raise InputError(f"the config is {shown(config)}; it must be a mapping of keys to values")

    left_out = pop_nulls(config, "datasets")
    untimed = pop_nulls(config.get("timing"), "mechanisms")
    pop_nulls(config, "variants")
    check_structure(config)
    _check_variants(config)
    _check_mechanisms(config, untimed)
    _check_uses_of_datasets(config, left_out)
    _check_scaling(config["scaling"])

    plan, root = _filled(config), Path(root)
    for name, dataset in plan["datasets"].items():
        _check_dataset(name, dataset, root)
        if dataset["source"] == "file":
            dataset["file"] = _found(name, dataset["file"], root, (named or {}).get(name, ()))
    _check_left_out(left_out, plan["datasets"], root)
    _check_agreement(plan, root)
    return plan


def epsilon_text(epsilon):
    """The shortest text that reads back as the same number, fit for file names: 1, 0.5, 1e-06."""
    return repr(float(epsilon)).removesuffix(".0").replace("e+", "e")


# ------------------------------------------------------------------ filling in


def _filled(config):
    """The config with defaults and abbreviations written out."""
    chosen = config.get("only") or config["datasets"]
    datasets = {
        name: _filled_dataset(dataset, config["data"])
        for name, dataset in config["datasets"].items()
        if name in chosen
    }
    timed = {
        mechanism: list(config["ks"]) if at == "all" else at
        for mechanism, at in config["timing"]["mechanisms"].items()
    }
    figures = config["figures"]

    def there(names):
        """Those that are in the run; if none is, all that are."""
        return [name for name in names if name in datasets] or list(datasets)

    return config | {
        "epsilons": [float(epsilon) for epsilon in config["epsilons"]],
        "delta": float(config["delta"]),
        "variants": config.get("variants", {}),
        "timing": config["timing"]
        | {"mechanisms": timed, "dataset": there([config["timing"]["dataset"]])[0]},
        "agreement": config["agreement"] | {"datasets": there(config["agreement"]["datasets"])},
        "figures": figures
        | {
            "index_datasets": there(figures["index_datasets"]),
            "all_mechanisms_dataset": there([figures["all_mechanisms_dataset"]])[0],
            "epsilon_figure_k": _nearest(figures["epsilon_figure_k"], config["ks"]),
        },
        "datasets": datasets,
    }


def _filled_dataset(dataset, source):
    filled = {"title": dataset["title"], "source": source, "status": default("status")} | dataset
    if "download" in filled:
        filled["download"] = {"max_bytes": default("download", "max_bytes")} | {
            key: value.lower() if key.endswith("sha256") else value
            for key, value in filled["download"].items()
        }
    if "counts" in filled:
        filled["counts"] = {"skip": default("counts", "skip")} | filled["counts"]
    return filled


def _nearest(k, ks):
    return min(ks, key=lambda each: (abs(each - k), each))


# ------------------------------------------------------------------ meaning


def _check_variants(config):
    known = mechanisms.names()
    for name, variant in config.get("variants", {}).items():
        path, base = f"variants.{name}", variant["mechanism"]
        _require_mechanism(f"{path}.mechanism", base, known)
        if name in known and name != base:
            raise InputError(
                f"{path} is the name of another mechanism; call the variant something else"
            )
        some = variant.get("epsilons", config["epsilons"])
        if name in config["mechanisms"] and not set(some) & set(config["epsilons"]):
            raise InputError(
                f"{path}.epsilons has none of epsilons, so {name} would not be run; "
                "add one of them there, or leave it out under mechanisms"
            )
        options = mechanisms.get(base).options
        for option in variant.get("options", {}):
            if option not in options:
                raise InputError(
                    f"{path}.options.{clipped(option)} is not an option of {base}"
                    f"{did_you_mean(option, options)}; "
                    f"it has {listed(options) if options else 'none'}"
                )


def _check_mechanisms(config, untimed):
    known = [*mechanisms.names(), *config.get("variants", {})]
    timed = config["timing"]["mechanisms"]
    for path, names in {
        "mechanisms": config["mechanisms"],
        # Those of other packages can be timed, but their draws cannot be repeated.
        "timing.mechanisms": [n for n in (*timed, *untimed) if n not in mechanisms.EXTERNAL],
        "scaling.mechanisms": config["scaling"]["mechanisms"],
        "figures.appendix_mechanisms": config["figures"]["appendix_mechanisms"],
        "figures.hidden_mechanisms": config["figures"]["hidden_mechanisms"],
    }.items():
        for name in names:
            _require_mechanism(path, name, known)
    for path, names in {"mechanisms": config["mechanisms"], "timing.mechanisms": timed}.items():
        for name in names:
            _check_mechanism(path, name, config)


def _check_mechanism(path, name, config):
    """What is run is installed; with delta = 0 it is epsilon-DP, or cannot be run."""
    variant = config.get("variants", {}).get(name, {"mechanism": name})
    try:
        mechanism = mechanisms.get(variant["mechanism"])
    except ValueError as error:
        raise InputError(f"{path} has {name}, but {error}") from None
    if config["delta"] == 0 and mechanism.guarantee == "approx" and not mechanism.zero_delta:
        raise InputError(
            f"delta is 0, but {path} has {name}, which needs a delta above 0; give one, "
            f"such as 1.0e-6, or take {name} out"
        )


def _require_mechanism(path, name, known):
    if name not in known:
        raise InputError(
            f"{path} has {quoted(name)}, which is not a mechanism"
            f"{did_you_mean(name, known)}; there are {listed(known)}"
        )


def _check_uses_of_datasets(config, left_out):
    """What names datasets names some that exist, even if they are left out; but not `only`."""
    there = list(config["datasets"])
    for path, names in {
        "timing.dataset": [config["timing"]["dataset"]],
        "agreement.datasets": config["agreement"]["datasets"],
        "figures.index_datasets": config["figures"]["index_datasets"],
        "figures.all_mechanisms_dataset": [config["figures"]["all_mechanisms_dataset"]],
        "only": config.get("only", ()),
    }.items():
        for name in names:
            if name in there or (name in left_out and path != "only"):
                continue
            reason = "is left out under datasets (null)" if name in left_out else "is not a dataset"
            raise InputError(
                f"{path} names {quoted(name)}, which {reason}"
                f"{did_you_mean(name, there)}; there are {listed(there)}"
            )


def _check_scaling(scaling):
    if scaling["k_for_items"] > min(scaling["items"]):
        raise InputError(
            f"scaling.k_for_items is {scaling['k_for_items']}, more than the "
            f"{min(scaling['items'])} in scaling.items; k items are selected from that many"
        )
    if max(scaling["ks"]) > scaling["items_for_k"]:
        raise InputError(
            f"scaling.ks has {max(scaling['ks'])}, more than scaling.items_for_k, which is "
            f"{scaling['items_for_k']}; k items are selected from that many"
        )


def _check_dataset(name, dataset, root):
    path, source = f"datasets.{name}", dataset["source"]
    if "file" in dataset and source != "file":
        raise InputError(
            f"{path}.file is given, but {path}.source is {source}; "
            f"write `source: file` to use it, or `file: null` to leave it"
        )
    for key in NEEDED_BY_SOURCE[source]:
        if key not in dataset:
            raise InputError(
                f"{path}.{key} is missing; a dataset with the source {source} needs it"
            )
    if source == "embedded" and not os.path.isfile(_profile(root, name)):
        profiles = sorted(profile.stem for profile in (root / "data/embedded").glob("*.csv"))
        raise InputError(
            f"{path}.source is embedded, but data/embedded/ has no {name}.csv, only "
            f"{listed(profiles) or 'nothing'}; for your own data write `source: file`"
        )
    if "download" in dataset:
        _check_addresses(f"{path}.download", dataset["download"])
    counts = dataset.get("counts", {})
    if "distinct" in counts and counts["distinct"] == counts["rows_per"]:
        raise InputError(
            f"{path}.counts.distinct and {path}.counts.rows_per are both "
            f"{quoted(counts['distinct'])}, so that every item would count 1; `distinct` is the "
            "column of users, `rows_per` that of items"
        )
    if "names" in counts:
        _check_names(f"{path}.counts", counts)


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


def _check_addresses(path, download):
    for url in urls(download):
        plain = url.startswith("http://") and not is_loopback(url)
        if plain and "sha256" not in download:
            raise InputError(
                f"{path}.url has {quoted(url, 150)}; http:// needs {path}.sha256, because anybody "
                "on the way may change the file; give it, or an https:// address"
            )


def _check_names(path, counts):
    keys = ("column", "item", "rows_per", "distinct", "absorb")
    needed = [(key, counts[key]) for key in keys if key in counts]
    needed += [("where", column) for column in counts.get("where", ())]
    needed += [("profile", column) for column in ("count", "items") if "profile" in counts]
    for key, column in needed:
        if column not in counts["names"]:
            raise InputError(
                f"{path}.{key} needs the column {quoted(column)}, which is not in {path}.names"
                f"{did_you_mean(column, counts['names'])}"
            )


def _check_left_out(left_out, datasets, root):
    """Leaving out `bokos` is most likely meant to leave out `books`."""
    for name in left_out:
        known = os.path.isfile(_profile(root, name))
        if not known and (hint := did_you_mean(name, datasets, cutoff=0.75)):
            raise InputError(
                f"datasets.{clipped(name)} is left out (null), but there is no such dataset{hint}"
            )


def _check_agreement(plan, root):
    """Of the embedded datasets the numbers of items are known before the run."""
    names, ks = plan["agreement"]["datasets"], plan["agreement"]["ks"]
    if all(plan["datasets"][name]["source"] == "embedded" for name in names):
        d = max(size(read_profile(_profile(root, name))[1]) for name in names)
        if min(ks) > d:
            raise InputError(
                f"agreement.ks has no k that {listed(names)} {'have' if names[1:] else 'has'} "
                f"enough items for; give one of at most {d}"
            )


def _profile(root, name):
    return root / "data" / "embedded" / f"{name}.csv"
