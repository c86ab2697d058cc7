"""Whole clusters: controllers over Raft, brokers that lead and follow, operators; and their faults.

A cluster is a simulated quorum (`kraft.sim.raft`) with another workload above it: the voters run
`kraft.controller`, the observers `kraft.broker`. All of them talk over the same network, and
what befalls their machines, disks and clocks befalls them. The same configuration, seed and plan
give the same run.
"""
