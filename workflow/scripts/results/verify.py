"""Say whether this machine reproduces the published numbers: `make verify`.

The repository keeps the digests of the error files that the config as shipped gives, in
workflow/published.sha256; `--publish` keeps those of this run instead. Times differ from machine to
machine and are not among them.
"""

from pathlib import Path

from workflow.scripts.common import InputError, made, program, read_digests, sha256
from workflow.scripts.config.plan import Plan
from workflow.scripts.config.reading import read_yaml
from workflow.scripts.results.manifest import write_digests

ROOT = Path(__file__).parents[3]
PUBLISHED = "workflow/published.sha256"
FILES = ("results/errors.csv", "results/trials.csv", "results/datasets.csv", "results/gaps.csv")
CONFIG = "results/config.yaml"


def main(*arguments):
    """Compare the results with the published ones, or publish them; 1 if they differ."""
    found = {"config": Plan(read_yaml(made(CONFIG)), ROOT).digest()}
    found |= {name: sha256(made(name)) for name in FILES}
    if arguments == ("--publish",):
        return write_digests(ROOT / PUBLISHED, found)
    published = read_digests(ROOT / PUBLISHED)
    if found["config"] != published["config"]:
        raise InputError(
            "these results were not made with the config of the published ones (seed, mechanisms, "
            "epsilons, delta, neighbors, ks, trials or datasets differ; see "
            f"{CONFIG}), so there is nothing to compare: run `make figures` with config.yaml as "
            "shipped"
        )
    for name in FILES:
        print(f"{'same' if found[name] == published[name] else 'differs'}  {name}")
    if found != published:
        print("This machine does not reproduce the published numbers.")
        return 1
    print("This machine reproduces the published numbers, to the byte.")
    return 0


if __name__ == "__main__":
    program(main)
