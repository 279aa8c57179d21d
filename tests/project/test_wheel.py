"""The library by itself: the wheel of this checkout in an environment with NumPy and nothing else.

Nothing is downloaded: setuptools and NumPy are those that the lock has installed here.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

import dp_topk
from tests.project.test_readme import ROOT, package_elsewhere

# What pytest itself needs, to run the contract tests.
TESTING = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def run(*command, **options):
    """Run a command, which must succeed; what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def linked(folder, *distributions):
    """A folder with links to these installed distributions and to nothing else."""
    folder.mkdir()
    for name in distributions:
        files = distribution(name).files
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (folder / top).symlink_to(distribution(name).locate_file(top))
    return folder


class Environment:
    """A new virtual environment in which `import numpy` works, and nothing else is installed."""

    def __init__(self, root, numpy):
        venv.create(root)
        self.python = root / "bin" / "python"
        variables = {"base": str(root), "platbase": str(root)}
        self.packages = Path(sysconfig.get_path("purelib", "venv", variables))
        (self.packages / "numpy.pth").write_text(f"{numpy}\n")

    def run(self, *arguments, **options):
        return run(self.python, *arguments, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built in a copy, so that nothing is left in the checkout."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("dp_topk", "mechanisms"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    # The call that pip makes.
    build = "import sys, setuptools.build_meta as it; it.build_wheel(sys.argv[1])"
    run(sys.executable, "-c", build, made, cwd=source)
    (path,) = made.iterdir()
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment into which the wheel was installed, and what that added to its packages."""
    folder = tmp_path_factory.mktemp("installed")
    environment = Environment(folder / "environment", linked(folder / "numpy", "numpy"))
    before = set(environment.packages.iterdir())
    pip = (sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check")
    # Not --no-deps: without an index this fails if anything but NumPy is needed.
    install = ("install", "--no-index", "--no-cache-dir", wheel)
    run(*pip, "--python", environment.python, *install)
    return environment, {path.name for path in set(environment.packages.iterdir()) - before}


def test_the_wheel_has_the_whole_package_and_nothing_else(wheel):
    sources = (path for path in (ROOT / "dp_topk").rglob("*") if path.suffix in (".py", ".typed"))
    linked_sources = (ROOT / "mechanisms").rglob("*.py")
    expected = {str(path.relative_to(ROOT)) for path in sources}
    expected |= {f"dp_topk/{path.relative_to(ROOT)}" for path in linked_sources}
    names = set(ZipFile(wheel).namelist())
    metadata = f"dp_topk-{dp_topk.__version__}.dist-info/"
    assert {name for name in names if not name.startswith(metadata)} == expected
    assert "dp_topk/mechanisms/joint.py" in names


def test_site_packages_get_one_package_and_its_metadata(installed):
    environment, added = installed
    assert added == {"dp_topk", f"dp_topk-{dp_topk.__version__}.dist-info"}
    assert environment.run(environment.python.with_name("dp-topk"), "--version").split() == [
        "dp-topk",
        dp_topk.__version__,
    ]


@pytest.mark.parametrize("page", ["README.md", "docs/release.md"])
def test_examples_of_the_library(installed, page, tmp_path):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    examples = [block for block in blocks if re.search(r"^(import|from) dp_topk", block, re.M)]
    assert examples
    for code in examples:
        code += "\nprint(len(set(items)), dp_topk.__file__)\n"
        size, file = installed[0].run("-I", "-c", f"import dp_topk\n{code}", cwd=tmp_path).split()
        assert size == "3"
        assert Path(file).is_relative_to(installed[0].packages)


@pytest.mark.slow
def test_the_contract_is_kept_also_by_a_mechanism_of_another_package(installed, tmp_path):
    """The README's mechanism is registered by an entry point, and picked up by itself.

    All others are tested here, too, but for their distributions, which do not depend on where the
    package is installed.
    """
    environment, _ = installed
    path = linked(tmp_path / "path", *TESTING)
    package_elsewhere(path, "far_peel")
    (path / "tests" / "mechanisms").mkdir(parents=True)
    for name in ("test_contract.py", "goodness_of_fit.py"):
        shutil.copy(ROOT / "tests/mechanisms" / name, path / "tests/mechanisms" / name)
    statistics = "permuting or equally_likely or in_no_order or nobody_has"
    options = ("-vv", "-rN", "-p", "no:cacheprovider", "-k", f"far_peel or not ({statistics})")
    printed = environment.run(
        *("-m", "pytest", *options, "tests/mechanisms/test_contract.py"),
        cwd=path,
        env={"PYTHONPATH": str(path)},
    )
    for name in (*dp_topk.names(), "far_peel"):
        assert re.search(rf"\[.*\b{name}\b.*\] PASSED", printed), name
