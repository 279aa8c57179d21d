"""Runs the mechanisms on the counts."""
