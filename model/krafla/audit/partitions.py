"""The partitions a metadata log describes, as far as fencing is concerned: leader, ISR, replicas.

Nearly every record of a large log changes a partition, so this is the inner loop of the audit. It
never builds a record's fields twice for the same bytes: what a PartitionChangeRecord says after its
topic and partition is a short tail that repeats thousands of times, and so does its effect.
`batch.metadata_records` has checked every record before; here the values only have to be found.

Kafka: ReplicationControlManager.replay, PartitionRegistration.merge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.ids import uuid_text
from kraft.records.metadata_schemas import PARTITION_CHANGE
from kraft.records.value import decode_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kraft.records.batch import RecordBatch
    from kraft.records.schema import Fields

KEY_START: Final = 3
KEY_END: Final = 23
"""Bytes of partition id and topic id in a PartitionChangeRecord's value: a partition's key."""
NO_CHANGE: Final = -2
"""The leader of a PartitionChangeRecord that does not touch the leader."""
_MEMO_SIZE: Final = 65536
_SMALL: Final = 64
_MEDIUM: Final = 8192
_FRAME: Final = 1


class PartitionState(NamedTuple):
    """What fencing is about: who leads, who is in sync, who holds a replica."""

    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]


class PartitionChange(NamedTuple):
    """What a PartitionChangeRecord changes; None and NO_CHANGE leave things as they are."""

    leader: int
    isr: tuple[int, ...] | None
    replicas: tuple[int, ...] | None

    def applied_to(self, state: PartitionState) -> PartitionState:
        """Return the partition after the change."""
        return PartitionState(
            state.leader if self.leader == NO_CHANGE else self.leader,
            state.isr if self.isr is None else self.isr,
            state.replicas if self.replicas is None else self.replicas,
        )


class Refusal(NamedTuple):
    """Where a run of changes stopped: at the record of this index in its batch.

    `objection` is a sentence; None if the record names a partition that does not exist.
    """

    record_index: int
    objection: str | None


def partition_key(partition_id: int, topic: bytes) -> bytes:
    """Return the key of a partition: four bytes of its id, sixteen of its topic's."""
    return partition_id.to_bytes(4, "big", signed=True) + topic


def state_of(fields: Fields) -> PartitionState:
    """Return the state that a PartitionRecord gives its partition."""
    return PartitionState(fields["leader"], fields["isr"], fields["replicas"])


def change_values(batch: RecordBatch, expected: int) -> list[tuple[int, bytes]]:
    """Return (index in the batch, value) of a checked batch's `expected` PartitionChangeRecords."""
    try:
        found = _plain_values(batch.record_bytes(), batch.count)
    except IndexError:
        found = None
    if found is None or len(found) != expected:
        records = batch.metadata_records(frozenset({PARTITION_CHANGE.api_key}))
        return [(record.offset - batch.base_offset, record.value) for record in records]
    return found


def _plain_values(data: bytes, count: int) -> list[tuple[int, bytes]] | None:
    """Return the same for records in the form Kafka writes them; None for any other.

    A record is: its length, no attributes, timestamp delta 0, its index, no key, the length of
    its value, the value, no headers. All lengths and the index are zigzag varints. The fields
    that are read have the same tags in every version of the record.
    """
    wanted = PARTITION_CHANGE.api_key
    found = []
    position = 0
    for index in range(count):
        size = data[position]
        body = position + 1
        if size >= 0x80:
            size = size & 0x7F | data[body] << 7
            body += 1
            if size >= 1 << 14:
                return None
        if data[body + 1]:
            return None
        end = body + (size >> 1)
        start = body + (4 if index < _SMALL else 5 if index < _MEDIUM else 6)
        start += 1 if end - start <= _SMALL + 1 else 2
        if data[start + 1] == wanted and data[start] == _FRAME:
            found.append((index, data[start : end - 1]))
        position = end
    return found


class Partitions:
    """All partitions, changed in place.

    `touched` are those that changed since the last `settle`. Transitions are remembered by (state,
    tail of the record), so equal states are mostly one object.
    """

    def __init__(self) -> None:
        self.states: dict[bytes, PartitionState] = {}
        self.touched: dict[bytes, PartitionState] = {}
        self._topics: dict[bytes, list[bytes]] = {}
        self._seen: set[PartitionState] = set()
        self._transitions: dict[tuple[PartitionState, bytes], PartitionState] = {}

    def put(self, key: bytes, state: PartitionState) -> None:
        """Create a partition, or replace what is known of it."""
        if key not in self.states:
            self._topics.setdefault(key[4:], []).append(key)
        self.states[key] = self.touched[key] = state

    def change(
        self,
        changes: Iterable[tuple[int, bytes]],
        check: Callable[[PartitionState, PartitionState], str | None],
    ) -> Refusal | None:
        """Apply PartitionChangeRecords, given as (index, value); return what stopped it, if any.

        `check` is asked for an objection to (state before, state after), once for each distinct
        effect until `forget_transitions`.
        """
        states, touched, transitions = self.states, self.touched, self._transitions
        for index, value in changes:
            key = value[KEY_START:KEY_END]
            before = states.get(key)
            if before is None:
                return Refusal(index, None)
            effect = (before, value[KEY_END:])
            after = transitions.get(effect)
            if after is None:
                after = change_of(value).applied_to(before)
                objection = check(before, after)
                if objection is not None:
                    return Refusal(index, objection)
                if len(transitions) >= _MEMO_SIZE:
                    transitions.clear()
                transitions[effect] = after
            states[key] = touched[key] = after
        return None

    def forget_transitions(self) -> None:
        """Have every effect checked anew: the brokers it was checked against have changed."""
        self._transitions.clear()

    def remove_topic(self, topic: bytes) -> None:
        """Forget the partitions of a topic."""
        for key in self._topics.pop(topic, ()):
            self.states.pop(key, None)
            self.touched.pop(key, None)

    def settle(self) -> set[PartitionState]:
        """Return the distinct states of the partitions touched, and start anew."""
        fresh = set(self.touched.values())
        self.touched = {}
        self._seen |= fresh
        return fresh

    def present(self) -> set[PartitionState]:
        """Return every distinct state some partition is in, and perhaps some that were."""
        return set(self._seen)

    def holder(self, state: PartitionState) -> bytes | None:
        """Return the first key of a partition in a state; forget the state if there is none."""
        keys = [key for key, held in self.states.items() if held == state]
        if not keys:
            self._seen.discard(state)
        return min(keys, default=None)

    def copy(self) -> Partitions:
        """Return an independent copy, for an image to come back to."""
        twin = Partitions()
        twin.states = dict(self.states)
        twin.touched = dict(self.touched)
        twin._topics = {topic: list(keys) for topic, keys in self._topics.items()}
        twin._seen = set(self._seen)
        return twin


def change_of(value: bytes) -> PartitionChange:
    """Return what the value of a PartitionChangeRecord changes."""
    fields = decode_value(value).fields
    return PartitionChange(fields["leader"], fields["isr"], fields["replicas"])


def key_text(key: bytes) -> str:
    """Return a partition's key in words: `<topic id>-<partition id>`."""
    return f"{uuid_text(key[4:])}-{int.from_bytes(key[:4], 'big', signed=True)}"
