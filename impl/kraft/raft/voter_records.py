"""Control records of the Raft layer, as fields of their schemas: written here, and read here.

Kafka: LeaderChangeMessage, KRaftVersionRecord, VotersRecord; VoterSet.toVotersRecord.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.errors import CorruptRecordError
from kraft.ids import ZERO_UUID, DirectoryId, NodeId, ReplicaKey
from kraft.raft.voters import Voter, VoterSet
from kraft.records.control_schemas import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from kraft.rpc.endpoints import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.raft.configuration import Configuration
    from kraft.records.schema import Fields

Control = tuple[int, "Fields"]
"""A control record: its control type, and its fields."""

_RECORD_VERSION: Final = 0
"""The version of each record that Kafka 4.1 writes."""


def leader_change_record(
    leader_id: NodeId, voters: Iterable[NodeId], granting_voters: Iterable[NodeId]
) -> Control:
    """Return the record that begins the epoch of a leader.

    Kafka: LeaderState.appendStartOfEpochControlRecords.
    """
    fields: Fields = {
        "version": _RECORD_VERSION,
        "leaderId": leader_id,
        "voters": tuple({"voterId": node} for node in sorted(voters)),
        "grantingVoters": tuple({"voterId": node} for node in sorted(granting_voters)),
    }
    return LEADER_CHANGE.api_key, fields


def version_record(kraft_version: int) -> Control:
    """Return the record of a finalized kraft.version. Kafka: KRaftVersionRecord."""
    return KRAFT_VERSION.api_key, {"version": _RECORD_VERSION, "kRaftVersion": kraft_version}


def voters_record(voters: VoterSet) -> Control:
    """Return the record of a voter set. Kafka: VoterSet.toVotersRecord."""
    fields: Fields = {
        "version": _RECORD_VERSION,
        "voters": tuple(_voter_fields(voter) for voter in voters.voters),
    }
    return KRAFT_VOTERS.api_key, fields


def snapshot_header_record(last_timestamp: int) -> Control:
    """Return the first record of a snapshot; milliseconds of the last record in it."""
    fields: Fields = {"version": _RECORD_VERSION, "lastContainedLogTimestamp": last_timestamp}
    return SNAPSHOT_HEADER.api_key, fields


def snapshot_footer_record() -> Control:
    """Return the last record of a snapshot. Kafka: SnapshotFooterRecord."""
    return SNAPSHOT_FOOTER.api_key, {"version": _RECORD_VERSION}


def voters_of(fields: Fields) -> VoterSet:
    """Return the voter set that the fields of a KRaftVoters record are.

    A zero directory id means that it is not known. Raises CorruptRecordError if a node is in it
    twice. Kafka: VoterSet.fromVotersRecord.
    """
    try:
        return VoterSet.of(_voter_of(each) for each in fields["voters"])
    except ValueError as error:
        raise CorruptRecordError(f"{KRAFT_VOTERS.name}: {error}") from None


def kraft_version_of(fields: Fields) -> int:
    """Return the kraft.version in the fields of a KRaftVersion record."""
    return int(fields["kRaftVersion"])


def _voter_fields(voter: Voter) -> Fields:
    return {
        "voterId": voter.key.node_id,
        "voterDirectoryId": voter.key.directory_id or ZERO_UUID,
        "endpoints": tuple(
            {"name": each.listener, "host": each.host, "port": each.port}
            for each in voter.endpoints
        ),
        "kRaftVersionFeature": {
            "minSupportedVersion": voter.minimum_version,
            "maxSupportedVersion": voter.maximum_version,
        },
    }


def _voter_of(fields: Fields) -> Voter:
    directory = fields["voterDirectoryId"]
    known = None if directory == ZERO_UUID else DirectoryId(directory)
    versions = fields["kRaftVersionFeature"]
    return Voter(
        ReplicaKey(NodeId(fields["voterId"]), known),
        tuple(Endpoint(each["name"], each["host"], each["port"]) for each in fields["endpoints"]),
        versions["minSupportedVersion"],
        versions["maxSupportedVersion"],
    )


def local_voter(configuration: Configuration) -> Voter | None:
    """Return the replica as it would be a voter, None without a node id.

    Kafka: QuorumState.localVoterNodeOrThrow.
    """
    if configuration.key is None:
        return None
    return Voter(
        configuration.key,
        configuration.endpoints,
        configuration.minimum_version,
        configuration.maximum_version,
    )
