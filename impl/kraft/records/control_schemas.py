"""Schemas of the control records a KRaft log and its snapshots hold.

A control record's key is four bytes: version 0 and the control type, which is the schema's
`api_key` here. Its value starts with a 16 bit version that is also its first field.

Kafka: ControlRecordType, ControlRecordUtils; `common/message/*.json` of kafka-clients 4.1.
"""

from __future__ import annotations

from typing import Final

from kraft.records.schema import FieldType as T
from kraft.records.schema import Schema, array, field, struct_field

_VOTER: Final = (field("voterId", T.INT32), field("voterDirectoryId", T.UUID, since=1))
_VOTER_ENDPOINT: Final = (
    field("name", T.STRING),
    field("host", T.STRING),
    field("port", T.UINT16),
)
_SUPPORTED_VERSIONS: Final = (
    field("minSupportedVersion", T.INT16),
    field("maxSupportedVersion", T.INT16),
)

LEADER_CHANGE: Final = Schema(
    "LeaderChange",
    2,
    1,
    (
        field("version", T.INT16),
        field("leaderId", T.INT32),
        array("voters", _VOTER),
        array("grantingVoters", _VOTER),
    ),
)
SNAPSHOT_HEADER: Final = Schema(
    "SnapshotHeader",
    3,
    0,
    (field("version", T.INT16), field("lastContainedLogTimestamp", T.INT64)),
)
SNAPSHOT_FOOTER: Final = Schema("SnapshotFooter", 4, 0, (field("version", T.INT16),))
KRAFT_VERSION: Final = Schema(
    "KRaftVersion", 5, 0, (field("version", T.INT16), field("kRaftVersion", T.INT16))
)
KRAFT_VOTERS: Final = Schema(
    "KRaftVoters",
    6,
    0,
    (
        field("version", T.INT16),
        array(
            "voters",
            (
                field("voterId", T.INT32),
                field("voterDirectoryId", T.UUID),
                array("endpoints", _VOTER_ENDPOINT),
                struct_field("kRaftVersionFeature", _SUPPORTED_VERSIONS),
            ),
        ),
    ),
)

CONTROL_SCHEMAS: Final[dict[int, Schema]] = {
    schema.api_key: schema
    for schema in (LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, KRAFT_VOTERS)
}
