"""The counts of an image: topics, partitions and brokers, as Kafka counts them.

Kafka: ControllerMetadataMetricsPublisher.publishSnapshot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.records.topics import NO_LEADER

if TYPE_CHECKING:
    from kraft.image.metadata_image import MetadataImage


class ImageCounts(NamedTuple):
    """How many there are of each in an image.

    A partition without a leader is offline. One whose leader is not its first replica is
    imbalanced, also while it is offline. A broker in controlled shutdown is active or fenced, too.
    """

    topics: int
    partitions: int
    offline_partitions: int
    imbalanced_partitions: int
    fenced_brokers: int
    active_brokers: int
    brokers_in_controlled_shutdown: int


class ImageCounter:
    """Counts images; it keeps the last result, so that an image which stays costs nothing."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        # One value: several threads may count at a time.
        self._last = (EMPTY_IMAGE, count_image(EMPTY_IMAGE))

    def counts(self, image: MetadataImage) -> ImageCounts:
        """Return the counts of an image: it looks at each partition, if the image is a new one."""
        known, counts = self._last
        if not _is_alike(known, image):
            counts = count_image(image)
            self._last = (image, counts)
        return counts


def _is_alike(one: MetadataImage, other: MetadataImage) -> bool:
    # A record of another kind makes a new image, and leaves these maps as they are.
    return (
        one.partitions is other.partitions
        and one.brokers is other.brokers
        and one.topics is other.topics
    )


def count_image(image: MetadataImage) -> ImageCounts:
    """Return the counts of an image."""
    offline = imbalanced = 0
    for partition in image.partitions.values():
        leader = partition.leader
        offline += leader == NO_LEADER
        imbalanced += leader != (partition.replicas[0] if partition.replicas else NO_LEADER)
    fenced = leaving = 0
    for broker in image.brokers.values():
        fenced += broker.fenced
        leaving += broker.in_controlled_shutdown
    return ImageCounts(
        len(image.topics),
        len(image.partitions),
        offline,
        imbalanced,
        fenced,
        len(image.brokers) - fenced,
        leaving,
    )
