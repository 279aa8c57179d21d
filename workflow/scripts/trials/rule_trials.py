"""Run the cells of one job."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.trials.cells import write_cells

    names, given = snakemake.wildcards, snakemake.params
    write_cells(
        snakemake.input.counts,
        snakemake.input.facts,
        cells=snakemake.output.cells,
        missing=snakemake.output.missing,
        dataset=names.dataset,
        name=names.mechanism,
        epsilon=names.epsilon,
        ks=given.ks,
        trials=range(int(names.first), int(names.last) + 1),
        seed=given.seed,
        setting=given.setting,
    )
