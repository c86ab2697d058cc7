"""The quorum controller: what it knows, what it tells Raft and its clients, event by event.

`machine.on_event` takes a state and an event and returns the next state and the effects. What the
requests mean is in the operations beside this package; `operations` says which request is which.

Spec: MetadataLog!Next. Kafka: QuorumController.
"""
