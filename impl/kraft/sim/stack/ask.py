"""What an operator draws a request by: its chance, and the cluster as it was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kraft.chance import Stream
    from kraft.ids import BrokerId, PartitionId
    from kraft.image.entries import Topic
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.stack.configuration import StackKnobs

REPLICAS_MAXIMUM: Final = 3
"""No operator asks for more replicas of a partition."""


class Ask:
    """What a request is drawn by."""

    __slots__ = ("brokers", "chance", "image", "knobs", "number")

    def __init__(
        self,
        chance: Stream,
        image: MetadataImage,
        brokers: tuple[BrokerId, ...],
        knobs: StackKnobs,
        number: int,
    ) -> None:
        self.chance = chance
        self.image = image
        self.brokers = brokers
        self.knobs = knobs
        self.number = number

    def topic(self) -> Topic | None:
        """Return one of the topics there are."""
        names = sorted(self.image.topic_ids)
        if not names:
            return None
        return self.image.topics[self.image.topic_ids[self.chance.choice(names)]]

    def partition(self) -> tuple[Topic, PartitionId] | None:
        """Return one of the partitions there are."""
        topic = self.topic()
        if topic is None or not topic.partition_ids:
            return None
        return topic, self.chance.choice(topic.partition_ids)

    def replicas(self) -> tuple[BrokerId, ...]:
        """Return some brokers in any order, up to three."""
        many = 1 + self.chance.below(min(REPLICAS_MAXIMUM, len(self.brokers)))
        return tuple(self.chance.shuffled(self.brokers)[:many])
