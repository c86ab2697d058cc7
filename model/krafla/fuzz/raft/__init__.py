"""Fuzzing the Raft layer: properties on ghost history, campaigns over seeds, seeded bugs."""
