"""The simulation of the metadata log: controllers and brokers over one log.

As in MetadataLog, Raft is reduced to the promises that its listeners get. The `raft` simulation
covers how Raft keeps them. A configuration and a list of choices reproduce a run.
"""
