"""The active controller: leases of brokers, and partitions.

Operations generate records; `replay` makes an image of them; `kraft.controller.active` has the
handlers that join the two for the lease, on an image of its own (`kraft.controller.image`).

The operations on topics, partitions, elections and directories work on `kraft.image`, the image of
all metadata; no active controller calls them yet.
"""
