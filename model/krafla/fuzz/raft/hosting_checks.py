"""Checks of what runs a replica: it does due work first, and performs effects in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of
from kraft.raft.effects import SendRequest, SendResponse
from kraft.raft.events import RequestReceived, ResponseReceived
from kraft.raft.machine import next_deadline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.sim.raft.steps import SimStep

__all__ = ["check"]

_MESSAGES: Final = frozenset({RequestReceived, ResponseReceived})


def check(step: SimStep) -> None:
    """Check the place of a step among what a process had to do, and what the process sent.

    Raises Violated. Kafka: KafkaRaftClient.poll.
    """
    event, before = step.event, step.before
    if type(event) in _MESSAGES and event is not None and before is not None:
        # A replica that takes a message has nothing to do first.
        due = next_deadline(before)
        if due <= event.now:
            raise Violated(
                "DueFirstProp",
                f"{name_of(step.replica)} takes a {type(event).__name__} at {event.now}; "
                f"its Poll was due at {due}",
            )
    if step.sent or step.effects:
        _check_sent(step)


def _check_sent(step: SimStep) -> None:
    """Check that a process has sent the messages of the effects that it performed.

    A message that leaves before an effect in front of it rests on what a crash may take away.
    """
    due: list[object] = []
    for effect in step.effects:
        if type(effect) is SendRequest:
            due.append(effect.request)
        elif type(effect) is SendResponse:
            due.append(effect.response)
    sent = step.sent
    if len(sent) == len(due) and all(
        one.payload is other for one, other in zip(sent, due, strict=True)
    ):
        return
    raise Violated(
        "SentInOrderProp",
        f"{name_of(step.replica)} sends {_names([one.payload for one in sent])}; the effects that "
        f"it performed send {_names(due)}",
    )


def _names(messages: Sequence[object]) -> str:
    return ", ".join(type(one).__name__ for one in messages) or "nothing"
