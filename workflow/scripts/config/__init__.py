"""Checks the config and plans what is to be made."""
