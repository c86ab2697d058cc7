"""A trace that was saved: whether its file alone shows the violation that it is kept for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.match.validation import spec_of
from krafla.testing.errors import Inconclusive, SpecViolation
from krafla.testing.patience import answered
from krafla.testing.recorded_trace import judge_recorded
from krafla.traces import PartialTrace, read_trace
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["why_not_shown"]

_LIMIT_S: Final = 10.0
_HELD: Final = (
    "the spec has a behaviour that agrees with it, with the properties of the cfg. What a machine "
    "says of its own, as spec_invariants, is in no trace"
)


def why_not_shown(path: Path) -> str:
    """Return why a saved trace does not show a violation when it is judged again, if so."""
    try:
        trace = read_trace(path)
        spec = spec_of(trace)
        answered(spec, lambda: judge_recorded(trace, spec), lambda: str(path), _LIMIT_S)
    except SpecViolation:
        return ""
    except (Inconclusive, KraflaError) as error:
        return str(error)
    return _HELD if isinstance(trace, PartialTrace) else ""
