"""The controller: operations that generate records, and the machine that runs them over the log.

An operation takes the image of all metadata (`kraft.image`) and a request, and changes nothing;
`kraft.controller` replays what it generates, appends that, and answers when it is committed.
Operations on brokers (`broker_registration`, `broker_heartbeats`) ask the rules of the lease about
a view of the image (`lease_view`), and add what becomes of partitions.

`kraft.sim.lease.active_controller` has the handlers of the lease alone, on an image of its own
(`kraft.sim.lease.image`), for the simulation that `BrokerLease.tla` judges.
"""
