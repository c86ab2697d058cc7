"""Errors: the codes in the controller's answers, and the refusals of readers of its files.

Each refusal is an exception with one line: the reason, then the place (file, byte, batch, record,
field). The place is completed from the inside out: the codec knows the field, the batch knows the
record, the reader knows the file. `located` adds what the outer one knows.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path


class ErrorCode(enum.IntEnum):
    """Error codes of the Kafka protocol that brokers and controllers exchange.

    Kafka: org.apache.kafka.common.protocol.Errors.
    """

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    STALE_CONTROLLER_EPOCH = 11
    INVALID_TOPIC_EXCEPTION = 17
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    POLICY_VIOLATION = 44
    SECURITY_DISABLED = 54
    KAFKA_STORAGE_ERROR = 56
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    STALE_BROKER_EPOCH = 77
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    INVALID_RECORD = 87
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    INVALID_REGISTRATION = 119
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127


class UnreadableFileError(Exception):
    """A path that cannot be read as a file: absent, no permission, not a regular file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{printable(str(self.path))}: {self.reason}"


class CorruptRecordError(Exception):
    """Bytes that Kafka does not write, with their place.

    `position` counts bytes from the start of the file; `offset` is the record's offset in the log;
    `field` is a path such as `endPoints[0].port`. An unknown part of the place is None.
    """

    def __init__(
        self,
        reason: str,
        *,
        path: Path | None = None,
        position: int | None = None,
        base_offset: int | None = None,
        offset: int | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.position = position
        self.base_offset = base_offset
        self.offset = offset
        self.field = field

    def located(
        self,
        *,
        path: Path | None = None,
        shift: int = 0,
        base_offset: int | None = None,
        offset: int | None = None,
    ) -> Self:
        """Return this error with the outer place added; known parts are kept.

        `shift` is added to `position`: the start of the enclosing bytes in the next outer frame.
        """
        if self.path is None:
            self.path = path
        if self.position is not None:
            self.position += shift
        if self.base_offset is None:
            self.base_offset = base_offset
        if self.offset is None:
            self.offset = offset
        return self

    def __str__(self) -> str:
        place = []
        if self.position is not None:
            place.append(f"byte {self.position}")
        if self.base_offset is not None:
            place.append(f"batch at offset {self.base_offset}")
        if self.offset is not None:
            place.append(f"record at offset {self.offset}")
        if self.field:
            place.append(f"field {self.field}")
        start = "" if self.path is None else f"{printable(str(self.path))}: "
        return start + self.reason + (f" ({', '.join(place)})" if place else "")


class CorruptMessageError(CorruptRecordError):
    """Bytes that are no request or response; `position` counts from the start of its frame."""


class UnsupportedVersionError(CorruptRecordError):
    """Well-formed so far, but of a kind or version that this reader does not know."""


class LimitExceededError(CorruptRecordError):
    """A size above a configured limit; no memory of that size was allocated."""


class TornTailError(CorruptRecordError):
    """The file ends inside a batch: a crash leaves that behind; it is not corruption."""


class DiscontinuityError(CorruptRecordError):
    """Whole batches that do not follow one another: an offset gap or overlap, or an older epoch."""


class EpochFallsError(DiscontinuityError):
    """A whole batch at the right offset with an older epoch than its predecessor."""


def printable(text: str) -> str:
    r"""Return `text` on one line, without characters that control a terminal (as `\x1b`)."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )
