"""Whole clusters under faults: campaigns, the properties that every step is held to, seeded bugs.

What is asked of Raft is asked here as well (`krafla.fuzz.raft`). What is asked besides is of
controllers, of brokers and of the committed metadata log.
"""
