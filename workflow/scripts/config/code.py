"""Which files a step is made of: they are inputs of its rule, so that an edit repeats it."""

import re
from functools import cache
from pathlib import Path


def imported_files(root, *modules):
    """Files of these modules and of all project modules that they import, relative to root."""
    files, todo = {}, list(modules)
    while todo:
        module = todo.pop()
        if module in files:
            continue
        path = Path(*module.split("."))
        path = path / "__init__.py" if (root / path).is_dir() else path.with_suffix(".py")
        if not (root / path).is_file():
            continue
        files[module] = str(path)
        package = ".".join(path.parent.parts)
        todo += _imports((root / path).read_text(encoding="utf-8"), package)
    return set(files.values())


# Every start of Snakemake reads all modules, and the syntax tree would take ten times as long.
_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)  # may show imports
_IMPORT = re.compile(r"^[ \t]*(?:from (\.*)([\w.]*) )?import (?:\(([^)]*)\)|(.*))", re.MULTILINE)


@cache
def _imports(source, package):
    """Names of the project's modules that a module of `package` imports, or that may be such."""
    found = set()
    for dots, module, several, one in _IMPORT.findall(_DOCSTRING.sub("", source)):
        above = package.rsplit(".", len(dots) - 1)[0] if dots else ""
        origin = ".".join(filter(None, [above, module]))
        names = re.findall(r"[\w.]+", several or one)
        found |= {origin, *(f"{origin}.{name}" if origin else name for name in names)}
    return sorted(name for name in found if name.split(".")[0] in ("dp_topk", "workflow"))
