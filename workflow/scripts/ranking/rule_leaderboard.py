"""Rank the mechanisms over all k and epsilons."""

from workflow.scripts.common import logged

with logged(snakemake.log[0]):
    from workflow.scripts.ranking.leaderboard import write_leaderboard
    from workflow.scripts.ranking.pages import write_page
    from workflow.scripts.results.tables import concatenate

    made, given = snakemake.output, snakemake.params
    concatenate(made.winners, snakemake.input.winners)
    write_leaderboard(
        snakemake.input.trials, made.winners, given.mechanisms, given.seed, made.leaderboard
    )
    write_page(made.page, made.leaderboard, given.titles, given.labels)
