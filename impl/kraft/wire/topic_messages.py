"""The messages by which an operator creates, extends and deletes topics.

Kafka: ControllerApis.createTopics, .createPartitions, .deleteTopics.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, TopicId
from kraft.rpc.topics import (
    CreatableTopic,
    CreatedTopic,
    CreatedTopicConfig,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kraft.wire.message_map import DEFAULT_TIMEOUT_MS, NOWHERE, AskedRequest, MessageMap
from kraft.wire.value_maps import (
    CODE,
    ERROR,
    THROTTLE,
    Array,
    Constant,
    Entry,
    Field,
    Scalar,
    Struct,
    error_code,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.wire.message_map import FailedRequest, ResponseDraft, Surroundings

_TIMEOUT: Final = Constant("timeoutMs", DEFAULT_TIMEOUT_MS)
_BY_ID: Final = 6
"""The first version of DeleteTopics that names topics by id. KIP-516."""
_NO_TOPIC: Final = TopicId(ZERO_UUID)

_CREATABLE: Final = Struct(
    CreatableTopic,
    (
        Field("name"),
        Field("numPartitions"),
        Field("replicationFactor"),
        Field("assignments", map=Array(Entry(("partitionIndex", "brokerIds")))),
        Field("configs", map=Array(Entry(("name", "value")))),
    ),
)
_EFFECTIVE_CONFIG: Final = Struct(
    CreatedTopicConfig,
    (
        Field("name"),
        Field("value"),
        Field("readOnly"),
        Field("configSource"),
        Field("isSensitive"),
    ),
)
_CONFIGS: Final = Array(_EFFECTIVE_CONFIG)


@lru_cache(maxsize=8)
def _effective_configs(configs: tuple[CreatedTopicConfig, ...] | None) -> Any:
    """Return the fields of a topic's configuration, which many topics of a request have alike.

    They are the same in all versions.
    """
    return _CONFIGS.encoded(configs, 7)


_EFFECTIVE_CONFIGS: Final = Scalar(lambda raw: _CONFIGS.decoded(raw, 7), _effective_configs)
_CREATED: Final = Struct(
    CreatedTopic,
    (
        Field("name"),
        Field("topicId", since=7),
        ERROR,
        Field("errorMessage"),
        Field("topicConfigErrorCode", map=CODE, since=5),
        Field("numPartitions", since=5),
        Field("replicationFactor", since=5),
        Field("configs", map=_EFFECTIVE_CONFIGS, since=5),
    ),
)
_CREATED_TOPICS: Final = Struct(
    CreateTopicsResponse, (THROTTLE, Field("topics", map=Array(_CREATED)))
)


def _create_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each topic. Kafka: CreateTopicsRequest.getErrorResponse."""
    topics = tuple(
        CreatedTopic(one["name"], failed.error, failed.sentence) for one in failed.request["topics"]
    )
    return _CREATED_TOPICS.encoded(CreateTopicsResponse(topics), failed.version)


CREATE_TOPICS: Final = MessageMap(
    19,
    Struct(
        CreateTopicsRequest,
        (Field("topics", map=Array(_CREATABLE)), _TIMEOUT, Field("validateOnly")),
    ),
    _CREATED_TOPICS,
    _create_failed,
    has_deadline=True,
)
"""Kafka: CreateTopicsRequest, CreateTopicsResponse. KIP-464, KIP-516, KIP-525."""

_BROKER_IDS: Final = Scalar(lambda raw: raw["brokerIds"], lambda value: {"brokerIds": value})
_EXTENDED: Final = Struct(
    CreatePartitionsTopicResult, (Field("name"), ERROR, Field("errorMessage"))
)
_EXTENDED_TOPICS: Final = Struct(
    CreatePartitionsResponse, (THROTTLE, Field("results", map=Array(_EXTENDED)))
)


def _extend_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each topic. Kafka: CreatePartitionsRequest.getErrorResponse."""
    results = tuple(
        CreatePartitionsTopicResult(one["name"], failed.error, failed.sentence)
        for one in failed.request["topics"]
    )
    return _EXTENDED_TOPICS.encoded(CreatePartitionsResponse(results), failed.version)


CREATE_PARTITIONS: Final = MessageMap(
    37,
    Struct(
        CreatePartitionsRequest,
        (
            Field(
                "topics",
                map=Array(
                    Struct(
                        CreatePartitionsTopic,
                        (
                            Field("name"),
                            Field("count"),
                            Field("assignments", map=Array(_BROKER_IDS)),
                        ),
                    )
                ),
            ),
            _TIMEOUT,
            Field("validateOnly"),
        ),
    ),
    _EXTENDED_TOPICS,
    _extend_failed,
    has_deadline=True,
)
"""Kafka: CreatePartitionsRequest, CreatePartitionsResponse. KIP-195."""


class _Deletion(NamedTuple):
    """One topic of a request to delete: `topic_id` is to be deleted, unless it was `refused`."""

    name: str | None
    topic_id: TopicId
    refused: ErrorCode = ErrorCode.NONE
    sentence: str | None = None


def _asked(request: Fields) -> list[tuple[str | None, TopicId]]:
    """Return names and ids as the request has them. Kafka: DeleteTopicsRequest.topics."""
    return [
        *((name, _NO_TOPIC) for name in request.get("topicNames", ())),
        *((one["name"], one["topicId"]) for one in request.get("topics", ())),
    ]


def _deletions(request: Fields, around: Surroundings) -> list[_Deletion]:
    """Return what a request to delete means.

    An id may occur twice, once for each mention, also by a name: the controller refuses it then.

    Kafka: ControllerApis.deleteTopics.
    """
    asked = _asked(request)
    times = Counter(name for name, topic_id in asked if topic_id == _NO_TOPIC)
    invalid, deletions = ErrorCode.INVALID_REQUEST, []
    for name, topic_id in asked:
        if name is None and topic_id == _NO_TOPIC:
            one = _Deletion(name, topic_id, invalid, "a topic has neither name nor id")
        elif name is not None and topic_id != _NO_TOPIC:
            one = _Deletion(name, topic_id, invalid, "a topic has both a name and an id")
        elif name is None:
            one = _Deletion(None, topic_id)
        elif times[name] > 1:
            one = _Deletion(name, topic_id, invalid, "the name occurs twice")
        elif name in around.topic_ids:
            one = _Deletion(name, around.topic_ids[name])
        else:
            one = _Deletion(name, topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        deletions.append(one)
    return deletions


def _row(deletion: _Deletion, version: int) -> Fields:
    fields: Fields = {"name": deletion.name, "errorCode": int(deletion.refused)}
    if version >= 5:
        fields["errorMessage"] = deletion.sentence
    if version >= _BY_ID:
        fields["topicId"] = deletion.topic_id
    return fields


class _DeletionMap:
    """A map of a request to delete topics, as far as it names them by id."""

    __slots__ = ()

    def decoded(self, raw: Fields, version: int) -> DeleteTopicsRequest:
        """Return the request, without the topics that it names."""
        return _resolved(AskedRequest(raw, version, NOWHERE))

    def encoded(self, value: DeleteTopicsRequest, version: int) -> Fields:
        """Return the fields. Raises ValueError before version 6, in which topics have no ids."""
        if version < _BY_ID:
            raise ValueError(f"DeleteTopics version {version} cannot name a topic by its id")
        topics = tuple({"name": None, "topicId": one} for one in value.topic_ids)
        return {"topics": topics, "timeoutMs": DEFAULT_TIMEOUT_MS}


def _resolved(asked: AskedRequest) -> DeleteTopicsRequest:
    """Return the request with the ids of the topics that it names."""
    deletions = _deletions(asked.fields, asked.around)
    return DeleteTopicsRequest(
        tuple(one.topic_id for one in deletions if one.refused is ErrorCode.NONE)
    )


class _DeletedMap:
    """A map of the response to DeleteTopics, whose value has ids and errors only."""

    __slots__ = ()

    def decoded(self, raw: Fields, _version: int) -> DeleteTopicsResponse:
        """Return the response; before version 6 each id is the zero UUID."""
        return DeleteTopicsResponse(
            tuple(
                (one.get("topicId", _NO_TOPIC), error_code(one["errorCode"]))
                for one in raw["responses"]
            )
        )

    def encoded(self, value: DeleteTopicsResponse, version: int) -> Fields:
        """Return the fields of the response, without names."""
        responses = tuple(
            _row(_Deletion(None, topic_id, error), version) for topic_id, error in value.responses
        )
        return {"throttleTimeMs": 0, "responses": responses}


def _deleted_as_asked(draft: ResponseDraft) -> Fields:
    """Say the names of the topics, and what became of those that the controller never saw.

    A topic that was named by its id has its name in the response, too, if it was there.

    Kafka: ControllerApis.deleteTopics, which shuffles the topics.
    """
    errors = dict(draft.value.responses)
    deletions = _deletions(draft.request, draft.around)
    wanted = {one.topic_id for one in deletions if one.name is None}
    names = {its_id: name for name, its_id in draft.around.topic_ids.items() if its_id in wanted}
    answers: dict[TopicId | _Deletion, _Deletion] = {}
    for one in deletions:
        if one.refused is ErrorCode.NONE:
            name = names.get(one.topic_id) if one.name is None else one.name
            error = errors.get(one.topic_id, ErrorCode.UNKNOWN_SERVER_ERROR)
            answers[one.topic_id] = _Deletion(name, one.topic_id, error)
        else:
            answers[one] = one
    draft.fields["responses"] = tuple(_row(one, draft.version) for one in answers.values())
    return draft.fields


def _delete_failed(failed: FailedRequest) -> Fields:
    """Return the failure of each topic, without a sentence.

    Kafka: DeleteTopicsRequest.getErrorResponse.
    """
    rows = tuple(
        _row(_Deletion(*one, failed.error), failed.version) for one in _asked(failed.request)
    )
    return {"throttleTimeMs": 0, "responses": rows}


DELETE_TOPICS: Final = MessageMap(
    20,
    _DeletionMap(),
    _DeletedMap(),
    _delete_failed,
    resolution=_resolved,
    completion=_deleted_as_asked,
    has_deadline=True,
)
"""Kafka: DeleteTopicsRequest, DeleteTopicsResponse. KIP-516."""
