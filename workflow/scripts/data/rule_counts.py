"""Make the profile of a dataset from its source."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.data.derive import make_counts

    make_counts(
        snakemake.params.dataset,
        snakemake.params.source,
        raw=snakemake.input.raw,
        embedded=snakemake.input.get("embedded"),
        how=snakemake.params.counts,
        download=snakemake.params.get("download"),
        counts=snakemake.output.counts,
        facts=snakemake.output.facts,
        ks=snakemake.params.ks,
        # The rest is for Python itself and for what DuckDB does not count.
        memory_mb=snakemake.resources.mem_mb - 200,
    )
