"""No source of the project does what an attacker, or another machine, would need.

These are checks of the text of the sources: what is not there cannot be reached by any input.
"""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = {".git", ".venv", ".snakemake", "results", "figures", "logs", "site"}


def sources():
    """All files of the project that are text and not made by a run; in a clone, what git keeps."""
    listing = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
        paths = [ROOT / name for name in names.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not MADE & {*path.relative_to(ROOT).parts}]
    text = {}
    for path in filter(Path.is_file, paths):
        try:
            text[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            assert path.suffix in (".png", ".pdf", ".gz", ".pyc"), path
    return text


SOURCES = sources()
CODE = {
    name: text
    for name, text in SOURCES.items()
    if name.endswith(".py") and not name.startswith("tests/")
}
RULES = {name: text for name, text in SOURCES.items() if name.endswith((".smk", "Snakefile"))}

MODULES = {"pickle", "marshal", "shelve", "dill", "joblib"}
CALLS = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "tempfile.mktemp",
    "yaml.load", "yaml.full_load", "yaml.unsafe_load", "np.load", "pd.read_pickle",
}  # fmt: skip
SWITCHES = {"shell", "allow_pickle"}


def dangers(text):
    """Names of what must not be in code: unsafe modules and calls, strings given to a shell."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module).partition(".")[0]} & MODULES
        elif isinstance(node, ast.Call):
            found |= {ast.unparse(node.func)} & CALLS
            found |= {word.arg for word in node.keywords} & SWITCHES
    return found


@pytest.mark.parametrize(
    "text",
    [
        "import pickle", "from joblib import load", "eval('1')", "exec(text)", "os.system(name)",
        "yaml.load(file)", "subprocess.run(command, shell=True)", "np.load(path)",
    ],
)  # fmt: skip
def test_the_check_finds_what_it_looks_for(text):
    assert dangers(text)


def test_there_are_sources_to_check():
    assert {"workflow/scripts/common.py", "mechanisms/joint.py"} <= CODE.keys()
    assert {"Snakefile", "workflow/rules/trials.smk"} <= RULES.keys()


@pytest.mark.parametrize("name", CODE)
def test_code_runs_no_text_and_unpickles_nothing(name):
    assert not dangers(CODE[name])


@pytest.mark.parametrize("name", RULES)
def test_rules_call_scripts_and_no_shell(name):
    assert not re.search(r"^\s*(shell|run|wrapper|notebook)\s*:", RULES[name], re.MULTILINE)
    assert not re.search(r"\b(shell|eval|exec)\(", RULES[name])


@pytest.mark.parametrize("folder", ["work", "root", "home", "Users", "mnt"])
def test_no_source_knows_the_machine_it_was_written_on(folder):
    path = re.compile(rf"(?<![\w.~-])/{folder}/")
    assert [name for name, text in SOURCES.items() if path.search(text)] == []


@pytest.mark.parametrize("host", ["pypi", "pythonhosted", "anaconda", "npmjs", "crates"])
def test_no_source_names_a_package_registry(host):
    address = re.compile(rf"\b{host}\.(org|com|io)\b", re.IGNORECASE)
    assert [name for name, text in SOURCES.items() if address.search(text)] == []


def test_no_source_holds_a_secret():
    secret = re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY|\b(ghp|gho|github_pat|xox[bp]|AKIA)[A-Za-z0-9_]{16,}"
    )
    assert [name for name, text in SOURCES.items() if secret.search(text)] == []
