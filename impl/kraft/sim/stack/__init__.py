"""The simulation of the whole stack: controllers over Raft, brokers, operators and producers.

It is the simulation of Raft (`kraft.sim.raft`) with another workload: the voters run
`kraft.controller`, the observers run `kraft.broker`. All of them share the network, and the faults
of machines, disks and clocks hit them, too. A configuration, a seed and a fault plan determine a
run.
"""
