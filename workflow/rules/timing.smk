"""Times `select` of the mechanisms, alone on the machine.

In:   data/counts/DATASET.csv of the dataset named under `timing` in the config
Out:  results/timing.csv, a row per call; results/timing_summary.csv, medians and quartiles
      results/scaling.csv, times against d and k on generated counts, by its own target
"""


rule timing:
    input:
        counts=f"data/counts/{plan['timing']['dataset']}.csv",
        facts=ancient(f"data/counts/{plan['timing']['dataset']}.json"),
        mechanisms=plan.code_of(*plan["timing"]["mechanisms"]),
        step=plan.code_of_step("timing.rule_timing"),
        lock=LOCK,
    output:
        timing="results/timing.csv",
        summary=report(
            "results/timing_summary.csv",
            caption="../report/timing.rst",
            category="Tables",
            labels={"table": "timing"},
        ),
    log:
        "logs/timing.log",
    conda:
        "../envs/pipeline.yml"
    threads: ALL_CORES
    resources:
        mem_mb=lambda names, input: max(
            plan.memory_mb(name, max(ks), input.counts, input.facts, written_out=True)
            for name, ks in plan["timing"]["mechanisms"].items()
        ),
        runtime=30,
    params:
        dataset=plan["timing"]["dataset"],
        ks_of=plan["timing"]["mechanisms"],
        trials=plan["timing"]["trials"],
        epsilon=plan.epsilon_texts[0],
        seed=plan["seed"],
        settings=plan.settings(*plan["timing"]["mechanisms"]),
    message:
        "Timing the mechanisms on {params.dataset}; nothing else runs meanwhile"
    script:
        "../scripts/timing/rule_timing.py"


rule time_scaling:
    input:
        mechanisms=plan.code_of(*plan["scaling"]["mechanisms"]),
        step=plan.code_of_step("timing.rule_time_scaling"),
        lock=LOCK,
    output:
        "results/scaling.csv",
    log:
        "logs/scaling.log",
    conda:
        "../envs/pipeline.yml"
    threads: ALL_CORES
    resources:
        mem_mb=1000 + plan["scaling"]["published_max_pairs"] * 50 // 10**6,
        runtime=60,
    params:
        sweeps=plan["scaling"],
        seed=plan["seed"],
    message:
        "Timing the mechanisms against the number of items and against k"
    script:
        "../scripts/timing/rule_time_scaling.py"
