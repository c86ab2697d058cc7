"""What krafla knows of one run of a machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MachineRun", "plainly", "run_of"]


@dataclass(slots=True)
class MachineRun:
    """Whether a run has begun, what was drawn, and whether a method with ``@action`` is called.

    The names in a machine are its user's: this object is the only one of krafla's in it.
    """

    has_begun: bool = False
    is_called: bool = False
    chosen: dict[int, Any] = field(default_factory=dict)


def run_of(code: Any) -> MachineRun | None:
    """Return the run of a machine; ``None`` for other code."""
    found: MachineRun | None = getattr(code, "_krafla", None)
    return found


def plainly(code: Any, call: Callable[[], Any]) -> Any:
    """Return what a call returns; methods of the machine that it calls in turn are not judged."""
    __tracebackhide__ = True
    run = run_of(code)
    if run is None:
        return call()
    run.is_called = True
    try:
        return call()
    finally:
        run.is_called = False
