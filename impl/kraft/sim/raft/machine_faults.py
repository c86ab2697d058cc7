"""Faults of processes, clocks and disks, and changes of the voters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.chance import Stream
from kraft.hosting.own_requests import Resign, Shutdown
from kraft.raft.configuration import MILLISECOND
from kraft.sim.raft.faults import DRIFT_MAXIMUM
from kraft.sim.raft.links import between
from kraft.sim.raft.machines import SHUTDOWN_TIMEOUT, Armed
from kraft.sim.raft.network import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.rpc.requests import RaftRequest
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.machines import Machine

    Ending = Callable[[], None] | None
    Handler = Callable[[Simulation, Fault], Ending]

_JUMPS_MS: Final = (50, 500, 2_000, 10_000)
_SLOWER: Final = (10, 100, 1_000)
_OPERATIONS: Final = 12
_UNTIL_CUT_MS: Final = (100, 200, 400, 800)
# The disk operations that remove a segment.
_REMOVAL: Final = 3


def stop(sim: Simulation, fault: Fault) -> None:
    """End a process, with or without the power of its machine, and restart it later.

    Every other power loss waits until something is being written, where it does the most damage.
    """
    machine = sim.machine_of(fault.target)
    if machine is None:
        return
    if fault.kind == "power-loss" and fault.chance & 1:
        arm(sim, fault)
        return
    power = fault.kind == "power-loss" and not is_sole_voter(sim, machine)
    if sim.processes.stop(machine, fault.kind, power=power, chance=fault.chance):
        sim.count(fault.kind)
        sim.processes.start_later(machine, fault.duration)


def move(sim: Simulation, fault: Fault) -> None:
    """End a process, and restart it later on another port."""
    machine = sim.machine_of(fault.target)
    if machine is None:
        return
    if sim.processes.stop(machine, fault.kind, power=False, chance=fault.chance):
        machine.port += 1
        sim.count(fault.kind)
        sim.processes.start_later(machine, fault.duration)


def stop_all(sim: Simulation, fault: Fault) -> None:
    """Cut the power of all machines; they come back one by one."""
    chance = Stream(fault.chance, "cluster")
    for machine in sim.nodes:
        if machine.process is not None and not is_sole_voter(sim, machine):
            sim.processes.stop(machine, fault.kind, power=True, chance=chance.word())
            sim.count(fault.kind)
            sim.processes.start_later(machine, 1 + chance.below(fault.duration + 1))


def arm(sim: Simulation, fault: Fault) -> None:
    """Let a process crash in one of its next steps, between two effects or inside one."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.process is None or machine.process.armed is not None:
        return
    chance = Stream(fault.chance, "arm")
    power = fault.kind == "power-loss" or chance.below(3) > 0
    inside = bool(chance.below(2))
    machine.process.armed = Armed(
        fault.kind,
        chance.word(),
        power and not is_sole_voter(sim, machine),
        inside,
        fault.duration,
    )
    if inside:
        machine.disk.cut_after = chance.below(_OPERATIONS)


def arm_truncation(sim: Simulation, fault: Fault) -> None:
    """Let the machine's next process that truncates its log end after a segment is removed."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.armed_truncation is not None:
        return
    chance = Stream(fault.chance, "arm")
    power = bool(chance.below(2)) and not is_sole_voter(sim, machine)
    machine.armed_truncation = Armed(
        fault.kind, 1 + chance.below(_REMOVAL), power, inside=True, down=fault.duration
    )


def is_sole_voter(sim: Simulation, machine: Machine) -> bool:
    """Return whether a replica is its own quorum; then Kafka promises nothing before the flush."""
    state = machine.last_state if machine.process is None else machine.process.state
    return sim.damage_log.spare and state is not None and len(state.controls.voters) == 1


def pause(sim: Simulation, fault: Fault) -> Ending:
    """Pause a process for a while."""
    machine = sim.machine_of(fault.target)
    if machine is None or not machine.runs or machine.process is None:
        return None
    machine.is_paused = True
    incarnation = machine.process.incarnation
    sim.count(fault.kind)
    sim.report(fault.kind, machine.key)

    def resume() -> None:
        process = machine.process
        if process is not None and process.incarnation == incarnation:
            machine.is_paused = False
            sim.processes.look_again(machine)
            sim.report_end("pause", machine.key)

    return resume


def wish(sim: Simulation, fault: Fault) -> None:
    """Ask a process to resign, or to end."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.process is None or machine.is_paused:
        return
    resigns = fault.kind == "resign"
    sim.count("resign" if resigns else "shutdown-request")
    machine.process.down = max(fault.duration, MILLISECOND)
    sim.tell(machine.process, Resign() if resigns else Shutdown(SHUTDOWN_TIMEOUT))


def drift(sim: Simulation, fault: Fault) -> None:
    """Make a clock too fast or too slow from now on."""
    machine = sim.machine_of(fault.target)
    if machine is not None:
        rate = Stream(fault.chance, "drift").between(-DRIFT_MAXIMUM, DRIFT_MAXIMUM)
        machine.clock.drift(sim.time, rate)
        sim.processes.look_again(machine)
        sim.count(fault.kind)
        sim.report(fault.kind, machine.key, f"{rate} ppm")


def jump(sim: Simulation, fault: Fault) -> None:
    """Set a clock forward or back."""
    machine = sim.machine_of(fault.target)
    if machine is not None:
        chance = Stream(fault.chance, "jump")
        by = (1 + chance.below(chance.choice(_JUMPS_MS))) * MILLISECOND
        by = by if chance.below(2) else -by
        machine.clock.jump(sim.time, by)
        sim.processes.look_again(machine)
        sim.count(fault.kind)
        sim.report(fault.kind, machine.key, f"{by} ns")


def slow_disk(sim: Simulation, fault: Fault) -> Ending:
    """Slow down each flush of a disk for a while."""
    machine = sim.machine_of(fault.target)
    if machine is None:
        return None
    usual = sim.knobs.flush_latency
    machine.disk.latency = usual * Stream(fault.chance, "slow").choice(_SLOWER)
    sim.count(fault.kind)
    sim.report(fault.kind, machine.key)

    def heal() -> None:
        machine.disk.latency = usual
        sim.report_end("slow-disk", machine.key)

    return heal


def full_disk(sim: Simulation, fault: Fault) -> Ending:
    """Make a disk full for a while; the fault counts if a process ends by it."""
    machine = sim.machine_of(fault.target)
    if machine is None:
        return None
    machine.disk.is_full = True
    sim.report(fault.kind, machine.key)

    def heal() -> None:
        machine.disk.is_full = False
        sim.report_end("full-disk", machine.key)

    return heal


def change_voters(sim: Simulation, fault: Fault) -> None:
    """Ask the leader to add or remove a voter."""
    leader = sim.leader()
    if leader is None or leader.process is None or sim.configuration.kraft_version == 0:
        return
    voters = leader.process.state.controls.voters
    request: RaftRequest | None
    if fault.kind == "add-voter":
        request = sim.workload.to_add(voters, sim.nodes, fault.chance)
    else:
        request = sim.workload.to_remove(voters, sim.damage_log.damaged, fault.chance)
    if request is not None:
        sim.count(fault.kind)
        sim.ask(leader, request)


def isolate_newcomer(sim: Simulation, fault: Fault) -> Ending:
    """Ask the leader to add a voter, and cut that voter off about when it hears that it votes.

    It may know only the id of a leader whose endpoints it has not heard.
    """
    leader = sim.leader()
    if leader is None or leader.process is None or sim.configuration.kraft_version == 0:
        return None
    voters = leader.process.state.controls.voters
    request = sim.workload.to_add(voters, sim.nodes, fault.chance)
    if request is None:
        return None
    chance = Stream(fault.chance, "newcomer")
    since = sim.time + chance.choice(_UNTIL_CUT_MS) * MILLISECOND
    everybody = range(len(sim.nodes))
    cut = frozenset[tuple[int, int]]().union(
        *(
            between((machine.index,), everybody, chance.below(2))
            for machine in sim.nodes
            if machine.node_id == request.voter_id
        )
    )
    key = fault.time, 0
    sim.network.add(key, Rule(fault.kind, cut=cut, since=since))
    sim.report(fault.kind)
    sim.ask(leader, request)

    def heal() -> None:
        sim.network.end(key)
        sim.report_end(fault.kind)

    return heal


HANDLERS: Final[dict[str, Handler]] = {
    "kill": stop,
    "power-loss": stop,
    "cluster-power-loss": stop_all,
    "crash-point": arm,
    "crash-truncating": arm_truncation,
    "pause": pause,
    "shutdown": wish,
    "resign": wish,
    "clock-drift": drift,
    "clock-jump": jump,
    "slow-disk": slow_disk,
    "full-disk": full_disk,
    "add-voter": change_voters,
    "remove-voter": change_voters,
    "newcomer-isolation": isolate_newcomer,
    "new-port": move,
}
