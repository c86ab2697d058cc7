"""What a broker's machine keeps besides its metadata log: log directories, and its clean shutdown.

A replica keeps its appended records when its process ends or its machine loses power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraft.chance import derive
from kraft.ids import NO_BROKER_EPOCH, DirectoryId, uuid_text

if TYPE_CHECKING:
    from kraft.broker.partitions import PartitionKey
    from kraft.broker.replica_log import ReplicaLog
    from kraft.ids import BrokerEpoch


class BrokerDisk:
    """The log directories of a broker, and the epoch of its last clean shutdown.

    `logs` has the logs of the replicas by directory; it has nothing of a failed directory.
    """

    __slots__ = ("clean_epoch", "directories", "failed", "logs")

    def __init__(self, seed: int, machine: int, first: DirectoryId, many: int) -> None:
        others = (
            DirectoryId(
                uuid_text(
                    b"".join(
                        derive(seed, "log directory", machine, first, number, half).to_bytes(
                            8, "big"
                        )
                        for half in (0, 1)
                    )
                )
            )
            for number in range(1, many)
        )
        self.directories: tuple[DirectoryId, ...] = (first, *others)
        self.failed: set[DirectoryId] = set()
        self.clean_epoch: BrokerEpoch = NO_BROKER_EPOCH
        self.logs: dict[DirectoryId, dict[PartitionKey, ReplicaLog]] = {
            one: {} for one in self.directories
        }

    def fail(self, directory: DirectoryId) -> None:
        """Fail a directory: its content is lost."""
        self.failed.add(directory)
        del self.logs[directory]

    @property
    def healthy(self) -> tuple[DirectoryId, ...]:
        """The directories that have not failed."""
        return tuple(one for one in self.directories if one not in self.failed)
