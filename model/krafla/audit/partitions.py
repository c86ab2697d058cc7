"""The partitions of a metadata log.

Nearly every record of a large log changes a partition, so this is the inner loop of the audit. The
bytes of a PartitionChangeRecord after its topic and partition are a short tail that repeats
thousands of times, as does its effect. Each distinct tail is decoded once.

Kafka: ReplicationControlManager.replay, PartitionRegistration.merge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from krafla.audit.change_records import (
    CHANGE_START,
    KEY_END,
    KEY_START,
    MEMO_SIZE,
    Change,
    UnusualError,
    ordinary_changes,
)
from krafla.audit.partition_state import (
    FIRST_EPOCHS,
    NO_CHANGE,
    Epochs,
    Loss,
    PartitionChange,
    PartitionState,
    change_of,
    kept_in_sync,
    loss_of,
)
from kraft.errors import CorruptRecordError
from kraft.ids import uuid_bytes, uuid_text
from kraft.records.metadata_schemas import PARTITION_CHANGE
from kraft.records.value import decode_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krafla.audit.result import Invariant
    from kraft.records.batch import RecordBatch
    from kraft.records.record import MetadataRecord
    from kraft.records.schema import Fields

_LEADER_EPOCH: Final = 1 << 32
"""Both epochs of a partition are one number: the leader's epoch is its upper half."""
_NO_TAIL: Final = b"\xff\xff"
"""No tail begins like this: it would say that there are thousands of tagged fields."""


Objections: TypeAlias = "tuple[tuple[Invariant, str], ...]"


class ChangeCounter(Protocol):
    """The counter of equal changes."""

    times: int


Note: TypeAlias = (
    "Callable[[int, bytes, PartitionState, PartitionState, PartitionChange], ChangeCounter]"
)

Lost: TypeAlias = "Callable[[int, bytes, PartitionState, PartitionState, Loss], None]"


@dataclass(slots=True)
class Uncounted:
    """The counter of changes when no caller counts them."""

    times: int = 0


_UNCOUNTED: Final = Uncounted()


class Refusal(NamedTuple):
    """A refused change: the record of this index in its batch.

    `objections` are the broken invariants with a sentence each. There are none if the partition
    does not exist.
    """

    record_index: int
    objections: Objections


def key_of(fields: Fields) -> bytes:
    """Return a partition's key: four bytes of its id, then 16 of its topic id."""
    partition_id: int = fields["partitionId"]
    return partition_id.to_bytes(4, "big", signed=True) + uuid_bytes(fields["topicId"])


class ChangeReader:
    """The reader of PartitionChangeRecords, which decodes each distinct tail once.

    The fields read have the same tags in every version, so a tail has one meaning. Whether it is
    well-formed also depends on the version. `is_unusual` says that the last batch may have records
    in another form than Kafka writes.
    """

    def __init__(self) -> None:
        self.meaning: dict[bytes, PartitionChange] = {}
        self.is_unusual = False
        self._known: set[tuple[bytes, bytes]] = set()

    def read(
        self,
        batch: RecordBatch,
        wanted: frozenset[int],
        counts: dict[tuple[int, int], int] | None = None,
    ) -> tuple[list[MetadataRecord], list[Change]]:
        """Return the records of a batch with a wanted api key, and its partition changes.

        All records are checked, and counted in `counts`, if given, by api key and version. Raises
        as `RecordBatch.metadata_records`.
        """
        if len(self.meaning) >= MEMO_SIZE:
            self.meaning.clear()
            self._known.clear()
        counts = {} if counts is None else counts
        quick = self._quickly(batch)
        self.is_unusual = quick is None
        changes, version = quick or (None, 0)
        if changes is not None and len(changes) == batch.count:
            counts[PARTITION_CHANGE.api_key, version] = batch.count
            return [], changes
        records = batch.metadata_records(wanted, counts)
        expected = sum(n for (key, _), n in counts.items() if key == PARTITION_CHANGE.api_key)
        if changes is None or len(changes) != expected:
            changes = self._by_the_book(batch)
        return records, changes

    def _quickly(self, batch: RecordBatch) -> tuple[list[Change], int] | None:
        """Return the changes in a batch and their version, None if only a full decode can tell."""
        try:
            found, tails, head = ordinary_changes(batch.record_bytes(), batch.count)
            for tail, key in tails.items():
                if (head, tail) not in self._known:
                    self._learn(head, key, tail)
        except (IndexError, UnusualError, CorruptRecordError):
            return None
        return found, head[KEY_START - 1] if found else 0

    def _by_the_book(self, batch: RecordBatch) -> list[Change]:
        changes = []
        for record in batch.metadata_records(frozenset({PARTITION_CHANGE.api_key})):
            key, tail = key_of(record.fields), _tail(record.value)
            self.meaning[tail] = change_of(record.fields)
            changes.append((record.offset - batch.base_offset, key, tail))
        return changes

    def _learn(self, head: bytes, key: bytes, tail: bytes) -> None:
        self.meaning[tail] = change_of(decode_value(head + key + tail).fields)
        self._known.add((head, tail))


def _tail(value: bytes) -> bytes:
    """Return the tail of a checked value; an unusual encoding gets a tail of its own."""
    if value.startswith(CHANGE_START) and value[KEY_START - 1] < 0x80:
        return value[KEY_END:]
    return _NO_TAIL + value


_Effect: TypeAlias = tuple[PartitionState, int, ChangeCounter, int, Loss | None, int]
"""The state after a change, what the change adds to the two epochs (packed in one number), the
counter of equal changes, the size of the ISR if that may be too large beside an ELR, what the
partition loses, and how many replicas it had, if it has another number after."""


class Partitions:
    """All partitions, changed in place.

    `touched` are the partitions changed since the last `settle`. Transitions are kept by state and
    tail of the record; `_known` makes equal states one object.
    """

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader
        self.states: dict[bytes, PartitionState] = {}
        self.touched: dict[bytes, PartitionState] = {}
        self.topics: dict[bytes, list[bytes]] = {}
        self._epochs: dict[bytes, int] = {}
        self._former: dict[bytes, frozenset[int]] = {}
        self._known: dict[PartitionState, PartitionState] = {}
        self._seen: set[PartitionState] = set()
        self._transitions: dict[tuple[int, bytes], _Effect] = {}

    def put(self, key: bytes, state: PartitionState, epochs: Epochs = FIRST_EPOCHS) -> None:
        """Create or replace a partition."""
        if key not in self.states:
            self.topics.setdefault(key[4:], []).append(key)
        self.states[key] = self.touched[key] = self._known.setdefault(state, state)
        self._epochs[key] = epochs.leader * _LEADER_EPOCH + epochs.partition

    def epochs(self, key: bytes) -> Epochs:
        """Return the epochs of a partition that exists."""
        return Epochs(*divmod(self._epochs[key], _LEADER_EPOCH))

    def change(
        self,
        changes: Iterable[Change],
        check: Callable[[PartitionState, PartitionState, PartitionChange], Objections],
        note: Note | None = None,
        eligible: Callable[[bytes, int], Objections] = lambda _, __: (),
        lost: Lost = lambda *_: None,
    ) -> Refusal | None:
        """Apply PartitionChangeRecords up to the first refused one; return its refusal.

        `check` returns the objections to a state before, a state after and a change. It is called
        once for each distinct effect until `forget_transitions`. `note`, called next, returns the
        counter of that effect. `eligible` returns the objections to a partition that has an ELR
        beside an ISR of some size; it depends on the topic, so it is called for each such change.
        `lost` is called for each change that takes its leader, or replicas, from a partition, or
        that changes nothing.
        """
        states, touched, transitions = self.states, self.touched, self._transitions
        epochs, state_of, effect_of = self._epochs, self.states.get, self._transitions.get
        for index, key, tail in changes:
            before = state_of(key)
            if before is None:
                return Refusal(index, ())
            found = effect_of((id(before), tail))
            if found is None:
                change = self._reader.meaning[tail]
                after = change.applied_to(before)
                objections = check(before, after, change)
                if objections:
                    return Refusal(index, objections)
                after = self._known.setdefault(after, after)
                if len(transitions) >= MEMO_SIZE:
                    transitions.clear()
                times = _UNCOUNTED if note is None else note(index, key, before, after, change)
                raised = 1 if change.leader == NO_CHANGE else _LEADER_EPOCH + 1
                loss = loss_of(before, after, change)
                resized = len(before.replicas) != len(after.replicas)
                former = len(before.replicas) if resized else 0
                found = (after, raised, times, kept_in_sync(before, after), loss, former)
                transitions[id(before), tail] = found
            after, raised, times, in_sync, loss, former = found
            if in_sync:
                objections = eligible(key, in_sync)
                if objections:
                    return Refusal(index, objections)
            if loss is not None:
                lost(index, key, before, after, loss)
            if former:
                self._former[key] = self._former.get(key, frozenset()) | {former}
            states[key] = touched[key] = after
            epochs[key] += raised
            times.times += 1
        return None

    def clear_elr(self, topic: bytes | None) -> None:
        """Empty both ELR fields of a topic's partitions, or of all. Kafka: ClearElrRecord."""
        for key, state in self.states.items():
            if (topic is None or key[4:] == topic) and (state.elr or state.last_known_elr):
                cleared = state._replace(elr=(), last_known_elr=())
                cleared = self._known.setdefault(cleared, cleared)
                self.states[key] = self.touched[key] = cleared
                self._epochs[key] += 1

    def forget_transitions(self) -> None:
        """Check every effect anew, because brokers or features changed."""
        self._transitions.clear()

    def remove_topic(self, topic: bytes) -> None:
        """Forget the partitions of a topic."""
        for key in self.topics.pop(topic, ()):
            self.states.pop(key, None)
            self.touched.pop(key, None)
            self._epochs.pop(key, None)

    def replica_counts(self, key: bytes) -> frozenset[int]:
        """Return how many replicas a partition has, and had since the last `settle`.

        Kafka makes all records of an operation from the state before it.
        """
        state = self.states.get(key)
        if state is None:
            return frozenset()
        return self._former.get(key, frozenset()) | {len(state.replicas)}

    def settle(self) -> set[PartitionState]:
        """Return the distinct states of the touched partitions, and forget which were touched."""
        fresh = set({id(state): state for state in self.touched.values()}.values())
        self.touched = {}
        self._former = {}
        self._seen |= fresh
        return fresh

    def present(self) -> set[PartitionState]:
        """Return every distinct state of a partition, and perhaps some past states."""
        return set(self._seen)

    def holder(self, state: PartitionState) -> bytes | None:
        """Return the least key of a partition in a state; forget the state if there is none."""
        keys = [key for key, held in self.states.items() if held == state]
        if not keys:
            self._seen.discard(state)
        return min(keys, default=None)

    def copy(self) -> Partitions:
        """Return an independent copy."""
        twin = Partitions(self._reader)
        twin.states = dict(self.states)
        twin.touched = dict(self.touched)
        twin.topics = {topic: list(keys) for topic, keys in self.topics.items()}
        twin._epochs = dict(self._epochs)
        twin._former = dict(self._former)
        twin._known = dict(self._known)
        twin._seen = set(self._seen)
        return twin


def key_text(key: bytes) -> str:
    """Return a partition's key as text: `<topic id>-<partition id>`."""
    return f"{uuid_text(key[4:])}-{int.from_bytes(key[:4], 'big', signed=True)}"
