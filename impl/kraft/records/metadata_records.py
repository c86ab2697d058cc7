"""All records of the metadata log as values, and how they are read from bytes.

Kafka: MetadataRecordType, MetadataRecordSerde.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    RegisterControllerRecord,
    ZkMigrationStateRecord,
)
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    NoOpRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import (
    ClearElrRecord,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)

if TYPE_CHECKING:
    from kraft.records.schema import Fields
    from kraft.records.typed_record import TypedRecord

RECORD_CLASSES: Final[tuple[type[TypedRecord], ...]] = (
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
    TopicRecord,
    PartitionRecord,
    ConfigRecord,
    PartitionChangeRecord,
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    RemoveTopicRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
    FeatureLevelRecord,
    ClientQuotaRecord,
    ProducerIdsRecord,
    BrokerRegistrationChangeRecord,
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
    NoOpRecord,
    ZkMigrationStateRecord,
    RemoveUserScramCredentialRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    AbortTransactionRecord,
    RemoveDelegationTokenRecord,
    RegisterControllerRecord,
    ClearElrRecord,
)
"""In the order of their api keys."""

RECORD_BY_API_KEY: Final = {record.SCHEMA.api_key: record for record in RECORD_CLASSES}


def typed_record(api_key: int, fields: Fields) -> TypedRecord:
    """Return the record with this api key and these fields, of whatever version.

    Raises KeyError if no record has this key.
    """
    return RECORD_BY_API_KEY[api_key].from_fields(fields)
