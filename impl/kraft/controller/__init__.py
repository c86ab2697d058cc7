"""The controller: the operations that generate records, and the machine that runs them.

An operation reads the image of all metadata (`kraft.image`) and a request, and changes nothing. The
machine replays the generated records, appends them, and answers once they are committed.

Operations on brokers (`broker_registration`, `broker_heartbeats`) apply the rules of the lease to a
view of the image (`lease_view`), and add the records about partitions.

`kraft.sim.lease.active_controller` handles the lease alone, on a small image of its own, for the
simulation that `BrokerLease.tla` judges.
"""
