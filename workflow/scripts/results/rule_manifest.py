"""Write down where the results come from."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.results.manifest import write_manifest

    files = dict(zip(snakemake.params.names, snakemake.input.files, strict=True))
    write_manifest(snakemake.output[0], files, snakemake.params.commit)
