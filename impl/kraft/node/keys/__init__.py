"""The keys of a Kafka 4.1 node: each with its default, by the type of its value.

A row is a mark, a name and its default: `c background.threads=10`. Without `=` there is none. The
mark says what sets the key: `-` the server.properties alone; `c` also records, for all nodes; `n`
also records, for one node; `s` also records, for one listener of a node; `i` the server.properties
alone, and a key that is not set is not told.
"""
