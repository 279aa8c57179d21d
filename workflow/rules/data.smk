"""Gets the counts of each dataset.

In:   data/embedded/DATASET.csv (source: embedded), the original file, fetched to data/raw
      (source: download), or a file of the user (source: file)
Out:  data/raw/DATASET/verified/FILE, a link to the original (source: download)
      data/counts/DATASET.csv, the profile that everything after this reads, and
      data/counts/DATASET.json, its checksum and where it comes from
      results/datasets.csv, results/gaps.csv, results/histograms.csv: descriptions of them

Mistakes in data surface first: downloads and counts have priority over all other jobs.
"""


# No inputs: what was downloaded, or put there by hand, stays; the next rule verifies it again.
# The output is only a link: whatever Snakemake does to it, the original stays where it is.
rule download:
    output:
        "data/raw/{dataset}/verified/{filename}",
    log:
        "logs/download/{dataset}/{filename}.log",
    priority: 200
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=200,
        runtime=120,
    params:
        dataset="{dataset}",
        download=lambda names: plan["datasets"][names.dataset]["download"],
    message:
        "Downloading {wildcards.filename} for {wildcards.dataset}"
    script:
        "../scripts/data/rule_download.py"


rule counts:
    input:
        unpack(lambda names: plan.origin(names.dataset)),
        step=plan.code_of_step("data.rule_counts"),
        lock=LOCK,
    output:
        counts="data/counts/{dataset}.csv",
        facts="data/counts/{dataset}.json",
    log:
        "logs/counts/{dataset}.log",
    benchmark:
        "logs/counts/{dataset}.benchmark.tsv"
    priority: 100
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=700,
        runtime=30,
    params:
        dataset="{dataset}",
        source=lambda names: plan["datasets"][names.dataset]["source"],
        counts=lambda names: plan["datasets"][names.dataset].get("counts"),
        download=lambda names: plan["datasets"][names.dataset].get("download"),
        # A function of the inputs, which Snakemake does not compare with the last run's: other
        # ks are no reason to count again, and to repeat all trials.
        ks=lambda names, input: plan["ks"],
    message:
        "Counting {wildcards.dataset} ({params.source})"
    script:
        "../scripts/data/rule_counts.py"


rule datasets:
    input:
        counts=expand("data/counts/{dataset}.csv", dataset=plan.dataset_names),
        facts=expand("data/counts/{dataset}.json", dataset=plan.dataset_names),
        step=plan.code_of_step("data.rule_datasets"),
        lock=LOCK,
    output:
        table="results/datasets.csv",
        gaps="results/gaps.csv",
        histograms="results/histograms.csv",
    log:
        "logs/datasets.log",
    localrule: True
    conda:
        "../envs/pipeline.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        ks=plan["ks"],
        about=plan.about(),
    message:
        "Describing the datasets"
    script:
        "../scripts/data/rule_datasets.py"
