"""A failing run with fewer faults: each that is left out was not needed for the violation.

Each fault of a plan brings its own chance, so the other faults do what they did before. The search
is delta debugging, halves first (Zeller and Hildebrandt 2002).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.fuzz.engine.machine_run import Case, Played
    from kraft.sim.raft.faults import Fault

__all__ = ["shrink"]


def shrink(
    played: Played,
    again: Callable[[Case], Played],
    progress: Callable[[int], object] = lambda _left: None,
    runs_maximum: int = 400,
) -> Played:
    """Return the run with the fewest faults that was found to break the same property.

    ``progress`` is told how many faults are left. At most ``runs_maximum`` runs are played.
    """
    if played.violation is None or not played.case.plan:
        return played
    best, size, budget = played, len(played.case.plan), runs_maximum
    while size >= 1 and best.case.plan:
        position, shorter = 0, False
        while position < len(best.case.plan or ()) and budget > 0:
            budget -= 1
            plan = best.case.plan or ()
            found = _fails_alike(best, plan[:position] + plan[position + size :], again)
            if found is None:
                position += size
            else:
                best, shorter = found, True
                progress(len(found.case.plan or ()))
        if budget <= 0 or (size == 1 and not shorter):
            break
        size = size // 2 if size > 1 else 1
    return best


def _fails_alike(
    played: Played, plan: tuple[Fault, ...], again: Callable[[Case], Played]
) -> Played | None:
    """Return the run with another plan if it breaks the same property."""
    other = again(replace(played.case, plan=plan))
    assert played.violation is not None
    if other.violation is None or other.violation.property != played.violation.property:
        return None
    return other
