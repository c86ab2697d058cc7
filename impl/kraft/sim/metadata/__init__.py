"""Controllers and brokers over one metadata log: choices in, states out.

Raft is here what its listeners are promised, as in MetadataLog; how it keeps that has a simulation
of its own. A configuration and a list of choices reproduce a run.
"""
