"""Ranks the mechanisms over all k and epsilons. Made where `leaderboard` in the config is true.

In:   results/trials/DATASET.csv, results/trials.csv
Out:  results/winners/DATASET.csv  the best mechanism of each cell; results/winners.csv, of all
      results/leaderboard.csv  mean rank, wins, ties and regret of each mechanism
      results/leaderboard.html  the same as a page for the report
"""


rule winners:
    input:
        trials="results/trials/{dataset}.csv",
        step=plan.code_of_step("ranking.rule_winners"),
        lock=LOCK,
    output:
        "results/winners/{dataset}.csv",
    log:
        "logs/winners/{dataset}.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        mechanisms=plan.ranked(),
    message:
        "Finding the winners on {wildcards.dataset}"
    script:
        "../scripts/ranking/rule_winners.py"


rule leaderboard:
    input:
        trials="results/trials.csv",
        winners=expand("results/winners/{dataset}.csv", dataset=plan.dataset_names),
        step=plan.code_of_step("ranking.rule_leaderboard"),
        lock=LOCK,
    output:
        leaderboard="results/leaderboard.csv",
        winners="results/winners.csv",
        page=report(
            "results/leaderboard.html",
            caption="../report/leaderboard.rst",
            category="Leaderboard",
            labels={"table": "ranking"},
        ),
    log:
        "logs/leaderboard.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        mechanisms=plan.ranked(),
        labels=plan.labels(*plan.ranked()),
        titles=catalogue.titles(plan, plan.dataset_names),
        seed=plan["seed"],
    message:
        "Ranking the mechanisms"
    script:
        "../scripts/ranking/rule_leaderboard.py"
