"""Audits of real Kafka: metadata logs on disk, judged by the specs."""
