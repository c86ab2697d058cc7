"""Fuzzing of the lease protocol: the kinds of runs."""
