# Every figure of "A Joint Exponential Mechanism For Differentially Private Top-k" (ICML 2022):
#
#     snakemake --cores 2
#
# config.yaml says what is made; workflow/rules says how.

from snakemake.utils import min_version

min_version("9.0")


# ------------------------------------------------------------- load configuration


configfile: f"{workflow.basedir}/config.yaml"


include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


# ------------------------------------------------------------- load rules


include: "workflow/rules/data.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/timing.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"


# ------------------------------------------------------------- target rules


rule all:
    default_target: True
    input:
        # The first two, because Snakemake does not miss what only other files are made from:
        # after jobs that failed, those would stay as they were.
        expand("data/counts/{dataset}.csv", dataset=plan.datasets),
        plan.trial_files(".csv"),
        plan.products(),
        "results/manifest.json",
    message:
        "Everything is made: see figures/ and results/"
