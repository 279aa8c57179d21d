"""Fetch the original of a dataset."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.data.download import fetch
    from workflow.scripts.data.originals import link

    original = fetch(snakemake.params.dataset, snakemake.params.download, snakemake.params.raw)
    link(snakemake.output[0], original)
