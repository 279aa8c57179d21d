"""Gets the counts of each dataset.

In:   data/embedded/DATASET.csv (source: embedded), the original file, fetched to data/raw
      (source: download), or a file of the user (source: file)
Out:  data/counts/DATASET.csv, the profile that everything after this reads, and
      data/counts/DATASET.json, its checksum and where it comes from
"""


# No inputs: what was downloaded, or put there by hand, stays; the next rule verifies it.
rule download:
    output:
        # not deleted before the rule runs: it may have been put there by hand
        update("data/raw/{dataset}/{filename}"),
    log:
        "logs/download/{dataset}/{filename}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=200,
        runtime=120,
    params:
        dataset="{dataset}",
        download=lambda names: plan["datasets"][names.dataset]["download"],
    message:
        "Downloading {wildcards.filename} for {wildcards.dataset}"
    script:
        "../scripts/download.py"


rule counts:
    input:
        unpack(lambda names: plan.origin(names.dataset)),
        step=plan.code_of_step("derive"),
        lock=LOCK,
    output:
        counts="data/counts/{dataset}.csv",
        facts="data/counts/{dataset}.json",
    log:
        "logs/counts/{dataset}.log",
    benchmark:
        "logs/counts/{dataset}.benchmark.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=30,
    params:
        dataset="{dataset}",
        source=lambda names: plan["datasets"][names.dataset]["source"],
        counts=lambda names: plan["datasets"][names.dataset].get("counts"),
        download=lambda names: plan["datasets"][names.dataset].get("download"),
    message:
        "Counting {wildcards.dataset} ({params.source})"
    script:
        "../scripts/derive.py"
