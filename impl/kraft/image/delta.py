"""An image that is being changed: replay changes a delta, and the delta becomes an image.

Kafka: MetadataDelta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.image.metadata_image import MetadataImage

if TYPE_CHECKING:
    from immutables import Map, MapMutation

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
    from kraft.image.metadata_image import QuotaKey


class MetadataDelta:
    """The content of an image in maps that can be changed in place; `image` uses it up."""

    __slots__ = MetadataImage.__struct_fields__

    def __init__(self, image: MetadataImage) -> None:
        self.features: MapMutation[str, int] = image.features.mutate()
        self.brokers: MapMutation[BrokerId, BrokerRegistration] = image.brokers.mutate()
        self.controllers: MapMutation[ControllerId, ControllerRegistration] = (
            image.controllers.mutate()
        )
        self.topics: MapMutation[TopicId, Topic] = image.topics.mutate()
        self.topic_ids: MapMutation[str, TopicId] = image.topic_ids.mutate()
        self.partitions: MapMutation[tuple[TopicId, PartitionId], Partition] = (
            image.partitions.mutate()
        )
        self.configurations: MapMutation[tuple[int, str], Map[str, str]] = (
            image.configurations.mutate()
        )
        self.client_quotas: MapMutation[QuotaKey, Map[str, float]] = image.client_quotas.mutate()
        self.next_producer_id = image.next_producer_id
        self.access_control_entries: MapMutation[Uuid, AccessControlEntry] = (
            image.access_control_entries.mutate()
        )
        self.scram_credentials: MapMutation[tuple[int, str], ScramCredential] = (
            image.scram_credentials.mutate()
        )
        self.delegation_tokens: MapMutation[str, DelegationToken] = image.delegation_tokens.mutate()

    def image(self) -> MetadataImage:
        """Return the image after everything that was replayed."""
        return MetadataImage(
            self.features.finish(),
            self.brokers.finish(),
            self.controllers.finish(),
            self.topics.finish(),
            self.topic_ids.finish(),
            self.partitions.finish(),
            self.configurations.finish(),
            self.client_quotas.finish(),
            self.next_producer_id,
            self.access_control_entries.finish(),
            self.scram_credentials.finish(),
            self.delegation_tokens.finish(),
        )
