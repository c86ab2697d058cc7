"""Fuzzing the stack of controllers and brokers: the properties of each step, and seeded bugs.

The properties of Raft are checked here as well (`krafla.fuzz.raft`). The others are of controllers,
of brokers and of the committed metadata log.
"""
