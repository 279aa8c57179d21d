"""Checks the statements of the paper, and ours, against the results.

In:   results/*.csv
Out:  results/agreement.csv  draws of joint and of the published algorithm
      results/claims.csv, results/claims.md  a verdict on each statement
      results/claims.html, results/datasets.html  pages for the report
"""


rule agreement:
    input:
        counts=expand("data/counts/{dataset}.csv", dataset=plan["agreement"]["datasets"]),
        facts=ancient(expand("data/counts/{dataset}.json", dataset=plan["agreement"]["datasets"])),
        mechanisms=plan.code_of("joint", "joint_alg1"),
        step=plan.code_of_step("claims.rule_agreement"),
        lock=LOCK,
    output:
        "results/agreement.csv",
    log:
        "logs/agreement.log",
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=lambda names, input: max(
            plan.memory_mb("joint_alg1", max(plan["agreement"]["ks"]), *files)
            for files in zip(input.counts, input.facts)
        ),
        runtime=10,
    params:
        datasets=plan["agreement"]["datasets"],
        ks=plan["agreement"]["ks"],
        draws=plan["agreement"]["draws"],
        epsilon=plan.epsilon_texts[0],
        seed=plan["seed"],
        settings=plan.settings("joint", "joint_alg1"),
    message:
        "Drawing from joint and from the published algorithm, to compare them"
    script:
        "../scripts/claims/rule_agreement.py"


rule claims:
    input:
        datasets="results/datasets.csv",
        trials="results/trials.csv",
        timing="results/timing_summary.csv",
        gaps="results/gaps.csv",
        agreement="results/agreement.csv",
        statements=plan.here("workflow/statements.csv"),
        words=plan.here("workflow/words.csv"),
        step=plan.code_of_step("claims.rule_claims"),
        lock=LOCK,
    output:
        csv="results/claims.csv",
        md="results/claims.md",
    log:
        "logs/claims.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        neighbors=plan["neighbors"],
        delta=plan["delta"],
    message:
        "Checking the statements of the paper"
    script:
        "../scripts/claims/rule_claims.py"


rule pages:
    input:
        claims="results/claims.csv",
        datasets="results/datasets.csv",
        step=plan.code_of_step("claims.rule_pages"),
        lock=LOCK,
    output:
        claims=report(
            "results/claims.html",
            caption="../report/claims.rst",
            category="Claims",
            labels={"table": "verdicts"},
        ),
        datasets=report(
            "results/datasets.html",
            caption="../report/datasets.rst",
            category="Datasets",
            labels={"shows": "table of all"},
        ),
    log:
        "logs/pages.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=500,
        runtime=10,
    message:
        "Making pages of the tables"
    script:
        "../scripts/claims/rule_pages.py"
