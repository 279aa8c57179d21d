"""Say whether this machine reproduces the published numbers: `make verify`.

The repository keeps the digests of the error files that the config as shipped gives, in
workflow/published.sha256; `--publish` keeps those of this run instead. Times differ from machine to
machine and are not among them.
"""

import sys
from pathlib import Path

import yaml

from workflow.scripts.common import InputError, sha256, written
from workflow.scripts.config.plan import Plan
from workflow.scripts.results.manifest import read_digests

PUBLISHED = "workflow/published.sha256"
FILES = ("results/errors.csv", "results/trials.csv", "results/datasets.csv", "results/gaps.csv")
CONFIG = "results/config.yaml"


def digests(root):
    """Those of the results that are there, and of the config that they were made with."""
    missing = [name for name in (*FILES, CONFIG) if not Path(name).is_file()]
    if missing:
        raise InputError(f"{missing[0]} does not exist: run `make figures` first")
    plan = Plan(yaml.safe_load(Path(CONFIG).read_text(encoding="utf-8")), root)
    return {"config": plan.digest()} | {name: sha256(name) for name in FILES}


def main(*arguments):
    root = Path(__file__).parents[3]
    try:
        found = digests(root)
        if arguments == ("--publish",):
            with written(root / PUBLISHED) as file:
                file.writelines(f"{digest}  {name}\n" for name, digest in found.items())
            return 0
        published = read_digests(root / PUBLISHED)
        if found["config"] != published["config"]:
            raise InputError(
                "these results were not made with the config of the published ones (seed, "
                "mechanisms, epsilons, delta, neighbors, ks, trials or datasets differ; see "
                f"{CONFIG}), so there is nothing to compare: run `make figures` with config.yaml "
                "as shipped"
            )
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name in FILES:
        print(f"{'same' if found[name] == published[name] else 'differs'}  {name}")
    if found != published:
        print("This machine does not reproduce the published numbers.")
        return 1
    print("This machine reproduces the published numbers, to the byte.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
