"""Traces: the one object a behaviour is found, shrunk, explained, replayed and kept as."""

from krafla.traces.changes import changes, step_changes
from krafla.traces.ndjson import FORMAT_VERSION, TraceFormatError, dumps, loads, read, write
from krafla.traces.partial import Observation, PartialTrace, partial
from krafla.traces.trace import Claim, ClaimKind, Conjunct, Event, Origin, Step, Trace

__all__ = [
    "FORMAT_VERSION",
    "Claim",
    "ClaimKind",
    "Conjunct",
    "Event",
    "Observation",
    "Origin",
    "PartialTrace",
    "Step",
    "Trace",
    "TraceFormatError",
    "changes",
    "dumps",
    "loads",
    "partial",
    "read",
    "step_changes",
    "write",
]
