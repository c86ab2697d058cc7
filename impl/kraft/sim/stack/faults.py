"""Faults of brokers: controlled shutdowns, quick restarts, and failed log directories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.chance import Stream
from kraft.raft.configuration import MILLISECOND
from kraft.sim.stack.broker_host import BrokerHost

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.machines import Process

_QUICK_MS: Final = 20


def _broker(sim: Simulation, fault: Fault) -> tuple[Process, BrokerHost] | None:
    """Return a running broker for a fault, whichever machine was drawn; None without one."""
    first, many = sim.configuration.voters, sim.configuration.observers
    if not many:
        return None
    machine = sim.nodes[first + fault.target % many]
    process = machine.process
    if process is None or machine.is_paused or not isinstance(process.listener, BrokerHost):
        return None
    return process, process.listener


def shut_down(sim: Simulation, fault: Fault) -> None:
    """Let a broker begin a controlled shutdown."""
    found = _broker(sim, fault)
    if found is None:
        return
    process, host = found
    process.down = max(fault.duration, MILLISECOND)
    sim.count(fault.kind)
    sim.report(fault.kind, process.key)
    host.shut_down()
    sim.emit_listened()
    sim.processes.look_again(process.machine)


def restart(sim: Simulation, fault: Fault) -> None:
    """End a broker's process, and restart it some milliseconds later."""
    found = _broker(sim, fault)
    if found is None:
        return
    process, _ = found
    down = (1 + Stream(fault.chance, "quick").below(_QUICK_MS)) * MILLISECOND
    if sim.processes.stop(process.machine, fault.kind, power=False, chance=fault.chance):
        sim.count(fault.kind)
        sim.processes.start_later(process.machine, down)


def lose_directory(sim: Simulation, fault: Fault) -> None:
    """Fail one of several directories of a broker, for good."""
    found = _broker(sim, fault)
    if found is None:
        return
    process, host = found
    if host.lose_directory(fault.chance):
        sim.count(fault.kind)
        sim.report(fault.kind, process.key)
        sim.emit_listened()
        sim.processes.look_again(process.machine)


HANDLERS: Final[dict[str, Callable[[Simulation, Fault], Callable[[], None] | None]]] = {
    "broker-shutdown": shut_down,
    "quick-restart": restart,
    "lost-directory": lose_directory,
}
