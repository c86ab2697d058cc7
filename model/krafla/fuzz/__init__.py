"""Fuzzing: simulated clusters with faults, every step judged by the spec."""
