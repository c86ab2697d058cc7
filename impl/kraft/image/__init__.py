"""The metadata image: what the records of a log say, as a value, and back as the records of it.

`MetadataImage` is never changed. A `MetadataDelta` replays records onto one and gives the next,
`snapshot_records` are the fewest records that say an image. Transactions are for who reads a log to
follow: only what counts is replayed.

Kafka: MetadataImage, MetadataDelta.
"""
