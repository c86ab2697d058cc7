"""Deterministic simulation of a cluster: choices in, states out."""
