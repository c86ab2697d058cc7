"""A client of controllers and brokers, for the command line: one request after the other.

It blocks, and has no thread of its own. Kafka: KafkaAdminClient.
"""
