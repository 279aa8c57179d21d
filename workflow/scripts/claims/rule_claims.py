"""Check the statements of the paper, and ours, against the results."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.claims.checking import TABLES, main

    main(
        snakemake.output.csv,
        snakemake.output.md,
        **{name: snakemake.input[name] for name in TABLES},
        digests=next(iter(snakemake.input.digests), None),  # only for the published config
        neighbors=snakemake.params.neighbors,
        delta=snakemake.params.delta,
    )
