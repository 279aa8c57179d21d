"""Make pages of the tables."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.claims.pages import claims_page, datasets_page, write_page

    write_page(snakemake.output.claims, claims_page, snakemake.input.claims)
    write_page(snakemake.output.datasets, datasets_page, snakemake.input.datasets)
