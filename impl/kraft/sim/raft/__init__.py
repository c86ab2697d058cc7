"""The simulation of Raft: replicas of the metadata log on simulated machines, disks and networks.

A configuration, a seed and a fault plan determine a run, step for step, in any Python process.
"""
