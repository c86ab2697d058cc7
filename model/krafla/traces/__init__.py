"""Traces: behaviours as data, which every tool here finds, shrinks, explains, replays and keeps."""

from krafla.traces.changes import changes, step_changes
from krafla.traces.errors import TraceFormatError, TruncatedTraceError
from krafla.traces.lines import FORMAT_VERSION
from krafla.traces.ndjson import dumps, loads, loads_any, read_trace, read_whole_trace, write_trace
from krafla.traces.partial import Call, Called, Observation, PartialTrace, partial
from krafla.traces.spec_text import SpecText
from krafla.traces.trace import Claim, ClaimKind, Conjunct, Event, Origin, Step, Trace

__all__ = [
    "FORMAT_VERSION",
    "Call",
    "Called",
    "Claim",
    "ClaimKind",
    "Conjunct",
    "Event",
    "Observation",
    "Origin",
    "PartialTrace",
    "SpecText",
    "Step",
    "Trace",
    "TraceFormatError",
    "TruncatedTraceError",
    "changes",
    "dumps",
    "loads",
    "loads_any",
    "partial",
    "read_trace",
    "read_whole_trace",
    "step_changes",
    "write_trace",
]
