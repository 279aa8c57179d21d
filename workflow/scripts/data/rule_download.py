"""Fetch the original of a dataset."""

from pathlib import Path

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.data.download import fetch
    from workflow.scripts.data.originals import link

    verified = Path(snakemake.output[0])
    raw = str(verified.parents[1] / verified.name)
    original = fetch(snakemake.params.dataset, snakemake.params.download, raw)
    link(snakemake.output[0], original)
