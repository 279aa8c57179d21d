"""Keep the config of the run."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.results.manifest import write_config

    write_config(snakemake.output[0], snakemake.params.config)
