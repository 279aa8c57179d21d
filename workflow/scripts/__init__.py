"""The steps of the pipeline, one module each; none of them needs Snakemake to be called."""
