"""Metadata versions: which records there are, and in which version of theirs.

Kafka: MetadataVersion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.records.cluster import RegisterControllerRecord
from kraft.records.lease import BrokerRegistrationChangeRecord, RegisterBrokerRecord
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


_SINCE: Final[dict[type[TypedRecord], tuple[int, ...]]] = {
    RegisterBrokerRecord: (IBP_3_3_IV3, IBP_3_4_IV0, IBP_3_7_IV2),
    BrokerRegistrationChangeRecord: (IBP_3_3_IV3, IBP_3_7_IV2),
    PartitionRecord: (IBP_3_7_IV2, IBP_4_0_IV1),
    PartitionChangeRecord: (IBP_3_7_IV2, IBP_4_0_IV1),
}
"""For each record that has several versions, the metadata versions that begin its second, third."""
