"""The bytes that controllers, brokers and clients send each other: Kafka 4.1's protocol."""
