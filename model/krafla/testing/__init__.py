"""The public package: a spec judges the steps of your code, alone or under Hypothesis.

``Spec`` is a loaded spec, ``Judge`` follows it step by step, ``SpecMachine`` with ``@action`` makes
a stateful test of Hypothesis out of both. Everything here is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from krafla.oracle import EvaluationError, Explanation, Spec, SpecError, State
    from krafla.testing.completion import AmbiguousStepWarning
    from krafla.testing.counterexample_source import counterexamples
    from krafla.testing.errors import (
        Inconclusive,
        Refused,
        SpecViolation,
        UnjudgedWarning,
        UnobservedWarning,
    )
    from krafla.testing.file_source import trace_files
    from krafla.testing.fixtures import SpecLoader, TraceValidator
    from krafla.testing.judge import Judge
    from krafla.testing.machine import SpecMachine
    from krafla.testing.rules import action, member_of
    from krafla.testing.setting import NoBehaviour
    from krafla.testing.spec_paths import shortest_paths
    from krafla.testing.taken import Taken
    from krafla.testing.trace_drive import Departure, Driven, drive
    from krafla.testing.trace_tests import spec_trace
    from krafla.testing.walks import random_walks
    from krafla.traces import (
        Claim,
        ClaimKind,
        Observation,
        PartialTrace,
        Step,
        Trace,
        read_trace,
        write_trace,
    )
    from krafla.values import Function, ModelValue, Record, Value
    from krafla.verdict import KraflaError

__all__ = [
    "AmbiguousStepWarning",
    "Claim",
    "ClaimKind",
    "Departure",
    "Driven",
    "EvaluationError",
    "Explanation",
    "Function",
    "Inconclusive",
    "Judge",
    "KraflaError",
    "ModelValue",
    "NoBehaviour",
    "Observation",
    "PartialTrace",
    "Record",
    "Refused",
    "Spec",
    "SpecError",
    "SpecLoader",
    "SpecMachine",
    "SpecViolation",
    "State",
    "Step",
    "Taken",
    "Trace",
    "TraceValidator",
    "UnjudgedWarning",
    "UnobservedWarning",
    "Value",
    "action",
    "counterexamples",
    "drive",
    "member_of",
    "random_walks",
    "read_trace",
    "shortest_paths",
    "spec_trace",
    "trace_files",
    "write_trace",
]

_HOMES: Final = {
    **dict.fromkeys(
        ("EvaluationError", "Explanation", "Spec", "SpecError", "State"), "krafla.oracle"
    ),
    **dict.fromkeys(
        ("Inconclusive", "Refused", "SpecViolation", "UnjudgedWarning", "UnobservedWarning"),
        "krafla.testing.errors",
    ),
    **dict.fromkeys(("Departure", "Driven", "drive"), "krafla.testing.trace_drive"),
    **dict.fromkeys(("SpecLoader", "TraceValidator"), "krafla.testing.fixtures"),
    **dict.fromkeys(("action", "member_of"), "krafla.testing.rules"),
    **dict.fromkeys(
        ("Claim", "ClaimKind", "Observation", "PartialTrace", "Step", "Trace"), "krafla.traces"
    ),
    **dict.fromkeys(("read_trace", "write_trace"), "krafla.traces"),
    **dict.fromkeys(("Function", "ModelValue", "Record", "Value"), "krafla.values"),
    "AmbiguousStepWarning": "krafla.testing.completion",
    "Judge": "krafla.testing.judge",
    "KraflaError": "krafla.verdict",
    "NoBehaviour": "krafla.testing.setting",
    "SpecMachine": "krafla.testing.machine",
    "Taken": "krafla.testing.taken",
    "counterexamples": "krafla.testing.counterexample_source",
    "random_walks": "krafla.testing.walks",
    "shortest_paths": "krafla.testing.spec_paths",
    "spec_trace": "krafla.testing.trace_tests",
    "trace_files": "krafla.testing.file_source",
}


def __getattr__(name: str) -> object:
    """Return a public name, imported now."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
