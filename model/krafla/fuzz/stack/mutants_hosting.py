"""Seeded bugs of what runs a controller above Raft: its requests, and what it is told."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import seed_bug
from kraft.hosting.effects import DURABLE
from kraft.hosting.own_requests import Schedule
from kraft.raft.effects import AppendLog, HandleCommit, HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.roles import Follower

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["HOSTING"]

HOSTING: Final[list[Mutant]] = []
_seed = partial(seed_bug, HOSTING)
_TOLD: Final = (HandleCommit, HandleLoadSnapshot, HandleLeaderChange)


@_seed(
    "urgent-waits-its-turn",
    "QuorumController.appendRecords",
    "kraft.hosting.order:take_turn",
    "What a controller asks of its replica waits behind the messages that have arrived.",
)
def _urgent_waits(right: Any, probe: Probe) -> Any:
    def take_turn(process: Any) -> Any:
        waits = bool(process.urgent and process.inbox)
        probe.trigger(different=waits)
        if waits:
            process.inbox.extend(process.urgent)
            process.urgent.clear()
        return right(process)

    return take_turn


@_seed(
    "prepared-is-not-scheduled",
    "RaftClient.schedulePreparedAppend",
    "kraft.hosting.controller_host:ControllerHost._perform",
    "A controller prepares its records and never schedules them.",
)
def _not_scheduled(right: Any, probe: Probe) -> Any:
    def _perform(self: Any, effect: Any) -> None:
        right(self, effect)
        urgent = self._process.urgent
        forgets = bool(urgent) and isinstance(urgent[-1], Schedule)
        probe.trigger(different=forgets)
        if forgets:
            urgent.pop()

    return _perform


@_seed(
    "leader-told-before-commits",
    "KAFKA-15345",
    "kraft.hosting.effects:perform",
    "A controller hears that it leads before it hears what was committed before.",
)
def _leader_first(right: Any, probe: Probe) -> Any:
    def perform(process: Any, effects: Any, start: int = 0) -> int:
        commits = [i for i, one in enumerate(effects) if isinstance(one, HandleCommit)]
        leaders = [i for i, one in enumerate(effects) if isinstance(one, HandleLeaderChange)]
        early = bool(commits and leaders and commits[0] < leaders[-1])
        probe.trigger(different=early)
        turned = list(effects)
        if early:
            turned.insert(commits[0], turned.pop(leaders[-1]))
        return int(right(process, turned, start))

    return perform


@_seed(
    "told-at-the-append",
    "RaftClient.Listener.handleCommit",
    "kraft.hosting.effects:perform",
    "The state machine of a follower hears of batches as they are appended.",
)
def _told_early(right: Any, probe: Probe) -> Any:
    def perform(process: Any, effects: Any, start: int = 0) -> int:
        done = int(right(process, effects, start))
        follows = isinstance(process.state.role, Follower)
        told = follows and done < len(effects) and isinstance(effects[done], AppendLog)
        probe.trigger(different=told)
        if told:
            process.listener.committed(HandleCommit(effects[done].batches))
        return done

    return perform


@_seed(
    "told-before-the-disk",
    "ADR 4",
    "kraft.hosting.effects:perform",
    "The state machine hears of a step before the step is on the disk.",
    (("crash-point", 300),),
)
def _told_before(right: Any, probe: Probe) -> Any:
    def perform(process: Any, effects: Any, start: int = 0) -> int:
        told = tuple(one for one in effects if isinstance(one, _TOLD))
        if start == 0:
            probe.trigger(different=bool(told) and any(type(one) in DURABLE for one in effects))
            right(process, told)
        for index in range(start, len(effects)):
            effect = effects[index]
            if type(effect) in DURABLE:
                return index
            if not isinstance(effect, _TOLD):
                right(process, (effect,))
        return len(effects)

    return perform
