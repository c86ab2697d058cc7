"""The observer of a cluster that asks, after every step, whether all still holds.

Raft's properties come first: what is asked of controllers and brokers rests on what is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.quorum.checks import PROPERTIES as RAFT_PROPERTIES
from krafla.fuzz.quorum.checks import Checks
from krafla.fuzz.quorum.ghosts import name_of
from krafla.fuzz.quorum.violation import Violated, Violation
from krafla.fuzz.whole.controllers import CONTROLLER_PROPERTIES, Controllers
from krafla.fuzz.whole.truth import Truth
from kraft.controller.quorum.effects import CreateSnapshot

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from kraft.sim.quorum.steps import SimStep
    from kraft.sim.quorum.workload import Acknowledged

__all__ = ["PROPERTIES", "ClusterChecks"]

PROPERTIES: Final = (*RAFT_PROPERTIES, *CONTROLLER_PROPERTIES)


class ClusterChecks:
    """Holds each step of a simulated cluster to every property; the first that breaks stays."""

    def __init__(self, *, stable: bool = False) -> None:
        self.raft = Checks(stable=stable)
        self.truth = Truth()
        self.controllers = Controllers(self.truth)
        self.violation: Violation | None = None

    @property
    def hazards(self) -> Counter[str]:
        """What broke of Raft after its promises were over, by name."""
        return self.raft.hazards

    @property
    def unpromised(self) -> int:
        """How many steps came after that."""
        return self.raft.unpromised

    def finish(self, acknowledged: Iterable[Acknowledged]) -> None:
        """Check at the end what clients were told: that is asked as they are told."""

    def observe(self, step: SimStep) -> None:
        """Check a step, unless a property is broken already."""
        if self.violation is not None:
            return
        if step.listener is None:
            self.raft.observe(step)
            self.violation = self.raft.violation
            if step.kind == "crash":
                self.controllers.forget(step.incarnation)
            return
        if self.raft.history.unsafe or self.raft.history.suspended:
            return
        try:
            self._listener(step)
        except Violated as broken:
            self.violation = Violation(
                broken.name, broken.text, step.number, step.time, name_of(step.replica)
            )

    def _listener(self, step: SimStep) -> None:
        listener = step.listener
        assert listener is not None, "asked before"
        if listener.kind == "controller":
            self.controllers.check(step, listener)
            for effect in listener.effects:
                if isinstance(effect, CreateSnapshot):
                    self.controllers.check_snapshot(effect)
