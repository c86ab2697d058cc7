"""Schemas of every request and response that a controller of Kafka 4.1 reads or writes.

A schema has all versions of a message. Fields without `since` are in its oldest version already.
"""
