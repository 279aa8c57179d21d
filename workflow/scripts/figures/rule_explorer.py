"""Write the page on which people choose which errors they see."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.figures.explorer import write_explorer

    given, (page,) = snakemake.params, snakemake.output
    write_explorer(snakemake.input.errors, page, given.labels, given.titles, given.kinds)
