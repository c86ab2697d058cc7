"""Fuzzing of the cluster protocol: the kinds of runs."""
