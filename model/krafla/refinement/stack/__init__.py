"""Whole clusters in lockstep with MetadataLog: what their controllers and brokers show."""
