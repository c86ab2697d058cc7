"""Raft as Kafka's controllers run it: pure handlers over a state that is a value.

Spec: KRaftVoters!DynamicNext.
Kafka: KafkaRaftClient.
"""
