"""Say whether this machine reproduces the published numbers: `make verify`.

The repository keeps the digests of the error files that the config as shipped gives, in
workflow/published.sha256. Times differ from machine to machine and are not among them.
"""

import argparse
import sys
from pathlib import Path

import yaml

from workflow.scripts.common import InputError, sha256, written
from workflow.scripts.config.plan import Plan
from workflow.scripts.results.manifest import read_digests

PUBLISHED = "workflow/published.sha256"
FILES = ("results/errors.csv", "results/trials.csv", "results/datasets.csv", "results/gaps.csv")
CONFIG = "results/config.yaml"


def plan_of_results(root):
    """The plan of the run that made the results that are there."""
    missing = [name for name in (*FILES, CONFIG) if not Path(name).is_file()]
    if missing:
        raise InputError(f"{missing[0]} does not exist: run `make figures` first")
    return Plan(yaml.safe_load(Path(CONFIG).read_text(encoding="utf-8")), root)


def verify(root, plan):
    """The files that differ from the published ones."""
    published = read_digests(root / PUBLISHED)
    if published["config"] != plan.digest():
        raise InputError(
            "these results were made with another config than the published ones (seed, "
            "mechanisms, epsilons, delta, neighbors, ks, trials or datasets differ; see "
            "results/config.yaml), so there is nothing to compare: run `make figures` with "
            "config.yaml as shipped"
        )
    return [name for name in FILES if sha256(name) != published[name]]


def publish(root, plan):
    """Keep the digests of the results that are there."""
    lines = [f"{plan.digest()}  config\n", *(f"{sha256(name)}  {name}\n" for name in FILES)]
    with written(root / PUBLISHED) as file:
        file.writelines(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--publish", action="store_true", help="keep the digests of this run")
    given = parser.parse_args(arguments)
    root = Path(__file__).parents[3]
    try:
        plan = plan_of_results(root)
        if given.publish:
            publish(root, plan)
            return 0
        different = verify(root, plan)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name in FILES:
        print(f"{'differs' if name in different else 'same'}  {name}")
    print(
        "This machine does not reproduce the published numbers."
        if different
        else "This machine reproduces the published numbers, to the byte."
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
