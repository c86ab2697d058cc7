"""The reference implementation: Kafka's KRaft controller, brokers and log as pure functions."""
