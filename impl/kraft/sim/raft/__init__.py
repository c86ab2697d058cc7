"""A simulated quorum: replicas of the metadata log on simulated machines, disks and networks.

A run is a configuration, a seed and a plan of faults; the same three give the same run, step for
step, in any process.
"""
