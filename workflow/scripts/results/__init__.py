"""Puts the results together, and keeps where they come from."""
