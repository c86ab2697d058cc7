"""The metrics of a node under Kafka's names: what is read from its state, and what is counted.

Kafka: QuorumControllerMetrics, ControllerMetadataMetrics, KafkaRaftMetrics, RequestMetrics.
"""
