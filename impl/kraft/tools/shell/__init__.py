"""``kraft metadata-shell``: the image of a metadata log or checkpoint, as a tree to walk in.

Kafka: MetadataShell.
"""
