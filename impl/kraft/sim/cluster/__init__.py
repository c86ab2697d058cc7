"""Controllers, brokers, one partition and operators together: choices in, states out.

Raft is here what its listeners are promised, as in Cluster: a leader is elected at will, with all
that is committed. How it keeps that has a simulation of its own. A configuration and a list of
choices reproduce a run.
"""
