"""Whole simulated clusters in lockstep with MetadataLog: what controllers and brokers make of it."""
