"""Kafka metadata records: schemas, codec, record batches."""
