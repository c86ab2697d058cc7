"""The effects of a step on a simulated machine: a crash may come between two, or inside one."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, NamedTuple

from kraft.hosting.effects import DURABLE, perform
from kraft.raft.effects import AppendLog, Fatal, TruncateLog
from kraft.sim.raft.disk import PowerCutError

if TYPE_CHECKING:
    from kraft.raft.effects import Durable, Effect
    from kraft.sim.raft.machines import Armed, Process


class Outcome(NamedTuple):
    """How a process ended while it performed the effects of a step.

    `done` effects were performed, and `ended` is the reason for the end. With `is_done` an effect
    ended the process, and none is missing. `has_power` is False if the machine lost power,
    too. The process stays down for `down` nanoseconds, or for its usual time if that is 0.
    """

    done: int
    ended: str
    has_power: bool = True
    is_done: bool = False
    down: int = 0


def perform_until_crash(process: Process, effects: tuple[Effect, ...]) -> Outcome | None:
    """Perform the effects of one step in order, until a crash.

    Return None if the process goes on.
    """
    if process.armed is None or process.armed.inside:
        return _perform_all(process, effects)
    many = _crashes_after(process.armed, effects)
    if many is None:
        return _perform_all(process, effects)
    armed, process.armed = process.armed, None
    outcome = _perform_all(process, effects[:many])
    if outcome is not None:
        return outcome
    return Outcome(many, armed.kind, not armed.power, is_done=False, down=armed.down)


def _perform_all(process: Process, effects: tuple[Effect, ...]) -> Outcome | None:
    index = perform(process, effects)
    while index < len(effects):
        try:
            _store(process, effects[index])  # type: ignore[arg-type] # perform stops at these
        except PowerCutError:
            return _cut(process, index)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return Outcome(index, f"full-disk: {error.strerror}")
        index = perform(process, effects, index + 1)
    ended = process.ended
    if ended is None:
        return None
    why = f"fatal: {ended.reason}" if isinstance(ended, Fatal) else "shutdown"
    return Outcome(index, why, is_done=True)


def _store(process: Process, effect: Durable) -> None:
    machine = process.machine
    if isinstance(effect, TruncateLog) and machine.armed_truncation is not None:
        process.armed, machine.armed_truncation = machine.armed_truncation, None
        machine.disk.cut_after = process.armed.chance
    process.store(effect)


def _cut(process: Process, index: int) -> Outcome:
    armed, process.armed = process.armed, None
    if armed is None:
        raise ValueError("the power was cut without a fault")
    return Outcome(index, armed.kind, not armed.power, is_done=False, down=armed.down)


def _crashes_after(armed: Armed, effects: tuple[Effect, ...]) -> int | None:
    """Return after how many of these effects a process crashes; None if it does not crash now.

    Half of the power losses wait for records that are written but not flushed, where they do the
    most damage.
    """
    kinds = [effect.__class__ for effect in effects]
    if armed.power and armed.chance >> 40 & 1:
        return kinds.index(AppendLog) + 1 if AppendLog in kinds else None
    if any(kind in DURABLE for kind in kinds):
        return armed.chance % (len(effects) + 1)
    return None
