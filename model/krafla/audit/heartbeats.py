"""Heartbeats in which a broker reports a lost directory, judged at the end of their operation.

Such a heartbeat may fence, unfence or shut down its broker as well. Kafka then makes two sets of
partition changes, both from the state before the heartbeat. Only the record of the lost directory,
which comes last, shows that a known bug explains what came before.

Kafka: ReplicationControlManager.processBrokerHeartbeat, .handleDirectoriesOffline.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.directories import directory_online, offline_leader
from krafla.audit.history_checks import with_place
from krafla.audit.invariants import LEADER_ONLINE
from krafla.audit.invariants_partitions import CHANGE_HAS_EFFECT, UNCHANGED
from krafla.audit.partitions import key_of
from krafla.audit.releases import ELECTED_BY_HEARTBEAT, excuse, known_bug
from krafla.audit.result import Finding, Invariant, Weight, evidence_of
from kraft.records.lease import FENCE, UNFENCE, BrokerRegistrationChangeRecord
from kraft.records.metadata_schemas import PARTITION_CHANGE

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionState
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord
    from kraft.records.record import MetadataRecord

_CHANGES: Final = frozenset({PARTITION_CHANGE.api_key})


class Repeated(NamedTuple):
    """A change without effect: the offset of its record, its partition and that one's state."""

    offset: int
    key: bytes
    state: PartitionState


@dataclass(slots=True)
class Heartbeats:
    """What brokers may have told since the last operation ended.

    `_left` and `_unfenced` have the offset where a broker was fenced or began to shut down, or was
    unfenced; `_lost` the offset where it last reported directories, and all that it lost.
    """

    _batches: list[RecordBatch] = field(default_factory=list)
    _left: dict[int, int] = field(default_factory=dict)
    _unfenced: dict[int, int] = field(default_factory=dict)
    _lost: dict[int, tuple[int, frozenset[str]]] = field(default_factory=dict)
    _repeated: list[Repeated] = field(default_factory=list)

    def begin_batch(self, batch: RecordBatch) -> None:
        """Note that a batch of the operation begins."""
        self._batches.append(batch)

    def note_lease(self, image: Image, offset: int, lease: LeaseRecord) -> None:
        """Note a record of the lease before it is replayed."""
        if not isinstance(lease, BrokerRegistrationChangeRecord):
            return
        broker = lease.broker_id
        if lease.fenced == UNFENCE:
            self._unfenced[broker] = offset
        elif lease.fenced == FENCE or lease.in_controlled_shutdown:
            self._left[broker] = offset
        elif broker in image.registrations:
            lost = frozenset(image.registrations[broker].directories) - set(lease.log_dirs)
            self._lost[broker] = (offset, lost | self._lost.get(broker, (0, frozenset()))[1])

    def note_repeated(self, offset: int, key: bytes, state: PartitionState) -> None:
        """Note a record that changes nothing, which a heartbeat may explain."""
        self._repeated.append(Repeated(offset, key, state))

    def forget(self) -> None:
        """Forget the operation."""
        for noted in (self._batches, self._left, self._unfenced, self._lost, self._repeated):
            noted.clear()

    def unexplained(self) -> list[Finding]:
        """Return the violations by records without effect that no heartbeat explains.

        One explains a record if the same change of the partition came before in the operation, and
        a replica's broker was fenced, unfenced or shut down in it and then lost the directory of
        the replica.
        """
        if not self._repeated:
            return []
        changes: dict[bytes, list[MetadataRecord]] = {}
        for record in self._changes():
            changes.setdefault(key_of(record.fields), []).append(record)
        return [
            self._violation(CHANGE_HAS_EFFECT, UNCHANGED, one.offset, one.key)
            for one in self._repeated
            if not (self._has_a_reason(one) and _came_before(one.offset, changes[one.key]))
        ]

    def elections(self, image: Image) -> list[Finding]:
        """Return the known bug's elections of leaders whose directories the operation then took.

        Their partitions are excused in the image.
        """
        if not self._unfenced.keys() & self._lost.keys():
            return []
        bug = known_bug(ELECTED_BY_HEARTBEAT, image)
        if bug is None:
            return []
        elected: dict[PartitionState, dict[bytes, int]] = {}
        for record in self._changes():
            key = key_of(record.fields)
            state = image.partitions.states.get(key)
            if state is not None and self._elects(record, state, image):
                elected.setdefault(state, {})[key] = record.offset
        found = []
        for state, offsets in elected.items():
            if all(
                key in offsets for key, held in image.partitions.states.items() if held == state
            ):
                excuse(image, state, (LEADER_ONLINE,))
                said = offline_leader(state)
                found += [
                    replace(self._violation(LEADER_ONLINE, said, offset, key), known_bug=bug)
                    for key, offset in offsets.items()
                ]
        return sorted(found, key=lambda finding: finding.offset or 0)

    def _elects(self, record: MetadataRecord, state: PartitionState, image: Image) -> bool:
        """Return whether a record elects the leader of a state between its two reports."""
        leader: int = record.fields["leader"]
        unfenced, (lost, directories) = self._unfenced.get(leader), self._lost.get(leader, _NONE)
        if unfenced is None or state.leader != leader or not unfenced < record.offset < lost:
            return False
        if directory_online(state, leader, image.registrations):
            return False
        return _directory_of(state, leader) in directories

    def _has_a_reason(self, one: Repeated) -> bool:
        for broker in one.state.replicas:
            lost, directories = self._lost.get(broker, _NONE)
            told = (noted[broker] for noted in (self._left, self._unfenced) if broker in noted)
            is_between = any(offset < one.offset < lost for offset in told)
            if is_between and _directory_of(one.state, broker) in directories:
                return True
        return False

    def _changes(self) -> list[MetadataRecord]:
        return [record for batch in self._batches for record in batch.metadata_records(_CHANGES)]

    def _violation(self, invariant: Invariant, said: str, offset: int, key: bytes) -> Finding:
        batch = next(b for b in self._batches if b.base_offset <= offset < b.next_offset)
        evidence = evidence_of(invariant)
        found = Finding(Weight.VIOLATION, invariant.id, said, batch.path, None, offset, evidence)
        return with_place(found, key, batch)


_NONE: Final[tuple[int, frozenset[str]]] = (-1, frozenset())
"""What a broker reported that lost no directory."""


def _came_before(offset: int, changes: list[MetadataRecord]) -> bool:
    """Return whether the change at an offset, one of a partition's, came before as well."""
    fields = next(record.fields for record in changes if record.offset == offset)
    return any(record.offset < offset and record.fields == fields for record in changes)


def _directory_of(state: PartitionState, replica: int) -> str | None:
    directories = dict(zip(state.replicas, state.directories, strict=False))
    return directories.get(replica)
