"""An image with one partition, for the scenarios of the controller."""

from __future__ import annotations

from typing import Any

from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, IncarnationId, PartitionId, TopicId
from kraft.image.entries import UNASSIGNED, Partition
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION, MetadataImage
from kraft.image.replay import replay
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.lease import RegisterBrokerRecord
from kraft.records.topics import TOPIC_RESOURCE, ConfigRecord, PartitionRecord, TopicRecord

TOPIC = "foo"
TOPIC_ID = TopicId("F" * 21 + "Q")
KEY = TOPIC_ID, PartitionId(0)
LATEST = 27
DEFAULTS = Defaults()


def epoch_of(broker_id: int) -> BrokerEpoch:
    """Return the epoch under which a broker is registered."""
    return BrokerEpoch(100 + broker_id)


def image_of(
    replicas: tuple[int, ...],
    isr: tuple[int, ...] | None = None,
    leader: int | None = None,
    *,
    fenced: tuple[int, ...] = (),
    shutting_down: tuple[int, ...] = (),
    brokers: tuple[int, ...] = (0, 1, 2, 3, 4, 5),
    metadata_version: int = LATEST,
    min_isr: int | None = None,
    configs: dict[str, str] | None = None,
    **fields: Any,
) -> MetadataImage:
    """Return an image with the brokers and the one partition; by default its first replica leads.

    `min_isr` enables eligible leader replicas. `fields` are those of the partition's record.
    """
    members = replicas if isr is None else isr
    records: list[Any] = [FeatureLevelRecord(METADATA_VERSION, metadata_version)]
    settings = dict(configs or {})
    if min_isr is not None:
        records.append(FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1))
        settings["min.insync.replicas"] = str(min_isr)
    records += [
        RegisterBrokerRecord(
            BrokerId(one), IncarnationId(f"{one}".rjust(21, "I") + "A"), epoch_of(one),
            fenced=one in fenced, in_controlled_shutdown=one in shutting_down,
            log_dirs=(directory(one),),
        )
        for one in brokers
    ]  # fmt: skip
    records.append(TopicRecord(TOPIC, TOPIC_ID))
    records += [ConfigRecord(TOPIC_RESOURCE, TOPIC, *one) for one in sorted(settings.items())]
    epochs = {"leader_epoch": 0, "partition_epoch": 0} | fields
    records.append(
        PartitionRecord(
            PartitionId(0), TOPIC_ID, replicas, members,
            leader=(members or replicas)[0] if leader is None else leader,
            directories=(UNASSIGNED,) * len(replicas), **epochs,
        )
    )  # fmt: skip
    return replay(EMPTY_IMAGE, records)


def directory(broker_id: int) -> DirectoryId:
    """Return the only directory of a broker."""
    return DirectoryId(f"{broker_id}".rjust(21, "D") + "A")


def after(image: MetadataImage, records: Any) -> Partition:
    """Return the partition after the records."""
    return replay(image, records).partitions[KEY]
