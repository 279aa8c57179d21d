"""Time the mechanisms on one dataset."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.timing.calls import write_timing

    given, made = snakemake.input, snakemake.output
    write_timing(given.counts, given.facts, **made, **snakemake.params)
