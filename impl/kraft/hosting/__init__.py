"""What a process above Raft does, in which order: simulators and real nodes run this one path.

It is pure. What runs it, like `kraft.sim.raft`, brings clock, chance, network and disk.
"""
