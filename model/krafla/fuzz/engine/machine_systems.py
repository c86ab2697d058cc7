"""All that `krafla fuzz` simulates over machines, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.machine_run import RAFT
from krafla.fuzz.stack.system import STACK
from kraft.sim.raft.kinds import ALL_PROMISES, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.fuzz.engine.machine_run import System

__all__ = ["SYSTEMS", "fault_lines"]

SYSTEMS: Final[dict[str, System]] = {system.name: system for system in (RAFT, STACK)}


def fault_lines(system: str) -> Iterator[str]:
    """Yield every kind of fault by its room, with what it leaves promised; ``*``: drawn anyway."""
    for kind in KINDS.values():
        drawn = "*" if kind.name in SYSTEMS[system].kinds else " "
        left = "" if kind.promised == ALL_PROMISES else f" What stays promised: {kind.promised}."
        yield f"{drawn} {kind.room:9} {kind.name:19} {kind.sentence}{left}"
