"""The experiment pipeline: rules for Snakemake, and the steps they run."""
