"""The metadata image: the state that the records of a log describe, and the records of a state.

`MetadataImage` is never changed. A `MetadataDelta` replays records onto one and gives the next.
`snapshot_records` are the fewest records that describe an image. The reader of a log handles
transactions: only committed records are replayed here.

Kafka: MetadataImage, MetadataDelta.
"""
