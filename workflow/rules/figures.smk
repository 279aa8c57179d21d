"""Draws the figures that workflow/scripts/figures/catalogue.py lists.

In:   results/*.csv; for the page of a dataset its own results and counts only
Out:  figures/figure-1-gaps-and-errors ... figures/figure-7-pnf-joint, figures/datasets/DATASET
      and, with more than one epsilon, figures/error-against-epsilon; each as .png and .pdf, and
      as .html, a page with the picture, which the report shows
      figures/scaling, by its own target
      results/explorer.html, on which people choose which errors they see

A process takes as long to start as a figure takes to draw, so figures that wait for the same
tables share one.
"""

TIMED = [name for name in FIGURES if "timing_summary" in FIGURES[name].tables]
PAGES = [name for name in FIGURES if name.startswith("datasets/")]
REST = [name for name in FIGURES if name not in TIMED + PAGES]


rule figures:
    input:
        tables=catalogue.files_of(FIGURES, *REST),
        step=plan.code_of_step("figures.rule_figures"),
        lock=LOCK,
    output:
        png=[f"figures/{name}.png" for name in REST],
        pdf=[f"figures/{name}.pdf" for name in REST],
        page=[report(f"figures/{name}.html", **catalogue.in_report(name)) for name in REST],
    log:
        "logs/figures/figures.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        figures=catalogue.entries(FIGURES, *REST),
    message:
        "Drawing the figures of errors and counts"
    script:
        "../scripts/figures/rule_figures.py"


use rule figures as figure_of_times with:
    input:
        tables=catalogue.files_of(FIGURES, *TIMED),
        step=plan.code_of_step("figures.rule_figures"),
        lock=LOCK,
    output:
        png=[f"figures/{name}.png" for name in TIMED],
        pdf=[f"figures/{name}.pdf" for name in TIMED],
        page=[report(f"figures/{name}.html", **catalogue.in_report(name)) for name in TIMED],
    log:
        "logs/figures/times.log",
    params:
        figures=catalogue.entries(FIGURES, *TIMED),
    message:
        "Drawing the figure of times"


use rule figures as dataset_page with:
    input:
        tables=lambda names: catalogue.files_of(FIGURES, f"datasets/{names.dataset}"),
        step=plan.code_of_step("figures.rule_figures"),
        lock=LOCK,
    output:
        png=["figures/datasets/{dataset}.png"],
        pdf=["figures/datasets/{dataset}.pdf"],
        page=[
            report("figures/datasets/{dataset}.html", **catalogue.in_report("datasets/{dataset}"))
        ],
    log:
        "logs/figures/datasets/{dataset}.log",
    params:
        figures=lambda names: catalogue.entries(FIGURES, f"datasets/{names.dataset}"),
    message:
        "Drawing the page of {wildcards.dataset}"


use rule figures as scaling with:
    input:
        tables=["results/scaling.csv"],
        step=plan.code_of_step("figures.rule_figures"),
        lock=LOCK,
    output:
        png=["figures/scaling.png"],
        pdf=["figures/scaling.pdf"],
        page=["figures/scaling.html"],
    log:
        "logs/figures/scaling.log",
    params:
        figures={"scaling": catalogue.scaling(plan)._asdict()},
    message:
        "Drawing the cost against the number of items and against k"


rule explorer:
    input:
        errors="results/errors.csv",
        step=plan.code_of_step("figures.rule_explorer"),
        page=plan.here("workflow/scripts/figures/explorer.html"),
        lock=LOCK,
    output:
        report(
            "results/explorer.html",
            caption="../report/explorer.rst",
            category="Explorer",
            labels={"page": "explorer"},
        ),
    log:
        "logs/explorer.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        labels=plan.labels(*plan.ranked()),
        titles=catalogue.titles(plan, plan.dataset_names),
        kinds=plan.ranked(),
    message:
        "Writing the page on which errors can be explored"
    script:
        "../scripts/figures/rule_explorer.py"
