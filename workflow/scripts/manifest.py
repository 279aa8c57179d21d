"""Where the results come from: versions, commit, config, machine, and a digest of every file."""

import hashlib
import json
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from workflow.scripts.common import logged, written

PACKAGES = ("numpy", "pandas", "matplotlib", "snakemake", "pyyaml", "requests")


def sha256(path):
    """Hex digest of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_digests(path):
    """name -> digest, from a file in the format of sha256sum."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split(maxsplit=1) for line in lines)}


def commit(root):
    """The commit that is checked out, `-dirty` if files were changed since; or None."""
    command = [
        "git",
        "-C",
        str(root),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=40",
        "--exclude=*",
    ]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def processor():
    """The name of the CPU, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def manifest(files, commit, config):
    """All of it as one dict; `config` is the digest of the config."""
    return {
        "commit": commit,
        "config": config,
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "sha256": {str(path): sha256(path) for path in sorted(map(str, files))},
    }


if "snakemake" in globals():
    with logged(snakemake.log[0]), written(snakemake.output[0]) as file:
        made = manifest(snakemake.input.files, snakemake.params.commit, snakemake.params.config)
        file.write(json.dumps(made, indent=2) + "\n")
