"""Runs the mechanisms on the counts.

In:   data/counts/DATASET.csv
Out:  results/trials/DATASET/MECHANISM/epsilon=E_k=K_trials=FIRST-LAST.csv, with a checksum
"""


rule trials:
    input:
        counts="data/counts/{dataset}.csv",
        # its checksum; a new title must not repeat the trials
        facts=ancient("data/counts/{dataset}.json"),
        mechanism=lambda names: plan.code_of(names.mechanism),
        step=plan.code_of_step("run_trials"),
        lock=LOCK,
    output:
        trials="results/trials/{dataset}/{mechanism}/epsilon={epsilon}_k={k}_trials={first}-{last}.csv",
        checksum="results/trials/{dataset}/{mechanism}/epsilon={epsilon}_k={k}_trials={first}-{last}.sha256",
    log:
        "logs/trials/{dataset}/{mechanism}/epsilon={epsilon}_k={k}_trials={first}-{last}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=lambda names, input: memory_mb(input.counts, input.facts, names.mechanism, names.k),
        runtime=lambda names: 2 + (int(names.last) - int(names.first)) * int(names.k) // 200_000,
    params:
        seed=plan["seed"],
        privacy=lambda names: plan.privacy(names.mechanism),
    message:
        "Selecting the top {wildcards.k} of {wildcards.dataset} with {wildcards.mechanism}"
        " at epsilon = {wildcards.epsilon}, trials {wildcards.first} to {wildcards.last}"
    script:
        "../scripts/run_trials.py"
