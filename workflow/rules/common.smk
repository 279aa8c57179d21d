"""Reads and checks the config, and names what the rules share.

In:   config.yaml, and what the command line, or a workflow that uses this one, lays over it
Out:  ROOT, the project's folder
      plan, the checked config and all that follows from it (workflow/scripts/config/plan.py)
      FIGURES, what each figure shows (workflow/scripts/figures/catalogue.py)
      ALL_CORES, for a rule that must run alone
      LOCK, the file that pins the environment: results depend on it
"""

import os
import re
import sys
from pathlib import Path

# Not workflow.basedir, which is the folder of the workflow that uses this one as a module.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]
if not (ROOT / "config.yaml").is_file():
    sys.exit(
        "config: the rules need the files beside them, which github(...) and the like do not"
        " fetch; clone the repository and give the path of its Snakefile"
    )

# This very folder's packages, for the rules and for their jobs, whatever else is installed.
sys.path.insert(0, str(ROOT))
others = os.environ.get("PYTHONPATH")
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), others])))

from snakemake.exceptions import WorkflowError
from snakemake.io import sourcecache_entry

from workflow.scripts.common import InputError, require_usable_places
from workflow.scripts.config.plan import CELLS, MISSING, Plan
from workflow.scripts.config.reading import read_config
from workflow.scripts.figures import catalogue
from workflow.scripts.results.manifest import commit

# A module with a `config:` gets nothing else.
said = workflow.config_settings, workflow.configfiles
if workflow.modifier.skip_configfile:
    said = ()

# Without a shared file system all files are in a storage, but for those marked as sources:
# Snakemake takes them from the checkout that it deploys to every job.
stored = workflow.storage_settings.default_storage_provider

try:
    require_usable_places()
    plan = Plan(
        # The paths of a module may get a prefix unless they are absolute.
        root=ROOT if workflow.modifier.base_snakefile else os.path.relpath(ROOT),
        mark=(lambda path: sourcecache_entry(path, path)) if stored else str,
        **read_config(ROOT / "config.yaml", config, *said),
    )
except InputError as error:
    sys.exit(f"config: {error}")

FIGURES = catalogue.figures(plan)

try:
    ALL_CORES = workflow.cores
except WorkflowError:  # nobody said how many: a report, or a cluster
    ALL_CORES = 1

LOCK = plan.here("requirements.lock")


wildcard_constraints:
    dataset="|".join(plan.dataset_names),
    mechanism="|".join(plan["mechanisms"]),
    epsilon="|".join(map(re.escape, plan.epsilon_texts)),
    ks="|".join(plan.chunks()),
    first=r"[0-9]+",
    last=r"[0-9]+",
    filename=r"[^/]+",
