"""Writing a node's small text files, byte for byte as Kafka does, and so that a crash cannot tear.

Each is written beside its place, flushed, renamed into place, and the name flushed.

Kafka: FileQuorumStateStore, CheckpointFile, PartitionMetadataFile, PropertiesUtils.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from kraft.ids import METADATA_TOPIC_ID, ZERO_UUID
from kraft.log.names import TEMPORARY_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraft.ids import DirectoryId, NodeId, ReplicaKey
    from kraft.log.storage_files import Files
    from kraft.log.text_files import EpochStart

_NO_NODE: Final = -1
_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


def replace_file(files: Files, name: str, content: str) -> None:
    """Give a file new content; after a crash it has the old or the new one, whole.

    Kafka: Utils.atomicMoveWithFallback and its callers.
    """
    temporary = name + TEMPORARY_SUFFIX
    directory = name.rpartition("/")[0]
    if temporary in files.names(directory):
        files.remove(temporary)
    files.append(temporary, content.encode())
    files.flush(temporary)
    files.rename(temporary, name)
    files.flush_directory(directory)


def quorum_state_text(
    epoch: int,
    leader_id: NodeId | None,
    voted: ReplicaKey | None,
    version: int,
    voters: Sequence[NodeId],
) -> str:
    """Return the line of a quorum-state file of data version 0 or 1.

    Version 0 has the ids of the voters, and of a vote the node only; version 1 has the voted
    directory. Raises ValueError for another version.
    Kafka: FileQuorumStateStore.writeElectionState, ElectionState.toQuorumStateData.
    """
    leader = _NO_NODE if leader_id is None else leader_id
    voted_id = _NO_NODE if voted is None else voted.node_id
    data: dict[str, object]
    if version == 0:
        data = {
            "clusterId": "",
            "leaderId": leader,
            "leaderEpoch": epoch,
            "votedId": voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in sorted(voters)],
        }
    elif version == 1:
        directory = ZERO_UUID if voted is None else voted.directory_id or ZERO_UUID
        data = {
            "leaderId": leader,
            "leaderEpoch": epoch,
            "votedId": voted_id,
            "votedDirectoryId": directory,
        }
    else:
        raise ValueError(f"no quorum-state of data version {version}")
    return json.dumps({**data, "data_version": version}, separators=(",", ":"))


def leader_epochs_text(entries: Sequence[EpochStart]) -> str:
    """Return the content of a leader-epoch-checkpoint. Kafka: LeaderEpochCheckpointFile."""
    lines = ["0", str(len(entries)), *(f"{e.epoch} {e.start_offset}" for e in entries)]
    return "".join(f"{line}\n" for line in lines)


def partition_metadata_text() -> str:
    """Return the content of the partition.metadata of a metadata log. Kafka: PartitionMetadata."""
    return f"version: 0\ntopic_id: {METADATA_TOPIC_ID}"


def meta_properties_text(cluster_id: str, node_id: NodeId, directory_id: DirectoryId) -> str:
    """Return the content of a meta.properties of version 1, without Kafka's line of the date.

    Raises ValueError for a cluster id that a properties file would have to escape.
    Kafka: MetaProperties.toProperties.
    """
    if not _PLAIN.fullmatch(cluster_id):
        raise ValueError(f"not a cluster id of letters, digits and ._-: {cluster_id!r}")
    return (
        f"#\nnode.id={node_id}\ndirectory.id={directory_id}\nversion=1\ncluster.id={cluster_id}\n"
    )
