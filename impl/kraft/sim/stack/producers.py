"""Producers: they append to whatever leads, with acks=all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND
from kraft.rpc.produce import ProduceRequest
from kraft.sim.stack.broker_host import BrokerHost

if TYPE_CHECKING:
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.stack.configuration import StackKnobs

_RECORDS_MAXIMUM: Final = 3


class Producers:
    """The producers of a run: each broker gets what is for the partitions that it leads."""

    __slots__ = ("_chance", "_knobs", "_sim")

    def __init__(self, sim: Simulation, knobs: StackKnobs) -> None:
        self._sim = sim
        self._knobs = knobs
        self._chance = Stream(sim.seed, "producers")

    def begin(self) -> None:
        """Plan the first request."""
        self._sim.schedule(
            self._sim.time + self._knobs.produce_every_ms * MILLISECOND, self._produce, None
        )

    def _produce(self, _nothing: None) -> None:
        self.begin()
        for machine in self._sim.nodes:
            process = machine.process
            if process is None or machine.is_paused or not isinstance(process.listener, BrokerHost):
                continue
            keys = process.listener.replicas.leads
            if keys:
                records = tuple((*key, 1 + self._chance.below(_RECORDS_MAXIMUM)) for key in keys)
                self._sim.ask(machine, ProduceRequest(self._knobs.session_timeout_ms, records))
