"""The refinement of KRaftSteps, which judges simulated runs of Raft step by step.

`krafla.refinement.raft.lockstep.RaftLockstep` is the judge; the other modules are its notation.
"""
