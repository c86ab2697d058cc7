"""Identifiers of a KRaft cluster: distinct types for numbers and UUIDs that are easily confused.

A UUID is kept as the text that Kafka prints: 22 characters of URL-safe base64 without padding. Text
is hashable, sorts the same everywhere, and reads the same in a record, a trace and a log.

Kafka: org.apache.kafka.common.Uuid.
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache
from typing import Final, NamedTuple, NewType

NodeId = NewType("NodeId", int)
BrokerId = NewType("BrokerId", int)
ControllerId = NewType("ControllerId", int)
BrokerEpoch = NewType("BrokerEpoch", int)
Offset = NewType("Offset", int)
LeaderEpoch = NewType("LeaderEpoch", int)
PartitionEpoch = NewType("PartitionEpoch", int)
PartitionId = NewType("PartitionId", int)

Uuid = NewType("Uuid", str)
IncarnationId = NewType("IncarnationId", str)
DirectoryId = NewType("DirectoryId", str)
TopicId = NewType("TopicId", str)

UUID_BYTES: Final = 16
UUID_TEXT_LENGTH: Final = 22

ZERO_UUID: Final = Uuid("A" * UUID_TEXT_LENGTH)
METADATA_TOPIC_ID: Final = TopicId("A" * 21 + "Q")
METADATA_DIRECTORY: Final = "__cluster_metadata-0"

NO_BROKER_EPOCH: Final = BrokerEpoch(-1)
NO_OFFSET: Final = Offset(-1)


@lru_cache(maxsize=65536)
def uuid_text(raw: bytes) -> str:
    """Return Kafka's 22-character text of a 16-byte UUID.

    Raises ValueError if `raw` is not 16 bytes long.
    Kafka: Uuid.toString.
    """
    if len(raw) != UUID_BYTES:
        raise ValueError(f"a UUID has {UUID_BYTES} bytes, not {len(raw)}")
    return base64.urlsafe_b64encode(raw)[:UUID_TEXT_LENGTH].decode("ascii")


@lru_cache(maxsize=65536)
def uuid_bytes(text: str) -> bytes:
    """Return the 16 bytes of a UUID in Kafka's text.

    Raises ValueError unless `text` is the canonical spelling of its value.
    Kafka: Uuid.fromString.
    """
    try:
        raw = base64.b64decode(text.encode("ascii") + b"==", altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError(f"not a UUID in URL-safe base64: {text!r}") from None
    if len(raw) != UUID_BYTES or uuid_text(raw) != text:
        raise ValueError(f"not a UUID in URL-safe base64: {text!r}")
    return raw


class ReplicaKey(NamedTuple):
    """A replica of the log: its node, and the directory that holds it.

    `directory_id` is None if it is unknown: voters of kraft.version 0 are known by their node id
    alone.

    Spec: KRaftVoters!NodeOf.
    Kafka: ReplicaKey.
    """

    node_id: NodeId
    directory_id: DirectoryId | None = None


class OffsetAndEpoch(NamedTuple):
    """The end of a log or a snapshot: the first offset after it, and the epoch before that offset.

    Spec: KRaftState!OffsetAndEpoch.
    Kafka: OffsetAndEpoch.
    """

    end_offset: int
    epoch: int
