"""Permissive states: they allow at least as much as any state that the unseen steps may lead to.

The search chooses the unseen steps, so its failure proves nothing. Before a sighting counts as
forbidden, it is tried in permissive states: the session is as old or as young as it can be, and
every heartbeat that the process can have sent, every answer that it can have received and every
offset is in flight or reported. What was seen stays: registrations, epochs, states of processes,
the log. If the spec forbids the sighting in all of these states, no unseen steps can explain it.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from krafla.audit.server_logs.lease import NIL, NO_NUMBER
from krafla.values import Function, Value, function, record

if TYPE_CHECKING:
    from krafla.audit.server_logs.candidate import Candidate
    from krafla.testing import State

_READY = frozenset({"RECOVERY", "RUNNING", "PENDING_CONTROLLED_SHUTDOWN"})
_LIVE = _READY | {"STARTING"}
_ENDED = frozenset({"SHUTTING_DOWN", "CRASHED"})


def state_with_oldest_session(
    candidate: Candidate, broker: int, timeout_ms: int, skew_ms: int
) -> State:
    """Return the state in which a broker was not heard from since its last certain contact."""
    return _with_age(candidate, broker, _oldest(candidate, broker, timeout_ms, skew_ms))


def permissive_states(
    candidate: Candidate,
    broker: int,
    processes: frozenset[str],
    *,
    timeout_ms: int,
    skew_ms: int,
    watched: bool,
) -> list[State]:
    """Return the permissive states for a sighting of a broker and some of its processes.

    `watched` says whether the broker's own log was read, which shows what the broker did.
    """
    state = candidate.state
    latest = state["log_end"]
    assert isinstance(latest, int), "log_end is a number"
    offsets = _pairs(state["metadata_offset"])
    reported = function(dict.fromkeys(offsets, latest - 1))
    bag = dict(state["messages"]) if isinstance(state["messages"], Function) else {}
    for process in sorted(processes):
        for message in _messages(candidate, broker, process, latest - 1, watched=watched):
            bag.setdefault(message, 1)
    ages = {_oldest(candidate, broker, timeout_ms, skew_ms), 0}
    if candidate.last_contact(broker) is None:
        ages.add(NO_NUMBER)
    if candidate.of("registrations", broker) == NIL:
        ages = {NO_NUMBER}
    found = []
    for age in sorted(ages, reverse=True):
        aged = _with_age(candidate, broker, age)
        found.append(aged.replace(messages=function(bag)))
        found.append(aged.replace(messages=function(bag), metadata_offset=reported))
    return found


def _oldest(candidate: Candidate, broker: int, timeout_ms: int, skew_ms: int) -> int:
    """Return the greatest age a broker's session can have, in milliseconds past the timeout: +1."""
    heard = candidate.last_contact(broker)
    if heard is None:
        return timeout_ms + 1
    return min(timeout_ms + 1, candidate.clock_ms - heard + skew_ms)


def _with_age(candidate: Candidate, broker: int, age: int) -> State:
    ages = _pairs(candidate.state["contact_age"])
    return candidate.state.replace(contact_age=function({**ages, broker: age}))


def _pairs(value: Value) -> dict[Value, Value]:
    if isinstance(value, tuple):
        return dict(enumerate(value, 1))
    assert isinstance(value, Function), "a variable of brokers is a function"
    return dict(value)


def _messages(
    candidate: Candidate, broker: int, process: str, latest: int, *, watched: bool
) -> list[Value]:
    """Return the messages that may be in flight from and to a process."""
    status = candidate.of("status", process)
    found: list[Value] = []
    # A request from before a process's end may still arrive, but no process awaits its answer.
    if status in _LIVE | _ENDED:
        awaited = status in _LIVE
        found.append(record(type="RegistrationRequest", incarnation=process, awaited=awaited))
    watched = watched and candidate.knows("started", process)
    epoch = _epoch(candidate, broker, process)
    if epoch is None:
        return found
    ready = not watched or status in _READY or candidate.knows("ready", process)
    asked = not watched or candidate.knows("asked", process)
    for want_fence, want_leave in product((True, False), (True, False)):
        if (want_fence or ready) and (asked or not want_leave):
            found.append(
                record(
                    type="HeartbeatRequest", incarnation=process, awaited=status in _LIVE,
                    epoch=epoch, metadata_offset=latest, want_fence=want_fence,
                    want_shut_down=want_leave,
                )
            )  # fmt: skip
    if status in _LIVE:
        found += _answers(candidate, process)
        found += _registered_again(candidate, process)
    return found


def _registered_again(candidate: Candidate, process: str) -> list[Value]:
    """Return the answer to a process that registers again and keeps its epoch.

    Kafka: BrokerLifecycleManager.resendBrokerRegistration. BrokerLease has no such request.
    """
    own = candidate.of("broker_epoch", process)
    if own == NO_NUMBER:
        return []
    return [record(type="RegistrationResponse", incarnation=process, error="NONE", epoch=own)]


def _answers(candidate: Candidate, process: str) -> list[Value]:
    fenced = [True, *([False] if candidate.knows("unfenced", process) else [])]
    leave = [False, *([True] if candidate.knows("left", process) else [])]
    return [
        record(
            type="HeartbeatResponse", incarnation=process, error="NONE", is_caught_up=caught_up,
            is_fenced=is_fenced, should_shut_down=should,
        )
        for caught_up, is_fenced, should in product((True, False), fenced, leave)
    ]  # fmt: skip


def _epoch(candidate: Candidate, broker: int, process: str) -> int | None:
    """Return the epoch that messages of a process may have, None if it never had one."""
    own = candidate.of("broker_epoch", process)
    if own != NO_NUMBER:
        return int(own)
    registered = candidate.of("registrations", broker)
    ended = candidate.of("status", process) in _ENDED
    if registered != NIL and registered.incarnation == process and ended:
        return int(registered.epoch)
    return None
