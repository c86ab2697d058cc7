"""BrokerLease with the observations of ObservedLease, for one cluster: constants and start state.

Spec: ObservedLease!SawStarting, BrokerLease!Init.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.audit.server_logs.events import EventKind
from krafla.audit.server_logs.numbers import WrittenOffsets
from krafla.values import Function, ModelValue, Value, function, record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from krafla.audit.broker_registrations import BrokerRegistration
    from krafla.audit.server_logs.events import Event
    from krafla.audit.server_logs.operations import Operations
    from krafla.audit.server_logs.settings import Settings
    from krafla.audit.server_logs.sightings import Streams
    from krafla.testing import Spec, State

MODULE: Final = "ObservedLease"
NIL: Final = ModelValue("Nil")
NO_NUMBER: Final = -1
"""NoEpoch, NoOffset and NoAge."""
_NO_BROKER: Final = -1
_NO_PROCESS: Final = "none"

_STATUS: Final = {
    EventKind.STARTING: "STARTING",
    EventKind.REGISTERED: "STARTING",
    EventKind.REFUSED: "STARTING",
    EventKind.CAUGHT_UP: "RECOVERY",
    EventKind.IN_RECOVERY: "RECOVERY",
    EventKind.UNFENCED: "RUNNING",
    EventKind.SHUTDOWN_ASKED: "PENDING_CONTROLLED_SHUTDOWN",
    EventKind.SHUTDOWN_PENDING: "PENDING_CONTROLLED_SHUTDOWN",
    EventKind.LEAVE: "SHUTTING_DOWN",
    EventKind.STOPPING: "SHUTTING_DOWN",
}
"""The state of a process after its last line, if the line shows it."""
_ENDED: Final = frozenset({"SHUTTING_DOWN", "CRASHED"})


@dataclass(frozen=True, slots=True)
class LeaseStart:
    """The start of a cluster's history: a state, and the offsets behind its epochs."""

    state: State
    ranks: tuple[WrittenOffsets, ...]


def constants(
    processes: Mapping[str, int], others: Collection[int], settings: Settings
) -> dict[str, Value]:
    """Return the constants of BrokerLease; `processes` maps each process to its broker id.

    `others` are brokers without a process. Requests may be reordered: what the spec forbids with
    reordering, it forbids in every network.
    """
    broker_of = dict(processes) or {_NO_PROCESS: _NO_BROKER}
    return {
        "Broker": frozenset({*broker_of.values(), *others}),
        "Incarnation": frozenset(broker_of),
        "BrokerOf": function(broker_of),
        "SessionTimeout": settings.session_timeout_ms,
        "BrokerTimeout": 1,
        "MaxSkew": 0,
        "SelfFence": False,
        "Reorder": True,
        "Nil": NIL,
    }


def load(values: Mapping[str, Value]) -> Spec:
    """Return the spec with these constants. Raises KraflaError if it cannot be loaded."""
    return _load(tuple(sorted(values.items())))


@lru_cache(maxsize=4)
def _load(values: tuple[tuple[str, Value], ...]) -> Spec:
    from krafla.testing import Spec

    named = dict(values)
    processes = named["Incarnation"]
    assert isinstance(processes, frozenset), "a set of processes"
    # Each process's time may pass or not: there are two to the power of their number ways. Next
    # needs only one of these, because steps are requested by name.
    elapsed = frozenset({function(dict.fromkeys(processes, 1))})
    return Spec.load(MODULE, named, definitions={"Elapsed": elapsed})


def start_of_lease(
    spec: Spec, streams: Streams, log: Operations, last_contact: Mapping[int, int]
) -> LeaseStart:
    """Return the state at the start of the log: Init, or a checkpoint's with the rest chosen.

    `last_contact` has, for an unfenced broker, how many milliseconds before the start it was last
    heard from; the default is 0.
    """
    (state,) = spec.initial_states()
    if log.start == 0:
        return LeaseStart(state, ())
    by_epoch = sorted(log.registrations.items(), key=lambda item: item[1].epoch)
    ranks = tuple(WrittenOffsets(r.epoch, None, r.epoch) for _, r in by_epoch)
    rank = {broker: number for number, (broker, _) in enumerate(by_epoch)}
    timeout = int(_number(spec.evaluate("SessionTimeout")))
    registered: dict[Value, Value] = {
        broker: _registration(r, rank[broker]) for broker, r in log.registrations.items()
    }
    changes: dict[str, Value] = {
        "registrations": _changed(state["registrations"], registered),
        "log_end": len(ranks),
        "contact_age": _changed(
            state["contact_age"],
            {
                broker: min(last_contact.get(broker, 0), timeout + 1)
                for broker, r in log.registrations.items()
                if not r.fenced
            },
        ),
    }
    of_processes = _of_processes(streams, log, rank)
    for name, values in of_processes.items():
        changes[name] = _changed(state[name], values)
    return LeaseStart(state.replace(**changes), ranks)


def latest_process(streams: Streams, broker: int) -> str | None:
    """Return the last process of a broker that started before the start of the log."""
    said = streams.before_start.get(broker, ())
    return next((e.incarnation for e in reversed(said) if e.kind is EventKind.STARTING), None)


def _of_processes(
    streams: Streams, log: Operations, rank: Mapping[int, int]
) -> dict[str, dict[Value, Value]]:
    """Return the variables of processes at the start of a log, by their earlier lines."""
    status: dict[Value, Value] = {}
    epochs: dict[Value, Value] = {}
    for broker, r in log.registrations.items():
        latest = latest_process(streams, broker)
        is_present = latest is None or latest == r.incarnation
        said = streams.before_start.get(broker, ())
        status[r.incarnation] = _status(said, r) if is_present else "CRASHED"
        if status[r.incarnation] not in _ENDED:
            epochs[r.incarnation] = rank[broker]
    for broker, said in streams.before_start.items():
        latest = latest_process(streams, broker)
        if latest is not None and latest not in status:
            last = next((e.kind for e in reversed(said) if e.kind in _STATUS), EventKind.STARTING)
            status[latest] = _STATUS[last]
    applied: dict[Value, Value] = dict.fromkeys(epochs, len(rank) - 1)
    return {"status": status, "broker_epoch": epochs, "applied_offset": applied}


def _number(value: Value) -> int:
    assert isinstance(value, int), "a timeout is a number"
    return value


def _changed(old: Value, new: Mapping[Value, Value]) -> Value:
    """Return the function `old` with new results; a function over 1..n is a tuple."""
    pairs: dict[Value, Value] = {}
    if isinstance(old, tuple):
        pairs.update(enumerate(old, 1))
    else:
        assert isinstance(old, Function), "a variable of BrokerLease is a function"
        pairs.update(old)
    return function({**pairs, **new})


def _registration(registered: BrokerRegistration, rank: int) -> Value:
    return record(
        incarnation=registered.incarnation,
        epoch=rank,
        record_offset=rank,
        fenced=registered.fenced,
        in_controlled_shutdown=registered.in_controlled_shutdown,
    )


def _status(said: Sequence[Event], registered: BrokerRegistration) -> str:
    """Return the state of a process, by its last line or its registration."""
    for event in reversed(said):
        if event.kind in _STATUS:
            return _STATUS[event.kind]
    if registered.in_controlled_shutdown:
        return "SHUTTING_DOWN" if registered.fenced else "PENDING_CONTROLLED_SHUTDOWN"
    return "RUNNING"
