"""Replay of features, configurations, quotas, producer ids, and of access control.

Kafka: FeatureControlManager.replay, ConfigurationControlManager.replay,
ClientQuotaControlManager.replay, ProducerIdControlManager.replay, AclControlManager.replay,
ScramControlManager.replay, DelegationTokenControlManager.replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from immutables import Map

from kraft.image.entries import AccessControlEntry, DelegationToken, ScramCredential
from kraft.image.errors import RefusedRecordError
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    ZkMigrationStateRecord,
)
from kraft.records.lease import NoOpRecord
from kraft.records.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import ConfigRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.image.delta import MetadataDelta
    from kraft.records.typed_record import TypedRecord


def _feature(delta: MetadataDelta, record: FeatureLevelRecord) -> None:
    if record.feature_level < 0:
        raise RefusedRecordError(f"level {record.feature_level} of {record.name}", record)
    if record.feature_level or record.name == METADATA_VERSION:
        delta.features[record.name] = record.feature_level
    else:
        delta.features.pop(record.name, None)


def _configuration(delta: MetadataDelta, record: ConfigRecord) -> None:
    resource = record.resource_type, record.resource_name
    values: Map[str, str] = delta.configurations.get(resource, Map())
    if record.value is not None:
        delta.configurations[resource] = values.set(record.name, record.value)
        return
    values = values.delete(record.name) if record.name in values else values
    if values:
        delta.configurations[resource] = values
    else:
        delta.configurations.pop(resource, None)


def _quota(delta: MetadataDelta, record: ClientQuotaRecord) -> None:
    names = {one.entity_type: one.entity_name for one in record.entity}
    who = tuple((entity_type, names[entity_type]) for entity_type in sorted(names))
    values: Map[str, float] = delta.client_quotas.get(who, Map())
    if not record.remove:
        delta.client_quotas[who] = values.set(record.key, record.value)
        return
    values = values.delete(record.key) if record.key in values else values
    if values:
        delta.client_quotas[who] = values
    else:
        delta.client_quotas.pop(who, None)


def _producer_ids(delta: MetadataDelta, record: ProducerIdsRecord) -> None:
    if record.next_producer_id <= delta.next_producer_id:
        raise RefusedRecordError(
            f"the next producer id is {delta.next_producer_id} already, "
            f"{record.next_producer_id} is not after it",
            record,
        )
    delta.next_producer_id = record.next_producer_id


def _entry(delta: MetadataDelta, record: AccessControlEntryRecord) -> None:
    if record.entry_id in delta.access_control_entries:
        raise RefusedRecordError(f"entry {record.entry_id} exists", record)
    delta.access_control_entries[record.entry_id] = AccessControlEntry(
        record.resource_type,
        record.resource_name,
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )


def _remove_entry(delta: MetadataDelta, record: RemoveAccessControlEntryRecord) -> None:
    if delta.access_control_entries.pop(record.entry_id, None) is None:
        raise RefusedRecordError(f"there is no entry {record.entry_id}", record)


def _credential(delta: MetadataDelta, record: UserScramCredentialRecord) -> None:
    delta.scram_credentials[record.mechanism, record.name] = ScramCredential(
        record.salt, record.stored_key, record.server_key, record.iterations
    )


def _remove_credential(delta: MetadataDelta, record: RemoveUserScramCredentialRecord) -> None:
    if delta.scram_credentials.pop((record.mechanism, record.name), None) is None:
        reason = f"user {record.name!r} has no credential of mechanism {record.mechanism}"
        raise RefusedRecordError(reason, record)


def _token(delta: MetadataDelta, record: DelegationTokenRecord) -> None:
    delta.delegation_tokens[record.token_id] = DelegationToken(
        record.owner,
        record.requester,
        record.renewers,
        record.issue_timestamp,
        record.max_timestamp,
        record.expiration_timestamp,
    )


def _remove_token(delta: MetadataDelta, record: RemoveDelegationTokenRecord) -> None:
    delta.delegation_tokens.pop(record.token_id, None)


def _nothing(delta: MetadataDelta, record: TypedRecord) -> None:
    """Change nothing: the reader of the log handles transactions, not the image."""


OTHER_REPLAY: Final[dict[type[TypedRecord], Callable[[Any, Any], None]]] = {
    FeatureLevelRecord: _feature,
    ConfigRecord: _configuration,
    ClientQuotaRecord: _quota,
    ProducerIdsRecord: _producer_ids,
    AccessControlEntryRecord: _entry,
    RemoveAccessControlEntryRecord: _remove_entry,
    UserScramCredentialRecord: _credential,
    RemoveUserScramCredentialRecord: _remove_credential,
    DelegationTokenRecord: _token,
    RemoveDelegationTokenRecord: _remove_token,
    NoOpRecord: _nothing,
    ZkMigrationStateRecord: _nothing,
    BeginTransactionRecord: _nothing,
    EndTransactionRecord: _nothing,
    AbortTransactionRecord: _nothing,
}
