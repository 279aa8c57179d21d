"""Say whether this machine reproduces the published numbers: `make verify`.

The repository keeps the digests of the error files that the config as shipped gives, in
workflow/published.sha256. Times differ from machine to machine and are not among them.
"""

import argparse
import sys
from pathlib import Path

import yaml

from workflow.scripts.common import InputError, written
from workflow.scripts.manifest import read_digests, sha256
from workflow.scripts.plan import PUBLISHED, Plan

FILES = ("results/errors.csv", "results/trials.csv", "results/datasets.csv", "results/gaps.csv")


def verify(root, plan):
    """The files that differ from the published ones."""
    published = read_digests(root / PUBLISHED)
    if published["config"] != plan.digest():
        raise InputError(
            "config.yaml is not as published (seed, mechanisms, epsilons, k, trials or datasets "
            "differ), so there is nothing to compare with"
        )
    missing = [name for name in FILES if not Path(name).is_file()]
    if missing:
        raise InputError(f"{missing[0]} does not exist: run `make figures` first")
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
    root = Path(__file__).parents[2]
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    try:
        plan = Plan(config, root)
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
