"""Simulated runs of Raft, judged step by step by KRaftSteps.

Lazy: `krafla.refinement.raft.lockstep.Lockstep` is the judge, the other modules are its notation.
"""
