"""A simulated metadata log as a state of MetadataLog, and a choice as one of its actions.

This changes the notation and holds no rule of the protocol. Where spec and code differ, one of them
is fixed, never this file. An end is an offset in the code; in the spec it counts batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.refinement.common.interner import Interner
from krafla.refinement.common.judged_spec import StepMapping
from krafla.refinement.lease.vocabulary import NIL
from krafla.values import ModelValue, function, record
from kraft.controller.effects import Failure
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from kraft.records.topics import ConfigRecord
from kraft.sim.metadata import choices
from kraft.sim.metadata.cluster import count_before
from kraft.sim.metadata.values import LEFT, RIGHT, SetValue, value_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from krafla.values import Value
    from kraft.controller.memory import Memory
    from kraft.controller.state import ControllerState, Deferred
    from kraft.ids import NodeId, Offset
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord
    from kraft.sim.metadata.choices import Choice
    from kraft.sim.metadata.cluster import Cluster, Configuration, Entry, SnapshotFile

__all__ = ["MetadataMapping", "node_value", "request_value"]

_NO_OFFSET: Final = -1
# The end of an offset that has none in the spec. No variable may have this value.
_NO_END: Final = -2
_MARKERS: Final = {
    BeginTransactionRecord: "BeginTransaction",
    EndTransactionRecord: "EndTransaction",
    AbortTransactionRecord: "AbortTransaction",
}
# The outcome decides the name of these actions, and a controller may step back at any time.
_TOLD_BY_OUTCOME: Final = (choices.Ask, choices.HandOver, choices.TellLeader, choices.TellOther)
_NAMES: Final = {"MakeMistake": "Renounce"}


def node_value(node: NodeId) -> ModelValue:
    """Return a node as a model value: an id alone could not be compared with a request."""
    return ModelValue(f"n{node}")


def request_value(request: SetValue) -> Value:
    """Return a request. Spec: MCMetadataLog!Set."""
    # `from` is a keyword in Python.
    return record(**{"from": request.expected, "to": request.to})


class MetadataMapping(StepMapping):
    """The mapping for one configuration. Equal values are one object while they are remembered."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._values: Interner[Value] = Interner()

    def variables(self, cluster: Cluster) -> dict[str, Value]:
        """Return the values of all variables. Spec: MetadataLog!vars."""
        configuration = self._configuration
        states = [cluster.nodes[node] for node in configuration.nodes]
        ends = [_Ends(cluster, state) for state in states]
        claims = tuple(cluster.nodes[one].claim_epoch for one in configuration.controllers)
        leads = tuple(cluster.leader_epoch[one] for one in configuration.controllers)
        both = list(zip(states, ends, strict=True))
        parked = [
            frozenset(_deferred(one, end) for one in state.deferred)
            for state, end in both[: len(configuration.controllers)]
        ]
        files = [cluster.snapshots[node] for node in configuration.nodes]
        answers = {
            request_value(one): cluster.answers.get(one, NIL) for one in configuration.requests
        }
        return {
            "committed": self._log(cluster.committed),
            "uncommitted": self._log(cluster.uncommitted),
            "leader_epoch": self._by(configuration.controllers, leads),
            "claim_epoch": self._by(configuration.controllers, claims),
            "committed_end": self._of([end.of(state.committed_end) for state, end in both]),
            "stable_end": self._of([end.of(state.stable_end) for state, end in both]),
            "write_end": self._of([end.of(state.write_end) for state, end in both]),
            "written": self._of([_memory(state.written, end) for state, end in both]),
            "timeline": self._of([_timeline(state, end) for state, end in both]),
            "deferred": self._by(configuration.controllers, parked),
            "answers": self._one(function(answers)),
            "snapshot": self._of([_snapshot(one, cluster) for one in files]),
        }

    def parameters_of(self, cluster: Cluster, choice: Choice) -> tuple[Value, ...] | None:
        """Return the parameters of the action a choice stands for, by the cluster before it."""
        match choice:
            case choices.Elect():
                passed = tuple(_leader_change(*one) for one in choice.passed)
                return node_value(choice.controller), choice.epoch, choice.survivors, passed
            case choices.Commit() | choices.LoseTail():
                return (choice.count,)
            case choices.Ask():
                return node_value(choice.controller), request_value(choice.request)
            case choices.LoadSnapshot():
                return node_value(choice.node), node_value(choice.source)
            case choices.HandOver():
                state = cluster.nodes[choice.node]
                end = _Ends(cluster, state).of(state.committed_end)
                return node_value(choice.node), end + choice.count
            case choices.CreateSnapshot() | choices.Restart():
                return (node_value(choice.node),)
            case _:
                return (node_value(choice.controller),)

    def refused_action(self, choice: Choice) -> str | None:
        """Return the action that a refused choice would have been, if it can be only one."""
        name = type(choice).__name__
        return None if isinstance(choice, _TOLD_BY_OUTCOME) else _NAMES.get(name, name)

    def _of(self, values: list[Value]) -> Value:
        return self._by(self._configuration.nodes, values)

    def _by(self, nodes: tuple[NodeId, ...], values: Collection[Value]) -> Value:
        return self._one(function(zip(map(node_value, nodes), values, strict=True)))

    def _log(self, entries: tuple[Entry, ...]) -> Value:
        return self._values.get(("log", entries), lambda: tuple(map(_entry, entries)))

    def _one(self, value: Value) -> Value:
        return self._values.get(("value", value), lambda: value)


class _Ends:
    """The ends of one node as numbers of batches: those of the log, then its own in their order."""

    def __init__(self, cluster: Cluster, state: ControllerState) -> None:
        self._log = cluster.committed
        self._committed = state.committed_end
        ahead = {end for end in (*state.timeline, state.write_end) if end > state.committed_end}
        first = count_before(self._log, self._committed)
        self._ahead = {end: first + rank for rank, end in enumerate(sorted(ahead), start=1)}

    def of(self, end: Offset) -> int:
        if end > self._committed:
            return self._ahead.get(end, _NO_END)
        return _committed_end(self._log, end)


def _committed_end(log: tuple[Entry, ...], end: int) -> int:
    """Return an end of the log as a number of batches. The middle of a batch has none."""
    count = count_before(log, end)
    return count if (log[count - 1].end if count else 0) == end else _NO_END


def _leader_change(epoch: int, leader: NodeId) -> Value:
    return record(epoch=epoch, kind="LeaderChange", value=node_value(leader))


def _entry(entry: Entry) -> Value:
    if not entry.records:
        return _leader_change(entry.epoch, entry.leader)
    request = NIL if entry.request is None else request_value(entry.request)
    batch = record(request=request, records=tuple(map(_record, entry.records)))
    return record(epoch=entry.epoch, kind="Data", value=batch)


def _record(one: TypedRecord) -> Value:
    if isinstance(one, ConfigRecord):
        return record(type="Set", key=one.name, value=int(one.value or 0))
    return record(type=_MARKERS[type(one)])


def _image(image: MetadataImage) -> Value:
    return record(left=value_of(image, LEFT), right=value_of(image, RIGHT))


def _memory(memory: Memory, ends: _Ends) -> Value:
    start = memory.transaction_start
    return record(
        image=_image(memory.image),
        transaction_start=_NO_OFFSET if start == _NO_OFFSET else ends.of(start),
        image_before=NIL if memory.before is None else _image(memory.before.image),
    )


def _timeline(state: ControllerState, ends: _Ends) -> Value:
    return function((ends.of(end), _memory(one, ends)) for end, one in state.timeline.items())


def _deferred(parked: Deferred, ends: _Ends) -> Value:
    answer = parked.response
    assert isinstance(parked.token, SetValue), "only such requests are deferred"
    code = answer.error_code if isinstance(answer, Failure) else answer
    return record(request=request_value(parked.token), end=ends.of(parked.end), result=code.name)


def _snapshot(file: SnapshotFile, cluster: Cluster) -> Value:
    image = replay(EMPTY_IMAGE, file.records)
    end = _committed_end(cluster.committed, file.snapshot_id.end_offset)
    return record(end=end, image=_image(image))
