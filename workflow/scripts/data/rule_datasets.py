"""Describe the datasets of a run."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.data.describe import describe

    describe(
        zip(snakemake.input.counts, snakemake.input.facts, strict=True),
        about=snakemake.params.about,
        ks=snakemake.params.ks,
        table=snakemake.output.table,
        gaps=snakemake.output.gaps,
        histograms=snakemake.output.histograms,
    )
