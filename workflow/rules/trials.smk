"""Runs the mechanisms on the counts.

In:   data/counts/DATASET.csv
Out:  results/trials/DATASET/MECHANISM/epsilon=E_ks=FIRST-LAST_trials=FIRST-LAST.csv, the trials
      of some cells; beside it .missing.csv, the cells that could not be run, with the reason
"""


rule trials:
    input:
        counts="data/counts/{dataset}.csv",
        # its checksum; a new title must not repeat the trials
        facts=ancient("data/counts/{dataset}.json"),
        mechanism=lambda names: plan.code_of(names.mechanism),
        step=plan.code_of_step("trials.rule_trials"),
        lock=LOCK,
    output:
        cells=CELLS,
        missing=MISSING,
    log:
        CELLS.replace("results", "logs").replace(".csv", ".log"),
    conda:
        "../envs/pipeline.yml"
    threads: 1
    resources:
        mem_mb=lambda names, input: plan.memory_mb(
            names.mechanism, max(plan.chunks()[names.ks]), input.counts, input.facts
        ),
        runtime=lambda names: plan.trial_minutes(
            names.mechanism, plan.chunks()[names.ks], names.first, names.last
        ),
    params:
        seed=plan["seed"],
        ks=lambda names: plan.chunks()[names.ks],
        setting=lambda names: plan.setting(names.mechanism),
    message:
        "Selecting from {wildcards.dataset} with {wildcards.mechanism} at epsilon ="
        " {wildcards.epsilon}, k = {wildcards.ks}, trials {wildcards.first} to {wildcards.last}"
    script:
        "../scripts/trials/rule_trials.py"
