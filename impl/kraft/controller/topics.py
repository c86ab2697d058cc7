"""Topics end.

Kafka: ReplicationControlManager.deleteTopics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.controller.result import Result
from kraft.errors import ErrorCode
from kraft.records.topics import RemoveTopicRecord

if TYPE_CHECKING:
    from kraft.ids import TopicId
    from kraft.image.metadata_image import MetadataImage
    from kraft.records.typed import TypedRecord


def delete_topics(
    image: MetadataImage, topic_ids: tuple[TopicId, ...]
) -> Result[dict[TopicId, ErrorCode]]:
    """Return the end of topics, with their partitions and whatever was under way, by id.

    Spec: Reassignment!DeleteTopic.
    Kafka: ReplicationControlManager.deleteTopics.
    """
    records: list[TypedRecord] = []
    answers = {}
    for topic_id in dict.fromkeys(topic_ids):
        known = topic_id in image.topics
        answers[topic_id] = ErrorCode.NONE if known else ErrorCode.UNKNOWN_TOPIC_ID
        records += [RemoveTopicRecord(topic_id)] if known else []
    return Result(tuple(records), answers)
