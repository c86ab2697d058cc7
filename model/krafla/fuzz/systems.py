"""All that `krafla fuzz` simulates over machines, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.quorum.playing import RAFT
from krafla.fuzz.whole.system import CLUSTER

if TYPE_CHECKING:
    from krafla.fuzz.quorum.playing import System

__all__ = ["SYSTEMS"]

SYSTEMS: Final[dict[str, System]] = {system.name: system for system in (RAFT, CLUSTER)}
