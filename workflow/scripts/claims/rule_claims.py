"""Check the statements of the paper, and ours, against the results."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.claims.statements import TABLES, write_claims

    write_claims(
        snakemake.output.csv,
        snakemake.output.md,
        **{name: snakemake.input[name] for name in TABLES},
        **snakemake.params,
    )
