"""The simulation of Cluster.tla: controllers, brokers, one partition and operators together.

As in Cluster, Raft is reduced to the promises that its listeners get: a leader is elected at will,
with all committed records. The `raft` simulation covers how Raft keeps them. A configuration and a
list of choices reproduce a run.
"""
