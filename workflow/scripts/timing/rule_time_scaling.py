"""Time the mechanisms against the number of items and against k."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.timing.calls import write_scaling

    write_scaling(snakemake.output[0], snakemake.params.sweeps, snakemake.params.seed)
