"""Faults that replace or change a disk, or duplicate an identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.chance import Stream
from kraft.sim.raft.damage_log import Damage

if TYPE_CHECKING:
    from kraft.sim.raft.cluster import Simulation
    from kraft.sim.raft.faults import Fault
    from kraft.sim.raft.machine_faults import Ending, Handler
    from kraft.sim.raft.machines import Machine


def _is_safe(sim: Simulation, machine: Machine) -> bool:
    """Return whether the quorum would notice another disk of this node.

    With kraft.version 0, voters are known by their node ids alone.
    """
    return sim.configuration.kraft_version > 0 or machine.index >= sim.configuration.voters


def _may_damage(sim: Simulation, machine: Machine) -> bool:
    return sim.damage_log.may_damage(machine.key, sim.voter_sets())


def _note(sim: Simulation, fault: Fault, machine: Machine, detail: str) -> None:
    sim.count(fault.kind)
    sim.damage_log.note(Damage(sim.time, fault.kind, machine.key, detail))
    sim.report(fault.kind, machine.key, detail)


def lose_disk(sim: Simulation, fault: Fault) -> None:
    """Put an empty disk with a new directory id into a machine."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.swapped is not None or machine.is_extra:
        return
    if not _is_safe(sim, machine) or not _may_damage(sim, machine):
        return
    sim.processes.stop(machine, fault.kind, power=False, chance=0)
    _note(sim, fault, machine, "")
    machine.directory_id = sim.processes.new_directory()
    sim.processes.format(machine, is_first=False)
    machine.last_state = None
    sim.processes.start_later(machine, fault.duration)


def other_disk(sim: Simulation, fault: Fault) -> Ending:
    """Let a node run on another, empty disk for a while; then it gets its own back."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.swapped is not None or machine.is_extra:
        return None
    if not _is_safe(sim, machine):
        return None
    sim.processes.stop(machine, fault.kind, power=False, chance=0)
    machine.swapped = (machine.directory_id, machine.disk.image(), machine.last_state)
    machine.directory_id = sim.processes.new_directory()
    sim.processes.format(machine, is_first=False)
    sim.count(fault.kind)
    sim.report(fault.kind, machine.key)
    sim.processes.start_later(machine, fault.duration // 8)

    def put_back() -> None:
        put_own_disk_back(sim, machine)
        sim.processes.start_later(machine, fault.duration // 8)

    return put_back


def put_own_disk_back(sim: Simulation, machine: Machine) -> None:
    """Give a node on another disk its own disk back; the node is stopped then."""
    if machine.swapped is not None:
        sim.processes.stop(machine, "other-disk is over", power=False, chance=0)
        machine.directory_id, image, machine.last_state = machine.swapped
        machine.disk.restore(image)
        machine.swapped = None
        sim.report_end("other-disk", machine.key)


def _second_process(sim: Simulation, fault: Fault, first: Machine, second: Machine) -> Ending:
    second.is_extra = True
    second.clock.jump(sim.time, Stream(fault.chance, "second").below(10**9))
    sim.processes.start_later(second, 1)

    def take_away() -> None:
        sim.processes.remove_extra(second, f"{fault.kind} is over")
        sim.report_end(fault.kind, first.key)

    return take_away


def duplicate_node_id(sim: Simulation, fault: Fault) -> Ending:
    """Start a second process with the node id of another, on an empty disk of its own."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.is_extra or not _has_room(sim) or not _is_safe(sim, machine):
        return None
    second = sim.processes.add_machine(machine.node_id)
    sim.processes.format(second, is_first=False)
    sim.count(fault.kind)
    sim.report(fault.kind, second.key)
    return _second_process(sim, fault, machine, second)


def clone_disk(sim: Simulation, fault: Fault) -> Ending:
    """Start a second process with the identity of another, on a copy of its disk."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.is_extra or not _has_room(sim) or not _may_damage(sim, machine):
        return None
    second = sim.processes.add_machine(machine.node_id)
    second.directory_id = machine.directory_id
    second.disk.restore(machine.disk.image())
    _note(sim, fault, machine, "")
    return _second_process(sim, fault, machine, second)


def _has_room(sim: Simulation) -> bool:
    """Return whether one more machine is allowed; a run has at most 60."""
    return len(sim.nodes) < 60


def rot(sim: Simulation, fault: Fault) -> None:
    """Flip a bit on a disk and restart the machine, because only a start reads the files."""
    machine = sim.machine_of(fault.target)
    if machine is None or not _may_damage(sim, machine):
        return
    sim.processes.stop(machine, fault.kind, power=False, chance=0)
    place = machine.disk.rot(Stream(fault.chance, "rot"))
    if place is not None:
        _note(sim, fault, machine, place)
    sim.processes.start_later(machine, fault.duration)


def misdirect(sim: Simulation, fault: Fault) -> None:
    """Let a machine's next write land elsewhere in its file."""
    machine = sim.machine_of(fault.target)
    if machine is not None and not machine.disk.has_stray and _may_damage(sim, machine):
        # The copy counts as damaged from now on, the fault only once the write has landed.
        sim.damage_log.note(Damage(sim.time, fault.kind, machine.key))
        machine.disk.misdirect(
            Stream(fault.chance, "stray"), lambda place: _landed(sim, fault, machine, place)
        )


def _landed(sim: Simulation, fault: Fault, machine: Machine, place: str) -> None:
    sim.count(fault.kind)
    sim.report(fault.kind, machine.key, place)


def old_image(sim: Simulation, fault: Fault) -> Ending:
    """Keep the present content of a disk, and restore it at the end."""
    machine = sim.machine_of(fault.target)
    if machine is None or machine.swapped is not None:
        return None
    directory_id, image = machine.directory_id, machine.disk.image()

    def put_back() -> None:
        is_same = machine.directory_id == directory_id and machine.swapped is None
        if is_same and _may_damage(sim, machine):
            sim.processes.stop(machine, fault.kind, power=False, chance=0)
            machine.disk.restore(image)
            _note(sim, fault, machine, f"of {fault.duration} ns ago")
            sim.processes.start_later(machine, fault.duration // 8)

    return put_back


HANDLERS: Final[dict[str, Handler]] = {
    "lost-disk": lose_disk,
    "other-disk": other_disk,
    "duplicate-node-id": duplicate_node_id,
    "cloned-disk": clone_disk,
    "bit-rot": rot,
    "misdirected-write": misdirect,
    "old-image": old_image,
}
