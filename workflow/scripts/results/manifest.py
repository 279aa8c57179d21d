"""Where the results come from: versions, commit, config, machine, and a digest of every file.

    python -m workflow.scripts.results.manifest

shows and deletes what the last run did not make: `make tidy`.
"""

import contextlib
import json
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import yaml

from workflow.scripts.common import InputError, altered, intact, program, sha256, written

PACKAGES = ("numpy", "duckdb", "pandas", "matplotlib", "snakemake", "pyyaml", "requests")


def write_digests(path, digests):
    """Write a file in that format."""
    with written(path) as file:
        file.writelines(f"{digest}  {name}\n" for name, digest in digests.items())


def commit(root):
    """The commit that is checked out, `-dirty` if files were changed since; or None."""
    command = "git describe --always --dirty --abbrev=40 --exclude=*"  # no tag
    quiet = {"text": True, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.check_output(command.split(), cwd=root, timeout=20, **quiet).strip()
    except (OSError, subprocess.SubprocessError):
        return None


def processor():
    """The name of the CPU, as far as the system tells."""
    with contextlib.suppress(OSError):
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if name := re.search(r"^model name\s*:\s*(.+)", about, re.MULTILINE):
            return name[1]
    return platform.processor() or platform.machine()


def write_config(path, config):
    """Write the whole config of a run, so that it can be repeated from what it left."""
    head = "# The config of this run: `snakemake --configfile` with this file repeats it.\n"
    with written(path) as file:
        file.write(head)
        yaml.safe_dump(config, file, sort_keys=False, allow_unicode=True)


def write_manifest(path, files, commit):
    """Write where the results come from; `files` has the path of each by its name."""
    about = {
        "commit": commit,
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "sha256": {name: sha256(intact(files[name])) for name in sorted(files)},
    }
    with written(path) as file:
        file.write(json.dumps(about, indent=2) + "\n")


def left_over(path="results/manifest.json"):
    """Figures and results of earlier configs, which the manifest of the last run does not list.

    What `snakemake scaling` makes is part of no default run, and stays.
    """
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8"))["sha256"]
    except FileNotFoundError:
        raise InputError(f"{path} does not exist, so nothing is known to be left over") from None
    except (ValueError, KeyError, TypeError):
        raise altered(path) from None
    made = (*Path("figures").rglob("*.*"), *Path("results").glob("*.*"))
    kept = {*map(Path, listed), Path(path)}
    return sorted(file for file in made if file not in kept and file.stem != "scaling")


def tidy():
    """Show and delete what is left over."""
    for file in left_over():
        print(file)
        file.unlink()


if __name__ == "__main__":
    program(tidy)
