"""Perform the effects of a step, one by one, with crashes in between.

Kafka: KafkaRaftClient.poll and what it calls.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.raft.effects import (
    AppendLog,
    AppendRefused,
    CleanLog,
    Fatal,
    FlushLog,
    FreezeSnapshot,
    HandleCommit,
    HandleLeaderChange,
    HandleLoadSnapshot,
    ResignRefused,
    SendRequest,
    SendResponse,
    ShutdownCompleted,
    SnapshotRefused,
    TruncateLog,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraft.sim.raft.disk import PowerCutError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.raft.effects import Effect
    from kraft.raft.state import RaftState
    from kraft.sim.raft.machines import Armed, Process
    from kraft.sim.raft.workload import Workload

DURABLE: Final = frozenset(
    (
        WriteQuorumState, AppendLog, FlushLog, TruncateLog, WriteSnapshot, WriteSnapshotPart,
        FreezeSnapshot, TruncateToSnapshot, CleanLog,
    )
)  # fmt: skip


class Outcome(NamedTuple):
    """How a process ended while it performed the effects of a step.

    `done` effects were performed, and `ended` is the reason for the end. With `is_done` the last of
    them ended the process, and none is missing. `has_power` is False if the machine lost power,
    too. The process stays down for `down` nanoseconds, or for its usual time if that is 0.
    """

    done: int
    ended: str
    has_power: bool = True
    is_done: bool = False
    down: int = 0


class Performer:
    """Performs the effects of one simulation, with the given senders and workload."""

    __slots__ = ("_request", "_response", "_workload")

    def __init__(
        self,
        request: Callable[[Process, SendRequest, int], None],
        response: Callable[[Process, SendResponse, int], None],
        workload: Workload,
    ) -> None:
        self._request = request
        self._response = response
        self._workload = workload

    def perform(
        self, process: Process, state: RaftState, effects: tuple[Effect, ...], now: int
    ) -> Outcome | None:
        """Perform the effects of one step in order, until a crash.

        Return None if the process goes on.
        """
        if process.armed is None or process.armed.inside:
            return self._all(process, state, effects, now)
        many = _crashes_after(process.armed, effects)
        if many is None:
            return self._all(process, state, effects, now)
        armed, process.armed = process.armed, None
        outcome = self._all(process, state, effects[:many], now)
        if outcome is not None:
            return outcome
        return Outcome(many, armed.kind, not armed.power, is_done=False, down=armed.down)

    def _all(
        self, process: Process, state: RaftState, effects: tuple[Effect, ...], now: int
    ) -> Outcome | None:
        for index, effect in enumerate(effects):
            kind = effect.__class__
            if kind is SendRequest:
                self._request(process, effect, now)  # type: ignore[arg-type] # kind is its class
            elif kind is SendResponse:
                self._response(process, effect, now)  # type: ignore[arg-type] # kind is its class
            elif kind in DURABLE:
                machine = process.machine
                if kind is TruncateLog and machine.armed_truncation is not None:
                    process.armed, machine.armed_truncation = machine.armed_truncation, None
                    machine.disk.cut_after = process.armed.chance
                try:
                    process.perform(effect)  # type: ignore[arg-type] # kind is in DURABLE
                except PowerCutError:
                    return self._cut(process, index)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    return Outcome(index, f"full-disk: {error.strerror}")
            elif isinstance(effect, Fatal):
                return Outcome(index + 1, f"fatal: {effect.reason}", is_done=True)
            elif isinstance(effect, ShutdownCompleted):
                return Outcome(index + 1, "shutdown", is_done=True)
            else:
                self._tell(process, state, effect)
        return None

    def _cut(self, process: Process, index: int) -> Outcome:
        armed, process.armed = process.armed, None
        if armed is None:
            raise ValueError("the power was cut without a fault")
        return Outcome(index, armed.kind, not armed.power, is_done=False, down=armed.down)

    def _tell(self, process: Process, state: RaftState, effect: Effect) -> None:
        workload = self._workload
        if isinstance(effect, HandleCommit):
            workload.committed(process, state, effect)
        elif isinstance(effect, HandleLoadSnapshot):
            workload.load(process, state, effect)
        elif isinstance(effect, HandleLeaderChange):
            leads = effect.leader_id == process.machine.node_id
            process.leads_epoch = effect.epoch if leads else None
            workload.leader_changed(process, effect)
        elif isinstance(effect, AppendRefused):
            workload.append_refused(process)
        elif not isinstance(effect, ResignRefused | SnapshotRefused):
            raise TypeError(f"an effect of an unknown kind: {effect!r}")


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
