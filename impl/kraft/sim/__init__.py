"""Deterministic simulations: choices or a seed in, states out.

Choices drive five simulations (`lease`, `metadata`, `reassignment`, `registration`, `cluster`): a
configuration and a list of choices reproduce a run byte for byte. Two simulations have machines,
disks and networks (`raft`, `stack`): a configuration, a seed and a fault plan reproduce a run.
"""
