"""Time the mechanisms on one dataset."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.timing.calls import write_timing

    write_timing(
        snakemake.input.counts,
        snakemake.input.facts,
        timing=snakemake.output.timing,
        summary=snakemake.output.summary,
        **snakemake.params,
    )
