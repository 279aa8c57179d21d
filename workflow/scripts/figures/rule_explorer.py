"""Write the page on which people choose which errors they see."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.figures.explorer import write_explorer

    write_explorer(
        snakemake.input.errors,
        snakemake.output[0],
        snakemake.params.labels,
        snakemake.params.titles,
        snakemake.params.kinds,
    )
