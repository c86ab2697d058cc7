"""Traces: the one object a behaviour is found, shrunk, explained, replayed and kept as."""

from krafla.traces.changes import changes, step_changes
from krafla.traces.ndjson import FORMAT_VERSION, TraceFormatError, dumps, loads, read, write
from krafla.traces.trace import Claim, ClaimKind, Step, Trace

__all__ = [
    "FORMAT_VERSION",
    "Claim",
    "ClaimKind",
    "Step",
    "Trace",
    "TraceFormatError",
    "changes",
    "dumps",
    "loads",
    "read",
    "step_changes",
    "write",
]
