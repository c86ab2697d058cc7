"""Which partitions each broker leads, is in sync with, or is eligible to lead: kept, not looked up.

It says nothing that the image does not say. It is kept because a controller asks it at each
heartbeat, and an image may hold very many partitions.

Kafka: BrokersToIsrs, BrokersToElrs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from immutables import Map

from kraft.records.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from immutables import MapMutation

    from kraft.ids import PartitionId, TopicId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord

_Key: TypeAlias = "tuple[TopicId, PartitionId]"
_Keys: TypeAlias = "Map[tuple[TopicId, PartitionId], None]"
_Buckets: TypeAlias = "Map[int, Map[tuple[TopicId, PartitionId], None]]"

_NO_BUCKETS: Final[_Buckets] = Map()
_NO_KEYS: Final[_Keys] = Map()


class BrokersToPartitions(msgspec.Struct, frozen=True):
    """The partitions of each broker, by its role in them; a broker without any in a role is absent.

    `leads` has the partitions without a leader under NO_LEADER: each partition is in it once.
    """

    isr: _Buckets = _NO_BUCKETS
    elr: _Buckets = _NO_BUCKETS
    leads: _Buckets = _NO_BUCKETS


NO_PARTITIONS: Final = BrokersToPartitions()


def brokers_to_partitions(image: MetadataImage) -> BrokersToPartitions:
    """Return the index of an image, made of all its partitions."""
    isr: dict[int, dict[_Key, None]] = {}
    elr: dict[int, dict[_Key, None]] = {}
    leads: dict[int, dict[_Key, None]] = {}
    for key, partition in image.partitions.items():
        leads.setdefault(partition.leader, {})[key] = None
        for broker_id in partition.isr:
            isr.setdefault(broker_id, {})[key] = None
        for broker_id in partition.eligible_leader_replicas:
            elr.setdefault(broker_id, {})[key] = None
    return BrokersToPartitions(_buckets(isr), _buckets(elr), _buckets(leads))


def after_records(
    index: BrokersToPartitions,
    before: MetadataImage,
    after: MetadataImage,
    records: Iterable[TypedRecord],
) -> BrokersToPartitions:
    """Return the index of the image that `records` made of `before`, given the index of `before`.

    It looks only at the partitions that the records are about.

    Kafka: BrokersToIsrs.update, BrokersToIsrs.removeTopicEntryForBroker.
    """
    keys: dict[_Key, None] = {}
    for record in records:
        if isinstance(record, PartitionRecord | PartitionChangeRecord):
            keys[record.topic_id, record.partition_id] = None
        elif isinstance(record, RemoveTopicRecord):
            removed = before.topics.get(record.topic_id)
            for partition_id in () if removed is None else removed.partition_ids:
                keys[record.topic_id, partition_id] = None
        elif isinstance(record, ClearElrRecord):
            # A broker that becomes eligible in these same records is found through them.
            keys.update(dict.fromkeys(key for eligible in index.elr.values() for key in eligible))
    isr, elr, leads = _Moves(index.isr), _Moves(index.elr), _Moves(index.leads)
    for key in keys:
        old, new = before.partitions.get(key), after.partitions.get(key)
        if old is new:
            continue
        isr.move(key, _isr(old), _isr(new))
        elr.move(key, _elr(old), _elr(new))
        leads.move(key, _leader(old), _leader(new))
    return BrokersToPartitions(isr.buckets(), elr.buckets(), leads.buckets())


def _isr(partition: Partition | None) -> tuple[int, ...]:
    return () if partition is None else partition.isr


def _elr(partition: Partition | None) -> tuple[int, ...]:
    return () if partition is None else partition.eligible_leader_replicas


def _leader(partition: Partition | None) -> tuple[int, ...]:
    return () if partition is None else (partition.leader,)


class _Moves:
    """Buckets in which partitions move; a bucket is changed in place until `buckets`."""

    __slots__ = ("_before", "_changed")

    def __init__(self, before: _Buckets) -> None:
        self._before = before
        self._changed: dict[int, MapMutation[_Key, None]] = {}

    def move(self, key: _Key, old: tuple[int, ...], new: tuple[int, ...]) -> None:
        """Put a partition into the buckets of `new` instead of those of `old`."""
        if old == new:
            return
        for broker_id in old:
            if broker_id not in new:
                del self._bucket(broker_id)[key]
        for broker_id in new:
            if broker_id not in old:
                self._bucket(broker_id)[key] = None

    def buckets(self) -> _Buckets:
        """Return the buckets after all moves; one that is empty is absent."""
        found = self._before
        for broker_id, changed in self._changed.items():
            keys = changed.finish()
            if keys:
                found = found.set(broker_id, keys)
            elif broker_id in found:
                found = found.delete(broker_id)
        return found

    def _bucket(self, broker_id: int) -> MapMutation[_Key, None]:
        bucket = self._changed.get(broker_id)
        if bucket is None:
            bucket = self._before.get(broker_id, _NO_KEYS).mutate()
            self._changed[broker_id] = bucket
        return bucket


def _buckets(found: dict[int, dict[_Key, None]]) -> _Buckets:
    made: dict[int, _Keys] = {broker_id: _NO_KEYS.update(keys) for broker_id, keys in found.items()}
    return _NO_BUCKETS.update(made)
