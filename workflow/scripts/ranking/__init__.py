"""Ranks the mechanisms over all k and epsilons."""
