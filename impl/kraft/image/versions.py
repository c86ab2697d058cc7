"""Metadata versions: which records each has, and in which record version.

Kafka: MetadataVersion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import UNCHANGED, BrokerRegistrationChangeRecord, RegisterBrokerRecord
from kraft.records.topics import PartitionChangeRecord, PartitionRecord

if TYPE_CHECKING:
    from kraft.records.typed_record import TypedRecord

IBP_3_0_IV1: Final = 1
IBP_3_1_IV0: Final = 2
IBP_3_2_IV0: Final = 3
IBP_3_3_IV0: Final = 4
IBP_3_3_IV1: Final = 5
IBP_3_3_IV2: Final = 6
IBP_3_3_IV3: Final = 7
IBP_3_4_IV0: Final = 8
IBP_3_5_IV0: Final = 9
IBP_3_5_IV1: Final = 10
IBP_3_5_IV2: Final = 11
IBP_3_6_IV0: Final = 12
IBP_3_6_IV1: Final = 13
IBP_3_6_IV2: Final = 14
IBP_3_7_IV0: Final = 15
IBP_3_7_IV1: Final = 16
IBP_3_7_IV2: Final = 17
IBP_3_7_IV3: Final = 18
IBP_3_7_IV4: Final = 19
IBP_3_8_IV0: Final = 20
IBP_3_9_IV0: Final = 21
IBP_4_0_IV0: Final = 22
IBP_4_0_IV1: Final = 23
IBP_4_0_IV2: Final = 24
IBP_4_0_IV3: Final = 25
IBP_4_1_IV0: Final = 26
IBP_4_1_IV1: Final = 27
"""All feature levels of Kafka 4.1, named as Kafka names them."""

OLDEST_METADATA_VERSION: Final = IBP_3_3_IV3
LATEST_METADATA_VERSION: Final = IBP_4_1_IV1
"""The range that Kafka 4.1 supports; the levels before it are in old logs only."""

_CHANGES: Final = (
    IBP_3_3_IV3,
    IBP_3_4_IV0,
    IBP_3_5_IV2,
    IBP_3_6_IV1,
    IBP_3_6_IV2,
    IBP_3_7_IV0,
    IBP_3_7_IV2,
    IBP_4_0_IV1,
)
"""Levels that have records, or fields of them, which the level before lacks."""


def is_metadata_lost(source: int, target: int) -> bool:
    """Return whether a downgrade may lose metadata that the lower level cannot express.

    Kafka: MetadataVersion.checkIfMetadataChanged, .didMetadataChange.
    """
    return any(target < level <= source for level in _CHANGES)


def record_version(record: type[TypedRecord], metadata_version: int) -> int:
    """Return the version of a record that a metadata version prescribes, as in a checkpoint.

    Raises ValueError if the metadata version does not have the record.
    Kafka: MetadataVersion.registerBrokerRecordVersion, partitionRecordVersion and the like.
    """
    if record is RegisterControllerRecord and metadata_version < IBP_3_7_IV0:
        raise ValueError(f"metadata version {metadata_version} has no RegisterControllerRecord")
    versions = _SINCE.get(record)
    if versions is None:
        return 0
    return sum(metadata_version >= since for since in versions)


def written_version(record: TypedRecord, metadata_version: int) -> int:
    """Return the version in which the active controller writes a record.

    That of a registration change follows from its fields: each change has the version that
    introduced it. That of other records follows from the metadata version.

    Raises ValueError if the metadata version does not have the record, or not in this version.
    Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerInControlledShutdown,
    .handleDirectoriesOffline.
    """
    if isinstance(record, BrokerRegistrationChangeRecord):
        shuts_down = record.in_controlled_shutdown != UNCHANGED
        # A record without a change is about directories, the last of which failed.
        is_of_directories = record.log_dirs or not (shuts_down or record.fenced != UNCHANGED)
        version = 2 if is_of_directories else int(shuts_down)
        if version > record_version(type(record), metadata_version):
            raise ValueError(
                f"metadata version {metadata_version} has no registration change of {version=}"
            )
        return version
    return record_version(type(record), metadata_version)


_SINCE: Final[dict[type[TypedRecord], tuple[int, ...]]] = {
    RegisterBrokerRecord: (IBP_3_3_IV3, IBP_3_4_IV0, IBP_3_7_IV2),
    BrokerRegistrationChangeRecord: (IBP_3_3_IV3, IBP_3_7_IV2),
    PartitionRecord: (IBP_3_7_IV2, IBP_4_0_IV1),
    PartitionChangeRecord: (IBP_3_7_IV2, IBP_4_0_IV1),
}
"""For each record that has several versions, the metadata versions that begin its second, third."""
