"""Metadata versions: which records there are, and in which version of theirs.

Kafka: MetadataVersion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import (
    UNCHANGED,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
)
from kraft.records.topics import PartitionChangeRecord, PartitionRecord

if TYPE_CHECKING:
    from kraft.records.typed import TypedRecord

IBP_3_0_IV1: Final = 1
IBP_3_2_IV0: Final = 3
IBP_3_3_IV2: Final = 6
IBP_3_3_IV3: Final = 7
IBP_3_4_IV0: Final = 8
IBP_3_6_IV0: Final = 12
IBP_3_7_IV0: Final = 15
IBP_3_7_IV2: Final = 17
IBP_4_0_IV1: Final = 23
"""Feature levels from which on something is different; named as Kafka names them."""


def record_version(record: type[TypedRecord], metadata_version: int) -> int:
    """Return the version in which a record is written under a metadata version.

    Raises ValueError if there is no such record under it yet.
    Kafka: MetadataVersion.registerBrokerRecordVersion, partitionRecordVersion and the like.
    """
    if record is RegisterControllerRecord and metadata_version < IBP_3_7_IV0:
        raise ValueError(f"metadata version {metadata_version} has no RegisterControllerRecord")
    versions = _SINCE.get(record)
    if versions is None:
        return 0
    return sum(metadata_version >= since for since in versions)


def written_version(record: TypedRecord, metadata_version: int) -> int:
    """Return the version in which an active controller writes a record.

    That of a change of a registration follows from what it says: whoever asks for a change writes
    the version that first knew it. All others follow from the metadata version.

    Raises ValueError if there is no such record yet, as `record_version` does.
    Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerInControlledShutdown,
    .handleDirectoriesOffline.
    """
    if isinstance(record, BrokerRegistrationChangeRecord):
        shuts_down = record.in_controlled_shutdown != UNCHANGED
        # What says nothing is of directories, the last of which failed.
        if record.log_dirs or not (shuts_down or record.fenced != UNCHANGED):
            return 2
        return int(shuts_down)
    return record_version(type(record), metadata_version)


_SINCE: Final[dict[type[TypedRecord], tuple[int, ...]]] = {
    RegisterBrokerRecord: (IBP_3_3_IV3, IBP_3_4_IV0, IBP_3_7_IV2),
    BrokerRegistrationChangeRecord: (IBP_3_3_IV3, IBP_3_7_IV2),
    PartitionRecord: (IBP_3_7_IV2, IBP_4_0_IV1),
    PartitionChangeRecord: (IBP_3_7_IV2, IBP_4_0_IV1),
}
"""For each record that has several versions, the metadata versions that begin its second, third."""
