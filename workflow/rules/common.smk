"""Checks the config and names what the rules share.

In:   config.yaml, merged with what the command line says
Out:  plan, the checked config and all that follows from it (workflow/scripts/config/plan.py)
      FIGURES, what each figure shows (workflow/scripts/figures/catalogue.py)
      ALL_CORES, for a rule that must run alone
      LOCK, the file that pins the environment: results depend on it
"""

import os
import sys

# This very folder's packages, for the rules and for their jobs, whatever else is installed.
sys.path.insert(0, workflow.basedir)

from snakemake.exceptions import WorkflowError

from workflow.scripts.common import InputError, require_usable_places
from workflow.scripts.config.code import let_jobs_import_from
from workflow.scripts.config.plan import CELLS, MISSING, Plan
from workflow.scripts.config.resources import memory_mb, trial_minutes
from workflow.scripts.figures import catalogue
from workflow.scripts.results.manifest import commit
from workflow.scripts.results.verify import published_digests

let_jobs_import_from(workflow.basedir)
try:
    require_usable_places()
    plan = Plan(config, os.path.relpath(workflow.basedir), workflow.config_settings.config)
except InputError as error:
    sys.exit(f"config: {error}")

FIGURES = catalogue.figures(plan)

try:
    ALL_CORES = workflow.cores
except WorkflowError:  # nobody said how many: a report, or a cluster
    ALL_CORES = 1

LOCK = plan.here("requirements.lock")


wildcard_constraints:
    dataset=r"[a-z][a-z0-9_-]*",
    mechanism=r"[a-z][a-z0-9_]*",
    epsilon=r"[0-9.e-]+",
    ks=r"[0-9]+-[0-9]+",
    first=r"[0-9]+",
    last=r"[0-9]+",
    filename=r"[^/]+",
