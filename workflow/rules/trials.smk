"""Runs the mechanisms on the counts, and summarises their errors.

In:   data/counts/DATASET.csv
Out:  results/trials/DATASET/MECHANISM/epsilon=E_ks=FIRST-LAST_trials=FIRST-LAST.csv, the trials
      of some cells; beside it .missing.csv, the cells that could not be run, with the reason
      results/trials/DATASET.csv, results/errors/DATASET.csv, results/missing/DATASET.csv: every
      trial of a dataset, median and quartiles of each error, the cells that were not run
      results/trials.csv, results/errors.csv, results/missing.csv: the same of all datasets
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


rule dataset_errors:
    input:
        cells=lambda names: [job["cells"] for job in plan.jobs(names.dataset)],
        missing=lambda names: [job["missing"] for job in plan.jobs(names.dataset)],
        facts=ancient("data/counts/{dataset}.json"),
        step=plan.code_of_step("trials.rule_dataset_errors"),
        lock=LOCK,
    output:
        trials="results/trials/{dataset}.csv",
        errors="results/errors/{dataset}.csv",
        missing="results/missing/{dataset}.csv",
    log:
        "logs/errors/{dataset}.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        dataset="{dataset}",
        jobs=lambda names: plan.jobs(names.dataset),
        partial=plan.partial(),
        ks=plan["ks"],
    message:
        "Summarising the trials on {wildcards.dataset} by median and quartiles"
    script:
        "../scripts/trials/rule_dataset_errors.py"


rule errors:
    input:
        trials=expand("results/trials/{dataset}.csv", dataset=plan.dataset_names),
        errors=expand("results/errors/{dataset}.csv", dataset=plan.dataset_names),
        missing=expand("results/missing/{dataset}.csv", dataset=plan.dataset_names),
        step=plan.code_of_step("trials.rule_errors"),
        lock=LOCK,
    output:
        trials="results/trials.csv",
        errors=report(
            "results/errors.csv",
            caption="../report/errors.rst",
            category="Tables",
            labels={"table": "errors"},
        ),
        missing="results/missing.csv",
    log:
        "logs/errors.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=500,
        runtime=10,
    message:
        "Putting the trials of all datasets together"
    script:
        "../scripts/trials/rule_errors.py"
