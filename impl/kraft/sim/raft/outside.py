"""The outside of a simulated process: its machine's clock, its chance, and the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kraft.chance import MASK, derive

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.machines import Process

# The code mixes the chance of an event itself, so a plain congruential sequence will do here.
# L'Ecuyer, "Tables of linear congruential generators of different sizes", 1999.
_MULTIPLIER: Final = 2862933555777941757


class SimulatedOutside:
    """The outside of one process of a simulation: a `kraft.hosting.outside.Outside`."""

    __slots__ = ("_chance", "_process", "_sim")

    def __init__(self, sim: Simulation, process: Process) -> None:
        self._sim = sim
        self._process = process
        self._chance = derive(sim.seed, "process", process.incarnation)

    def now(self) -> int:
        """Return the time by the machine's clock, in nanoseconds."""
        return self._process.machine.clock.read(self._sim.time)

    def chance(self) -> int:
        """Return the next chance number of the process."""
        self._chance = (self._chance * _MULTIPLIER + 1) & MASK
        return self._chance

    def send(self, destination: NodeId, correlation_id: int, request: Any) -> None:
        """Send a request to a machine that answers for the destination node."""
        self._sim.send_request(self._process, destination, correlation_id, request)

    def reply(self, token: int, response: Any) -> None:
        """Answer a request. Raises ValueError if none with this message id awaits an answer."""
        self._sim.send_response(self._process, token, response)
