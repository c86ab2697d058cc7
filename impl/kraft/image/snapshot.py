"""An image as records: the fewest that say it, in an order in which they can be replayed.

Kafka: MetadataImage.write, and the `write` of its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.versions import IBP_3_3_IV3, IBP_3_7_IV2
from kraft.records.cluster import (
    ClientQuotaRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    QuotaEntity,
    RegisterControllerRecord,
)
from kraft.records.lease import RegisterBrokerRecord
from kraft.records.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import ConfigRecord, PartitionRecord, TopicRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed_record import TypedRecord


def snapshot_records(image: MetadataImage) -> Iterator[TypedRecord]:
    """Yield the records of a snapshot of an image, the metadata version first.

    Equal images give equal records in the same order. Replayed onto the empty image they give the
    image again. Fields that the metadata version lacks are left out: an image of that version has
    only their defaults there.

    Kafka: MetadataImage.write, ImageWriterOptions.
    """
    yield from _features(image)
    yield from _cluster(image)
    yield from _topics(image)
    yield from _configurations(image)
    yield from _client_quotas(image)
    if image.next_producer_id >= 0:
        yield ProducerIdsRecord(-1, -1, image.next_producer_id)
    yield from _security(image)


def _features(image: MetadataImage) -> Iterator[TypedRecord]:
    for name in sorted(image.features, key=lambda name: (name != METADATA_VERSION, name)):
        yield FeatureLevelRecord(name, image.features[name])


def _has(image: MetadataImage, version: int) -> bool:
    """Return whether an image has this metadata version or a later one, or no version at all."""
    return image.metadata_version is None or image.metadata_version >= version


def _cluster(image: MetadataImage) -> Iterator[TypedRecord]:
    has_shutdown, has_directories = _has(image, IBP_3_3_IV3), _has(image, IBP_3_7_IV2)
    for broker_id, broker in sorted(image.brokers.items()):
        yield RegisterBrokerRecord(
            broker_id,
            broker.incarnation_id,
            broker.epoch,
            broker.endpoints,
            broker.features,
            broker.rack,
            broker.fenced,
            broker.in_controlled_shutdown and has_shutdown,
            broker.is_migrating_zk_broker,
            broker.directories if has_directories else (),
        )
    for controller_id, controller in sorted(image.controllers.items()):
        yield RegisterControllerRecord(
            controller_id,
            controller.incarnation_id,
            controller.zk_migration_ready,
            controller.endpoints,
            controller.features,
        )


def _topics(image: MetadataImage) -> Iterator[TypedRecord]:
    has_directories = _has(image, IBP_3_7_IV2)
    for name in sorted(image.topic_ids):
        topic = image.topics[image.topic_ids[name]]
        yield TopicRecord(name, topic.topic_id)
        for partition_id in topic.partition_ids:
            partition = image.partitions[topic.topic_id, partition_id]
            yield PartitionRecord(
                partition_id,
                topic.topic_id,
                partition.replicas,
                partition.isr,
                partition.removing_replicas,
                partition.adding_replicas,
                partition.leader,
                partition.leader_recovery_state,
                partition.leader_epoch,
                partition.partition_epoch,
                partition.directories if has_directories else (),
                partition.eligible_leader_replicas or None,
                partition.last_known_elr or None,
            )


def _configurations(image: MetadataImage) -> Iterator[TypedRecord]:
    for (resource_type, resource_name), values in sorted(
        image.configurations.items(), key=lambda item: item[0]
    ):
        for name in sorted(values):
            yield ConfigRecord(resource_type, resource_name, name, values[name])


def _client_quotas(image: MetadataImage) -> Iterator[TypedRecord]:
    # The default of a type, which has no name, comes before those that have one.
    for who in sorted(image.client_quotas, key=lambda who: [(t, n is not None, n) for t, n in who]):
        entity = tuple(QuotaEntity(entity_type, name) for entity_type, name in who)
        values = image.client_quotas[who]
        for key in sorted(values):
            yield ClientQuotaRecord(entity, key, values[key], remove=False)


def _security(image: MetadataImage) -> Iterator[TypedRecord]:
    for entry_id in sorted(image.access_control_entries):
        entry = image.access_control_entries[entry_id]
        yield AccessControlEntryRecord(
            entry_id,
            entry.resource_type,
            entry.resource_name,
            entry.pattern_type,
            entry.principal,
            entry.host,
            entry.operation,
            entry.permission_type,
        )
    for mechanism, name in sorted(image.scram_credentials):
        credential = image.scram_credentials[mechanism, name]
        yield UserScramCredentialRecord(
            name,
            mechanism,
            credential.salt,
            credential.stored_key,
            credential.server_key,
            credential.iterations,
        )
    for token_id in sorted(image.delegation_tokens):
        token = image.delegation_tokens[token_id]
        yield DelegationTokenRecord(
            token.owner,
            token.requester,
            token.renewers,
            token.issue_timestamp,
            token.max_timestamp,
            token.expiration_timestamp,
            token_id,
        )
