"""Fuzzing of the metadata protocol: the kinds of runs."""
