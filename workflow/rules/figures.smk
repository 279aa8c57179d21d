"""Draws the figures.

In:   results/*.csv, nothing else
Out:  figures/figure-1-gaps-and-errors ... figures/figure-7-pnf-joint, figures/datasets/DATASET
      and, with more than one epsilon, figures/error-against-epsilon; each as .png and .pdf
      figures/scaling, by its own target
"""

FIGURES = plan.figures()
TABLES = {
    "errors": "results/errors.csv",
    "gaps": "results/gaps.csv",
    "histograms": "results/histograms.csv",
    "timing": "results/timing_summary.csv",
}


rule figure:
    input:
        unpack(lambda names: {table: TABLES[table] for table in FIGURES[names.figure]["tables"]}),
        datasets="results/datasets.csv",
        step=plan.code_of_step("figures"),
        lock=LOCK,
    output:
        png=report(
            "figures/{figure}.png",
            caption="../report/figure.rst",
            category=lambda names: FIGURES[names.figure]["category"],
            labels=lambda names: {"shows": names.figure.removeprefix("datasets/")},
        ),
        pdf="figures/{figure}.pdf",
    log:
        "logs/figures/{figure}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        draws=lambda names: FIGURES[names.figure]["draws"],
        shows=lambda names: FIGURES[names.figure]["shows"],
        caption=lambda names: FIGURES[names.figure]["caption"],
    message:
        "Drawing {wildcards.figure}"
    script:
        "../scripts/figures.py"


rule time_scaling:
    input:
        mechanisms=plan.code_of(*plan["scaling"]["mechanisms"]),
        step=plan.code_of_step("scaling"),
        lock=LOCK,
    output:
        "results/scaling.csv",
    log:
        "logs/scaling.log",
    conda:
        "../../environment.yml"
    # all cores, so that nothing else runs meanwhile
    threads: ALL_CORES
    resources:
        mem_mb=1000 + plan["scaling"]["joint_alg1_max_cells"] * 50 // 10**6,
        runtime=60,
    params:
        plan=plan["scaling"],
        seed=plan["seed"],
    message:
        "Timing the mechanisms against the number of items and against k"
    script:
        "../scripts/scaling.py"


rule scaling:
    input:
        scaling="results/scaling.csv",
        step=plan.code_of_step("figures"),
        lock=LOCK,
    output:
        png="figures/scaling.png",
        pdf="figures/scaling.pdf",
    log:
        "logs/figures/scaling.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        draws="scaling",
        shows={
            "mechanisms": plan["scaling"]["mechanisms"],
            "labels": plan.labels(*plan["scaling"]["mechanisms"]),
        },
    message:
        "Drawing the cost against the number of items and against k"
    script:
        "../scripts/figures.py"
