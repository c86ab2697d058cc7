"""The simulation of reassignment: one partition that moves between brokers.

The controller's records are committed at once, and brokers are fenced and unfenced at will; other
simulations cover Raft and the lease. A configuration and a list of choices reproduce a run.
"""
