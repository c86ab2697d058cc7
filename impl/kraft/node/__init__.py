"""A running controller: `kraft.hosting` over real clocks, files and sockets.

`kraft server start server.properties` runs it; docs/nodes.md shows a cluster of them.
"""
