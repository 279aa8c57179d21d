"""Times the mechanisms."""
