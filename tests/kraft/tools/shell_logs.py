"""A metadata log with everything in it that the shell can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.image.versions import record_version
from kraft.records.builder import metadata_batch
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ClientQuotaRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    QuotaEntity,
    RegisterControllerRecord,
)
from kraft.records.lease import Endpoint, FeatureRange, NoOpRecord, RegisterBrokerRecord
from kraft.records.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
)
from kraft.records.topics import ConfigRecord, PartitionRecord, TopicRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.records.typed_record import TypedRecord

TIME = 1_700_000_000_120
TOPIC = "tAAAAAAAAAAAAAAAAAAAAA"
DIRECTORIES = ("3vmCQOLhlCT2qUiZ9mtLkw", "-0JXNLcHTuaTSA8biUmAeg", "_CJ5lWWcSQadKtKEcwW1AA")
ENDPOINTS = (Endpoint("PLAIN", "h1", 9092), Endpoint("CONTROL", "h2", 9093, 3))
FEATURES = (
    FeatureRange("metadata.version", 7, 27),
    FeatureRange("even", 2, 2),
    FeatureRange("group.version", 0, 32767),
)


def log_bytes(batches: Sequence[Sequence[TypedRecord]], epoch: int = 5, start: int = 0) -> bytes:
    """Return a log of batches, a millisecond apart, as metadata version 27 writes them."""
    raw, offset = b"", start
    for number, records in enumerate(batches):
        given = []
        for record in records:
            version = record_version(type(record), 27)
            given.append((record.SCHEMA.api_key, version, record.to_fields(version)))
        raw += metadata_batch(offset, epoch, TIME + number, given)
        offset += len(records)
    return raw


def quota(key: str, value: float, **names: str | None) -> ClientQuotaRecord:
    """Return a quota; the name of the entity `client_id` is that of a `client-id`."""
    entity = tuple(QuotaEntity(kind.replace("_", "-"), name) for kind, name in names.items())
    return ClientQuotaRecord(entity, key, value, remove=False)


def everything() -> list[list[TypedRecord]]:
    """Return batches with a record of each kind that has a place in the tree."""
    return [
        [FeatureLevelRecord("metadata.version", 27), FeatureLevelRecord("group.version", 1)],
        [
            RegisterBrokerRecord(
                10, "IAAAAAAAAAAAAAAAAAAAAA", 2, ENDPOINTS, FEATURES, "rack-1",
                fenced=False, log_dirs=DIRECTORIES,
            ),
            RegisterBrokerRecord(9, "JAAAAAAAAAAAAAAAAAAAAA", 3, ENDPOINTS[:1]),
            RegisterControllerRecord(
                1, "KAAAAAAAAAAAAAAAAAAAAA", True, ENDPOINTS, FEATURES,
            ),
        ],
        [
            TopicRecord("orders", TOPIC),
            *(PartitionRecord(
                n, TOPIC, (10, 9), (10,), (9,), (11,), 10, n % 2, 3, 4, DIRECTORIES[:2],
                (9,), None,
            ) for n in (0, 1, 2, 10)),
        ],
        [
            ConfigRecord(2, "orders", "retention.ms", "77"),
            ConfigRecord(4, "", "min.insync.replicas", "2"),
            ConfigRecord(4, "10", "log.dir", "a, b\u00e9"),
            ConfigRecord(16, "metrics", "interval.ms", "9"),
            ConfigRecord(32, "readers", "session.ms", ""),
        ],
        [
            quota("producer_byte_rate", 1e7, user="a(l)i\\ce"),
            quota("consumer_byte_rate", 1024.5, user="bob", client_id="c1"),
            quota("connection_creation_rate", 2.0, ip="10.0.0.1"),
        ],
        [ProducerIdsRecord(10, 2, 3000)],
        [
            AccessControlEntryRecord(
                "aAAAAAAAAAAAAAAAAAAAAA", 2, "orders", 3, "User:alice", "*", 3, 3
            ),
            AccessControlEntryRecord("bAAAAAAAAAAAAAAAAAAAAA", 7, "u", 4, "User:b", "h", 15, 2),
            UserScramCredentialRecord("alice", 1, b"\x00\xff", b"\x01", b"\x02\x03", 4096),
            DelegationTokenRecord("User:o", "User:r", ("User:x", "User:y"), 1, 3, 2, "token-1"),
        ],
        [BeginTransactionRecord("kept"), ConfigRecord(2, "orders", "kept", "yes")],
        [EndTransactionRecord()],
        [BeginTransactionRecord("dropped"), ConfigRecord(2, "orders", "dropped", "yes")],
        [AbortTransactionRecord("no")],
        [NoOpRecord()],
    ]  # fmt: skip
