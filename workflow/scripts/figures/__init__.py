"""Draws the figures."""
