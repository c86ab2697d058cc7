"""Deterministic simulation: choices or a seed in, states out.

Five simulations are driven by choices (`lease`, `metadata`, `reassignment`, `registration`,
`cluster`): a configuration and a list of choices reproduce a run byte for byte. Two simulate
machines, disks and networks (`raft`, `stack`): a configuration, a seed and a plan of faults do.
"""
