"""The records of access control as values: entries, credentials, delegation tokens.

Kafka: AclControlManager.replay, ScramControlManager.replay, DelegationTokenControlManager.replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kraft.records.metadata_schemas import (
    ACCESS_CONTROL_ENTRY,
    DELEGATION_TOKEN,
    REMOVE_ACCESS_CONTROL_ENTRY,
    REMOVE_DELEGATION_TOKEN,
    REMOVE_USER_SCRAM_CREDENTIAL,
    USER_SCRAM_CREDENTIAL,
)
from kraft.records.typed_record import TypedRecord

if TYPE_CHECKING:
    from kraft.ids import Uuid
    from kraft.records.schema import Schema


class AccessControlEntryRecord(TypedRecord, frozen=True):
    """An access control entry was created; the numbers are those of Kafka's enums."""

    SCHEMA: ClassVar[Schema] = ACCESS_CONTROL_ENTRY
    NAMES: ClassVar[dict[str, str]] = {"entry_id": "id"}

    entry_id: Uuid
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class RemoveAccessControlEntryRecord(TypedRecord, frozen=True):
    """An access control entry was deleted."""

    SCHEMA: ClassVar[Schema] = REMOVE_ACCESS_CONTROL_ENTRY
    NAMES: ClassVar[dict[str, str]] = {"entry_id": "id"}

    entry_id: Uuid


class UserScramCredentialRecord(TypedRecord, frozen=True):
    """A user's password was set, for one of the mechanisms of SCRAM."""

    SCHEMA: ClassVar[Schema] = USER_SCRAM_CREDENTIAL

    name: str
    mechanism: int
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class RemoveUserScramCredentialRecord(TypedRecord, frozen=True):
    """A user's password was deleted, for one of the mechanisms of SCRAM."""

    SCHEMA: ClassVar[Schema] = REMOVE_USER_SCRAM_CREDENTIAL

    name: str
    mechanism: int


class DelegationTokenRecord(TypedRecord, frozen=True):
    """A delegation token was created or renewed; times are milliseconds since 1970."""

    SCHEMA: ClassVar[Schema] = DELEGATION_TOKEN

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
    token_id: str


class RemoveDelegationTokenRecord(TypedRecord, frozen=True):
    """A delegation token was deleted, or has expired."""

    SCHEMA: ClassVar[Schema] = REMOVE_DELEGATION_TOKEN

    token_id: str
