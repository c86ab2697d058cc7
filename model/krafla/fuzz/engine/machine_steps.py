"""The last steps of a run on machines, in words: what the node took, did, sent and wrote."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.raft.effects import SendRequest, SendResponse
from kraft.raft.events import Poll, RequestReceived, ResponseReceived
from kraft.sim.raft.cluster import Simulation
from kraft.sim.raft.faults import target_of
from kraft.sim.raft.handler_error import HandlerError
from kraft.sim.raft.steps import CLIENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krafla.fuzz.engine.machine_run import Case
    from krafla.fuzz.engine.machine_system import MachineSystem
    from krafla.fuzz.engine.violation import Violation
    from kraft.sim.raft.steps import SimStep

__all__ = ["fault_lines", "last_steps", "size_lines", "step_text"]

_SHOWN: Final = 12
_VERBS: Final = {"lose": "loses", "duplicate": "will deliver again", "crash": "crashes"}
_SECOND: Final = 1_000_000_000
_NESTED_MAX: Final = 2
# Facts that no reader needs: clocks, dice, and what only finds the way of a message.
_UNTOLD: Final = re.compile(r"now(_ms)?|chance|.*correlation_id|cluster_id|source|.*directory_id|"
                            r"maximum_(wait|bytes)|last_timestamp|version")  # fmt: skip


def last_steps(system: MachineSystem, case: Case, violation: Violation) -> tuple[str, ...]:
    """Return the last steps, up to a violation, of the node at which it was found.

    The case is played again up to there. Steps of the network count if no single node is to blame.
    """
    workload = system.workload(case)
    simulation = Simulation(case.configuration, case.seed, case.plan, case.knobs, workload=workload)
    seen: deque[SimStep] = deque(maxlen=_SHOWN)
    node = re.fullmatch(r"node (\d+)", violation.node)
    try:
        while (step := simulation.step()) is not None:
            if node is None or step.replica.node_id == int(node[1]):
                seen.append(step)
            if step.number == violation.step > 0:
                break
    except HandlerError:
        # Its step never ended; the steps before it are shown.
        pass
    return tuple(map(step_text, seen))


def step_text(step: SimStep) -> str:
    """Return a step in one line: its time, its node, what it took, and its effects in order."""
    return f"{step.time / _SECOND:>9.3f} s  node {step.replica.node_id} {_done(step)}"


def size_lines(case: Case) -> Iterator[str]:
    """Yield how many machines there are, and the versions that they run."""
    yield f"{case.profile}, kraft.version {case.configuration.kraft_version}, seed {case.seed}"
    if case.above is not None:
        elr = ", eligible leader replicas" if case.above.eligible_leader_replicas else ""
        yield f"a cluster of metadata version {case.above.metadata_version}{elr}"


def fault_lines(case: Case, until: int) -> Iterator[str]:
    """Yield each planned fault that began before a time, in nanoseconds."""
    for fault in case.plan or ():
        if fault.time <= until:
            lasts = f" for {fault.duration / _SECOND:.3f} s" if fault.duration else ""
            yield f"{fault.time / _SECOND:>9.3f} s  {fault.kind} of {target_of(fault)}{lasts}"


def _done(step: SimStep) -> str:
    if step.kind == "start":
        return f"starts{'' if step.error is None else f', and refuses: {step.error}'}"
    if step.kind == "fault":
        return f"fault: {step.fault or 'one ends'}{f', {step.detail}' if step.detail else ''}"
    if step.kind in ("lose", "duplicate") and step.received is not None:
        return f"the network {_VERBS[step.kind]} {_told(step.received.payload)}"
    if step.listener is not None:
        listener = step.listener
        said = f"; {listener.said}" if listener.said else ""
        return f"{listener.kind} takes {_told(listener.event)}{said}{_effects(listener.effects)}"
    if step.event is not None:
        return f"{_taken(step.event)}{_effects(step.effects)}"
    return f"{_VERBS.get(step.kind, step.kind)}{f': {step.detail}' if step.detail else ''}"


def _taken(event: Any) -> str:
    if isinstance(event, RequestReceived):
        source = event.source.node_id
        sender = "a client" if source == CLIENT else f"node {source}"
        return f"receives {_told(event.request)} from {sender}"
    if isinstance(event, ResponseReceived):
        return f"receives {_told(event.response)} from node {event.sender}"
    return "wakes" if isinstance(event, Poll) else f"takes {_told(event)}"


def _effects(effects: tuple[Any, ...]) -> str:
    return "".join(f"; {_effect(one)}" for one in effects)


def _effect(effect: Any) -> str:
    if isinstance(effect, SendRequest):
        return f"sends {_told(effect.request)} to node {effect.destination}"
    if isinstance(effect, SendResponse):
        return f"answers {_told(effect.response)}"
    return _told(effect)


def _told(value: Any, depth: int = 0) -> str:
    """Return a value in words: its type, and those of its fields that a reader needs."""
    if isinstance(value, ReplicaKey):
        return f"node {value.node_id}"
    if isinstance(value, OffsetAndEpoch):
        return f"{value.end_offset} of epoch {value.epoch}"
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    names = _fields(value)
    if isinstance(value, tuple | list | frozenset) and not names:
        if all(isinstance(one, int | str) for one in value):
            return f"[{', '.join(map(str, value))}]"
        return f"{len(value)} of them" if len(value) != 1 else _told(next(iter(value)), depth + 1)
    if not names or depth > _NESTED_MAX:
        return type(value).__name__ if hasattr(value, "__dataclass_fields__") else str(value)
    pairs = ((name, getattr(value, name)) for name in names if not _UNTOLD.fullmatch(name))
    told = ", ".join(_field(name, one, depth) for name, one in pairs if not _is_nothing(one))
    return f"{type(value).__name__}({told})" if told else type(value).__name__


def _field(name: str, value: Any, depth: int) -> str:
    words = name.removesuffix("_id").replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"not {words}"
    return f"{words} {_told(value, depth + 1)}"


def _is_nothing(value: Any) -> bool:
    return value is None or value in ((), b"") or getattr(value, "name", "") == "NONE"


def _fields(value: Any) -> tuple[str, ...]:
    if is_dataclass(value):
        return tuple(one.name for one in fields(value))
    names: tuple[str, ...] = getattr(value, "__struct_fields__", getattr(value, "_fields", ()))
    return names
