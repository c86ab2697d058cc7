"""One partition that moves between brokers: choices in, states out.

The controller's records are committed at once and brokers are fenced and unfenced at will; Raft and
leases have simulations of their own. A configuration and a list of choices reproduce a run.
"""
