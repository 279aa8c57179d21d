"""What the rules run: one room for each rules file.

In a room, `rule_NAME.py` is what the rule of that name runs: it reads what Snakemake gives and
calls the libraries beside it, which know nothing of Snakemake.
"""
