"""The order in which a process does things: one thing at a time, and what is due first.

Kafka: KafkaRaftClientDriver.doWork, KafkaRaftClient.poll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kraft.hosting.outside import RAFT_MESSAGES
from kraft.hosting.process import OwnRequest
from kraft.raft.events import Poll, RequestReceived, ResponseReceived, Source

if TYPE_CHECKING:
    from kraft.hosting.outside import Message
    from kraft.hosting.process import HostedProcess
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState, Step


class Taken(NamedTuple):
    """What a process did: the `message` that it took, if any, and Raft's step.

    Without an `event` and a `step` the listener did something by itself. `before` is the state
    before the step.
    """

    message: Message | None
    event: Event | None = None
    before: RaftState | None = None
    step: Step | None = None


_LISTENER_WAS_DUE = Taken(None)


def take_turn(process: HostedProcess) -> Taken | None:
    """Let a process do its next thing; return None if there is nothing to do now.

    The first of these that waits comes next: an urgent request of its state machine; a Poll that is
    due; what is due for the listener; the first message or request in the inbox. The effects of a
    returned step must be performed before the next turn: `kraft.hosting.effects.perform`.

    Raises what the handlers raise; `process.doing` says then what the process did.
    """
    now = process.outside.now()
    if process.urgent:
        return _take_own(process, process.urgent.popleft(), now)
    if process.is_busy or process.deadline <= now:
        return _take(process, Poll(now, process.outside.chance()))
    if process.listener_deadline <= now:
        process.doing = "due"
        process.listener.due()
        return _LISTENER_WAS_DUE
    inbox = process.inbox
    while inbox:
        item = inbox.popleft()
        if not isinstance(item, OwnRequest):
            return _take_message(process, item, now)
        taken = _take_own(process, item, now)
        if taken is not None:
            return taken
    return None


def is_waiting(process: HostedProcess) -> bool:
    """Return whether something waits that needs no deadline to pass."""
    return bool(process.inbox or process.is_busy or process.urgent)


def next_deadline(process: HostedProcess) -> int:
    """Return when something is due next, by the process's clock in nanoseconds; or NEVER."""
    return min(process.deadline, process.listener_deadline)


def _take_own(process: HostedProcess, request: OwnRequest, now: int) -> Taken | None:
    process.doing = request
    event = request.event(process, now, process.outside.chance())
    return None if event is None else _take(process, event)


def _take_message(process: HostedProcess, message: Message, now: int) -> Taken:
    """Pass a message to Raft, or to the listener."""
    payload = message.payload
    if payload.__class__ not in RAFT_MESSAGES:
        process.doing = payload
        process.listener.receive(message)
        return Taken(message)
    chance = process.outside.chance()
    if message.is_request:
        source = Source(message.source, message.message_id)
        return _take(process, RequestReceived(now, chance, source, payload), message)
    sender, correlation_id = message.source, message.correlation_id
    return _take(process, ResponseReceived(now, chance, sender, correlation_id, payload), message)


def _take(process: HostedProcess, event: Event, message: Message | None = None) -> Taken:
    process.doing = event
    before = process.state
    step = process.replica.on_event(before, event)
    process.become(step.state)
    return Taken(message, event, before, step)
