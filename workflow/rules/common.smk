"""Checks the config and names what the rules share.

In:   config.yaml, merged with what the command line says
Out:  plan, the checked config and all that follows from it (workflow/scripts/plan.py)
      ALL_CORES, for a rule that must run alone
      LOCK, the file that pins the environment: results depend on it
"""

import os
import sys

# This very folder's packages, for the rules and for their jobs, whatever else is installed.
sys.path.insert(0, workflow.basedir)

from snakemake.exceptions import WorkflowError

from workflow.scripts.common import InputError
from workflow.scripts.manifest import commit
from workflow.scripts.plan import Plan, let_jobs_import_from, memory_mb
from workflow.scripts.run_lock import guard

let_jobs_import_from(workflow.basedir)
guard(workflow)
try:
    plan = Plan(config, os.path.relpath(workflow.basedir), workflow.config_settings.config)
except InputError as error:
    sys.exit(f"config: {error}")

try:
    ALL_CORES = workflow.cores
except WorkflowError:  # nobody said how many: a report, or a cluster
    ALL_CORES = 1

LOCK = plan.here("requirements.lock")


wildcard_constraints:
    dataset=r"[a-z][a-z0-9_-]*",
    mechanism=r"[a-z][a-z0-9_]*",
    epsilon=r"[0-9.e-]+",
    k=r"[0-9]+",
    first=r"[0-9]+",
    last=r"[0-9]+",
    filename=r"[^/]+",
