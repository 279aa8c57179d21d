"""Summarise the trials of one dataset."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.results.errors import write_errors

    write_errors(
        snakemake.wildcards.dataset,
        snakemake.params.jobs,
        trials=snakemake.output.trials,
        errors=snakemake.output.errors,
        missing=snakemake.output.missing,
    )
