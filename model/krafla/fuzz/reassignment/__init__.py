"""Fuzzing of the reassignment protocol: the kinds of runs."""
