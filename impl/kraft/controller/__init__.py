"""The active controller: leases of brokers, and partitions.

Operations generate records; `replay` makes an image of them; `kraft.controller.active` has the
handlers that join the two for the lease, on an image of its own (`kraft.controller.image`).

The operations on topics, partitions, elections, directories and brokers work on `kraft.image`, the
image of all metadata. Those on brokers (`broker_registration`, `broker_heartbeats`) ask the rules
of the lease about a view of it (`lease_view`), and add what becomes of partitions.
"""
