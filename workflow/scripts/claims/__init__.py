"""Checks the statements of the paper against the results."""
