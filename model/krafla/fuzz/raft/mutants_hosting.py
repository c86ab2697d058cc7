"""Seeded bugs of what runs a replica: the order of events, and of effects."""

from __future__ import annotations

from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.hosting.effects import DURABLE
from kraft.raft.effects import SendRequest, SendResponse
from kraft.raft.roles import NEVER

__all__ = ["HOSTING"]

HOSTING: Final[list[Mutant]] = []


@seed_bug(
    HOSTING,
    "message-before-due-poll",
    "KafkaRaftClient.poll",
    "kraft.hosting.order:take_turn",
    "A process takes a message although something is due.",
)
def _message_first(right: Any, probe: Probe) -> Any:
    def take_turn(process: Any) -> Any:
        is_due = process.is_busy or process.deadline <= process.outside.now()
        overtakes = bool(process.inbox) and is_due and not process.urgent
        probe.trigger(different=overtakes)
        if overtakes:
            process.is_busy, process.deadline = False, NEVER
        taken = right(process)
        # Otherwise what is due would be forgotten where no step of Raft follows.
        process.become(process.state)
        return taken

    return take_turn


@seed_bug(
    HOSTING,
    "sends-before-the-disk",
    "ADR 4",
    "kraft.hosting.effects:perform",
    "A process sends all messages of a step before it writes to its disk.",
    (("crash-point", 300),),
)
def _sends_early(right: Any, probe: Probe) -> Any:
    def perform(process: Any, effects: Any, start: int = 0) -> int:
        sent = tuple(one for one in effects if isinstance(one, SendRequest | SendResponse))
        if start == 0:
            probe.trigger(different=bool(sent) and any(type(one) in DURABLE for one in effects))
            right(process, sent)
        for index in range(start, len(effects)):
            effect = effects[index]
            if type(effect) in DURABLE:
                return index
            if not isinstance(effect, SendRequest | SendResponse):
                right(process, (effect,))
                if process.ended is not None:
                    break
        return len(effects)

    return perform


@seed_bug(
    HOSTING,
    "sends-in-any-order",
    "ADR 4",
    "kraft.hosting.effects:perform",
    "A process sends the newest message of a step first.",
)
def _sends_backwards(right: Any, probe: Probe) -> Any:
    def perform(process: Any, effects: Any, start: int = 0) -> int:
        places = [
            index
            for index, one in enumerate(effects)
            if isinstance(one, SendRequest | SendResponse)
        ]
        turned = list(effects)
        for place, other in zip(places, reversed(places), strict=True):
            turned[place] = effects[other]
        probe.trigger(different=len(places) > 1)
        return int(right(process, turned, start))

    return perform
