"""Writes down where the results come from.

In:   all results and figures
Out:  results/config.yaml  the config of the run, as it was merged and checked
      results/manifest.json  versions, commit, machine and a digest of every result and figure
"""


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
