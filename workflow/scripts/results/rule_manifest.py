"""Write down where the results come from."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.results.manifest import write_manifest

    write_manifest(snakemake.output[0], snakemake.input.files, snakemake.params.commit)
