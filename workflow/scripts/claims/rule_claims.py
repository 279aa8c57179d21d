"""Check the statements of the paper, and ours, against the results."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.claims.statements import write_claims

    made = snakemake.output
    write_claims(made.csv, made.md, snakemake.input, **snakemake.params)
