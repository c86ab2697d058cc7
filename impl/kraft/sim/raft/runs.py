"""A whole run: its result, and a digest of everything that happened."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from kraft.raft.roles import Leader
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.kraft_core import KRAFT
from kraft.sim.raft.liveness import LivenessVerdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.sim.raft.configuration import Knobs, RaftConfiguration
    from kraft.sim.raft.damage_log import Damage
    from kraft.sim.raft.faults import Plan
    from kraft.sim.raft.kraft_core import Core
    from kraft.sim.raft.steps import SimStep

_DIGEST_BYTES: Final = 16
_LOOK_EVERY: Final = 16
_LINES: Final = 512


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    `events` counts steps, `faults` the effects of faults by kind, and `elections` the terms of
    leaders. `fatal` lists the processes that ended themselves. `promised` is what was still
    promised after the `damages` of disks. `digest` covers every step and all disks at the end:
    equal digests mean equal runs.
    """

    configuration: RaftConfiguration
    seed: int
    plan: Plan
    knobs: Knobs
    events: int
    simulated: int
    faults: dict[str, int]
    acknowledged: int
    elections: int
    fatal: tuple[str, ...]
    damages: tuple[Damage, ...]
    promised: str
    liveness: LivenessVerdict
    digest: str


class Digest:
    """A digest that grows with each step, in the order of the steps."""

    __slots__ = ("_hash", "_lines")

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._hash = blake2b(digest_size=_DIGEST_BYTES)

    def add(self, step: SimStep) -> None:
        """Add one step."""
        number, time, kind, _, received, event, _, after, effects, whole, sent = step[:11]
        detail, incarnation = step[11:13]
        if after is None:
            state = ""
        else:
            role, log = after.role, after.log
            state = (
                f"{role.__class__.__name__} {role.epoch} {log.start_offset} {log.end_offset}"
                f" {log.last_epoch} {after.high_watermark}"
            )
        crashed = None if whole is None else len(effects)
        done = ",".join([effect.__class__.__name__ for effect in effects]) if effects else ""
        self._lines.append(
            f"{number} {time} {kind} {incarnation} {received.message_id if received else -1}"
            f" {event.__class__.__name__} {crashed} {len(sent)} {state} {done} {detail}\n"
        )
        if len(self._lines) >= _LINES:
            self._flush()

    def _flush(self) -> None:
        self._hash.update("".join(self._lines).encode())
        self._lines.clear()

    def end(self, simulation: Simulation) -> str:
        """Return the digest of all steps and of the disks."""
        self._flush()
        for machine in simulation.nodes:
            for name, content in machine.disk.image().items():
                self._hash.update(f"{machine.index} {name} {len(content)}".encode())
                self._hash.update(content)
        return self._hash.hexdigest()


def _begins_to_lead(step: SimStep) -> bool:
    return step.before is None or step.before.role.__class__ is not Leader


def run(
    configuration: RaftConfiguration,
    seed: int,
    observer: Callable[[SimStep], object] | None = None,
    *,
    plan: Plan | None = None,
    knobs: Knobs | None = None,
    core: Core = KRAFT,
) -> RunResult:
    """Return the result of a seed; `observer` gets each step after it has happened.

    Raises HandlerError if the simulated code raises, and whatever the observer raises.
    """
    simulation = Simulation(configuration, seed, plan, knobs, core)
    return watch(simulation, observer)


def watch(simulation: Simulation, observer: Callable[[SimStep], object] | None = None) -> RunResult:
    """Return the result of a simulation that has not begun yet."""
    digest = Digest()
    elections = 0
    while (step := simulation.step()) is not None:
        digest.add(step)
        if observer is not None:
            observer(step)
        if step.after is not None and step.after.role.__class__ is Leader:
            elections += _begins_to_lead(step)
        liveness = simulation.liveness
        if liveness is not None and step.number % _LOOK_EVERY == 0 and liveness.look():
            break
    faults = simulation.faults + simulation.network.counts
    return RunResult(
        simulation.configuration,
        simulation.seed,
        simulation.plan,
        simulation.knobs,
        simulation.number,
        simulation.time,
        {kind: faults[kind] for kind in sorted(faults)},
        len(simulation.workload.acknowledged),
        elections,
        tuple(simulation.fatal),
        tuple(simulation.damage_log.damages),
        simulation.damage_log.promised,
        LivenessVerdict("not tried")
        if simulation.liveness is None
        else simulation.liveness.verdict(),
        digest.end(simulation),
    )
