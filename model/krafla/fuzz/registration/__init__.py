"""Fuzzing of the registration protocol: the kinds of runs."""
