"""The metadata that the log describes up to some record, as one value.

Kafka: MetadataImage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from immutables import Map

if TYPE_CHECKING:
    from kraft.ids import BrokerId, ControllerId, PartitionId, TopicId, Uuid
    from kraft.image.entries import (
        AccessControlEntry,
        BrokerRegistration,
        ControllerRegistration,
        DelegationToken,
        Partition,
        ScramCredential,
        Topic,
    )

METADATA_VERSION: Final = "metadata.version"

QuotaKey: TypeAlias = tuple[tuple[str, str | None], ...]
"""The entity of a quota: types and names, sorted by type. The name None is the default's."""


class MetadataImage(msgspec.Struct, frozen=True):
    """The metadata that the records of a log describe, and nothing else; equal metadata are equal.

    `configurations` are by type and name of their resource, `client_quotas` by their entity,
    `scram_credentials` by mechanism and user. `next_producer_id` is -1 before the first block.
    """

    features: Map[str, int] = Map()
    brokers: Map[BrokerId, BrokerRegistration] = Map()
    controllers: Map[ControllerId, ControllerRegistration] = Map()
    topics: Map[TopicId, Topic] = Map()
    topic_ids: Map[str, TopicId] = Map()
    partitions: Map[tuple[TopicId, PartitionId], Partition] = Map()
    configurations: Map[tuple[int, str], Map[str, str]] = Map()
    client_quotas: Map[QuotaKey, Map[str, float]] = Map()
    next_producer_id: int = -1
    access_control_entries: Map[Uuid, AccessControlEntry] = Map()
    scram_credentials: Map[tuple[int, str], ScramCredential] = Map()
    delegation_tokens: Map[str, DelegationToken] = Map()

    @property
    def metadata_version(self) -> int | None:
        """Return the feature level that says which records there may be; None before the first.

        Kafka: MetadataVersion.
        """
        return self.features.get(METADATA_VERSION)


EMPTY_IMAGE: Final = MetadataImage()
