"""The version in which Kafka's active controller writes each record."""

from __future__ import annotations

from kraft.image.versions import record_version
from kraft.records.lease import UNCHANGED, BrokerRegistrationChangeRecord


def written_version(record, metadata_version):
    """Return the version in which an active controller writes a record.

    The version of a registration change follows from its fields: each change is written in the
    version that introduced it. The version of other records follows from the metadata version.

    Raises ValueError if the metadata version does not have the record, as `record_version` does.
    Kafka: ReplicationControlManager.handleBrokerFenced, .handleBrokerInControlledShutdown,
    .handleDirectoriesOffline.
    """
    if isinstance(record, BrokerRegistrationChangeRecord):
        shuts_down = record.in_controlled_shutdown != UNCHANGED
        # A record without a change is about directories, the last of which failed.
        if record.log_dirs or not (shuts_down or record.fenced != UNCHANGED):
            return 2
        return int(shuts_down)
    return record_version(type(record), metadata_version)
