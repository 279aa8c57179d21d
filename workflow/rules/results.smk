"""Puts the results together.

In:   results/trials, and all other results and figures for the manifest
Out:  results/trials/DATASET.csv, results/errors/DATASET.csv, results/missing/DATASET.csv: every
      trial of a dataset, median and quartiles of each error, the cells that were not run
      results/trials.csv, results/errors.csv, results/missing.csv: the same of all datasets
      results/config.yaml  the config of the run, as it was merged and checked
      results/manifest.json  versions, commit, machine and a digest of every result and figure
"""


rule dataset_errors:
    input:
        cells=lambda names: [job["cells"] for job in plan.jobs(names.dataset)],
        missing=lambda names: [job["missing"] for job in plan.jobs(names.dataset)],
        facts=ancient("data/counts/{dataset}.json"),
        step=plan.code_of_step("results.rule_dataset_errors"),
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
    threads: 1
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
        "../scripts/results/rule_dataset_errors.py"


rule errors:
    input:
        trials=expand("results/trials/{dataset}.csv", dataset=plan.dataset_names),
        errors=expand("results/errors/{dataset}.csv", dataset=plan.dataset_names),
        missing=expand("results/missing/{dataset}.csv", dataset=plan.dataset_names),
        step=plan.code_of_step("results.rule_errors"),
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
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    message:
        "Putting the trials of all datasets together"
    script:
        "../scripts/results/rule_errors.py"


rule config:
    input:
        step=plan.code_of_step("results.rule_config"),
    output:
        "results/config.yaml",
    log:
        "logs/config.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    threads: 1
    resources:
        mem_mb=200,
        runtime=10,
    params:
        config=plan.config,
    message:
        "Keeping the config of this run"
    script:
        "../scripts/results/rule_config.py"


rule manifest:
    input:
        files=plan.products(FIGURES),
        step=plan.code_of_step("results.rule_manifest"),
        lock=LOCK,
    output:
        "results/manifest.json",
    log:
        "logs/manifest.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    threads: 1
    resources:
        mem_mb=200,
        runtime=10,
    params:
        # what the files are called, wherever a module or a storage provider has put them
        names=plan.products(FIGURES),
        commit=lambda names: commit(ROOT),
    message:
        "Writing down where the results come from"
    script:
        "../scripts/results/rule_manifest.py"
