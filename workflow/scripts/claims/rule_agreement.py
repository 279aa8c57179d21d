"""Draw from joint and from the published algorithm, to compare them."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.claims.agreement import write_agreement

    files = zip(snakemake.input.counts, snakemake.input.facts, strict=True)
    write_agreement(snakemake.output[0], files, **snakemake.params)
