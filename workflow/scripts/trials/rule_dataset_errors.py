"""Summarise the trials of one dataset."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.data.profiles import read_facts, require_enough_items
    from workflow.scripts.trials.errors import write_errors

    given, made = snakemake.params, snakemake.output
    require_enough_items(given.dataset, read_facts(snakemake.input.facts)["d"], given.ks)
    files = zip(given.jobs, snakemake.input.cells, snakemake.input.missing, strict=True)
    jobs = [job | {"cells": cells, "missing": missing} for job, cells, missing in files]
    write_errors(given.dataset, jobs, made.trials, made.errors, made.missing, partial=given.partial)
