# Every figure of "A Joint Exponential Mechanism For Differentially Private Top-k" (ICML 2022):
#
#     snakemake --cores 2
#
# config.yaml says what is made; workflow/rules says how. Other workflows can use it as a module or
# include it (docs/cluster.md): the config that they give is laid over config.yaml.

from snakemake.utils import min_version

min_version("9.0")


# ------------------------------------------------------------- load configuration


# reads config.yaml, lays over it what the command line or another workflow gives, and checks it
include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


# ------------------------------------------------------------- load rules


include: "workflow/rules/data.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/ranking.smk"


# ------------------------------------------------------------- target rules


rule all:
    default_target: True
    input:
        # The first two are intermediate. Snakemake would not notice that one is missing after a
        # job failed, as long as what was made from it is there.
        expand("data/counts/{dataset}.csv", dataset=plan.dataset_names),
        [job["cells"] for dataset in plan.dataset_names for job in plan.jobs(dataset)],
        plan.products(FIGURES),
        "results/manifest.json",
    message:
        "Everything is made: see figures/ and results/"
