"""Puts the results together.

In:   data/counts, results/trials
Out:  results/trials.csv    every trial
      results/errors.csv    median and quartiles of each error
      results/datasets.csv  the datasets; results/gaps.csv and results/histograms.csv of them
      results/manifest.json versions, commit, machine and a digest of every result and figure
"""


rule errors:
    input:
        trials=plan.trial_files(".csv"),
        checksums=plan.trial_files(".sha256"),
        step=plan.code_of_step("aggregate"),
        lock=LOCK,
    output:
        trials="results/trials.csv",
        errors=report(
            "results/errors.csv",
            caption="../report/errors.rst",
            category="Tables",
            labels={"table": "errors"},
        ),
    log:
        "logs/errors.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        parts=plan.parts(),
    message:
        "Summarising all trials by median and quartiles"
    script:
        "../scripts/aggregate.py"


rule datasets:
    input:
        counts=expand("data/counts/{dataset}.csv", dataset=plan.datasets),
        facts=expand("data/counts/{dataset}.json", dataset=plan.datasets),
        step=plan.code_of_step("datasets_table"),
        lock=LOCK,
    output:
        table="results/datasets.csv",
        gaps="results/gaps.csv",
        histograms="results/histograms.csv",
    log:
        "logs/datasets.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        k=plan["k"],
        about=plan.about(),
    message:
        "Describing the datasets"
    script:
        "../scripts/datasets_table.py"


rule manifest:
    input:
        files=plan.products(),
        step=plan.code_of_step("manifest"),
        lock=LOCK,
    output:
        "results/manifest.json",
    log:
        "logs/manifest.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=200,
        runtime=10,
    params:
        commit=lambda names: commit(workflow.basedir),
        config=plan.digest_of_all(),
    message:
        "Writing down where the results come from"
    script:
        "../scripts/manifest.py"
