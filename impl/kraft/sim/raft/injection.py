"""The faults of a plan take effect; a fault without a target is not counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.sim.raft import identity_faults, machine_faults
from kraft.sim.raft.kinds import NETWORK_KINDS
from kraft.sim.raft.links import network_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault

_HANDLERS: Final = {**machine_faults.HANDLERS, **identity_faults.HANDLERS}


class Injector:
    """Begins and ends the faults of one simulation."""

    __slots__ = ("_endings", "_sim")

    def __init__(self, simulation: Simulation) -> None:
        self._sim = simulation
        self._endings: dict[int, Callable[[], None]] = {}

    def begin(self, number: int) -> None:
        """Begin the fault with this number in the plan.

        Raises ValueError if the simulation cannot perform its kind.
        """
        sim = self._sim
        fault = sim.plan[number]
        if sim.liveness is not None:
            return
        handler = _HANDLERS.get(fault.kind) or sim.workload.handlers.get(fault.kind)
        if handler is None:
            if fault.kind not in NETWORK_KINDS:
                raise ValueError(f"this simulation cannot perform {fault.kind!r}")
            self._begin_rules(number, fault)
            return
        ending = handler(sim, fault)
        if ending is not None:
            self._endings[number] = ending
            sim.schedule(sim.time + fault.duration, self.end, number)

    def end(self, number: int) -> None:
        """End a lasting fault; do nothing if it has ended, or if faults no longer end."""
        ending = self._endings.pop(number, None)
        if ending is not None and self._sim.liveness is None:
            ending()

    def _begin_rules(self, number: int, fault: Fault) -> None:
        sim = self._sim
        leader = sim.leader()
        rules = network_rules(fault, len(sim.nodes), None if leader is None else leader.index)
        if not rules:
            return
        sim.report(fault.kind)
        for index, rule in enumerate(rules):
            sim.network.add((number, index), rule)

        def heal() -> None:
            for index in range(len(rules)):
                sim.network.end((number, index))
            sim.report_end(fault.kind)

        self._endings[number] = heal
        sim.schedule(sim.time + fault.duration, self.end, number)
