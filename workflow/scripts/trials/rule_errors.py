"""Put the tables of all datasets together."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.results.tables import concatenate

    for table, whole in snakemake.output.items():
        concatenate(whole, snakemake.input[table])
