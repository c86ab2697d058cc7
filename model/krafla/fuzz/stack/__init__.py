"""Fuzzing the stack: the properties of controllers, brokers and log, and the seeded bugs."""
