"""Find the best mechanism of each cell of a dataset."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.ranking.leaderboard import write_winners

    write_winners(snakemake.input.trials, snakemake.params.mechanisms, snakemake.output[0])
