"""Fuzzing Raft: the properties of each step, their history, and the seeded bugs."""
