"""Run the cells of one job."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.trials.cells import write_cells

    names = snakemake.wildcards
    write_cells(
        snakemake.input.counts,
        snakemake.input.facts,
        dataset=names.dataset,
        name=names.mechanism,
        epsilon=names.epsilon,
        trials=range(int(names.first), int(names.last) + 1),
        **snakemake.output,
        **snakemake.params,
    )
