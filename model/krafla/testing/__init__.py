"""The public package: a spec judges the steps of your code, alone or under Hypothesis.

``Spec`` is a loaded spec, ``Judge`` follows it step by step, ``SpecMachine`` with ``@action`` makes
a stateful test of Hypothesis out of both. Everything here is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from krafla.oracle import Spec, State
    from krafla.testing.errors import Inconclusive, Refused, SpecViolation
    from krafla.testing.judge import Judge
    from krafla.testing.machine import SpecMachine
    from krafla.testing.rules import action, member_of
    from krafla.testing.taken import Taken
    from krafla.traces import Observation, PartialTrace, Trace
    from krafla.values import Function, ModelValue, Record, Value

__all__ = [
    "Function",
    "Inconclusive",
    "Judge",
    "ModelValue",
    "Observation",
    "PartialTrace",
    "Record",
    "Refused",
    "Spec",
    "SpecMachine",
    "SpecViolation",
    "State",
    "Taken",
    "Trace",
    "Value",
    "action",
    "member_of",
]

_HOMES: Final = {
    **dict.fromkeys(("Spec", "State"), "krafla.oracle"),
    **dict.fromkeys(("Inconclusive", "Refused", "SpecViolation"), "krafla.testing.errors"),
    **dict.fromkeys(("action", "member_of"), "krafla.testing.rules"),
    **dict.fromkeys(("Observation", "PartialTrace", "Trace"), "krafla.traces"),
    **dict.fromkeys(("Function", "ModelValue", "Record", "Value"), "krafla.values"),
    "Judge": "krafla.testing.judge",
    "SpecMachine": "krafla.testing.machine",
    "Taken": "krafla.testing.taken",
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
