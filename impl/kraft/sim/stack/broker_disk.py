"""What a broker's machine keeps besides its metadata log: log directories, and how it stopped.

What a replica has appended it keeps when its process ends or its machine loses power.
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
    """The log directories of a broker, and the epoch under which it last stopped cleanly.

    `logs` has, by directory, the logs of the replicas in it; nothing of one that failed.
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
        """Lose a directory with all that is in it."""
        self.failed.add(directory)
        del self.logs[directory]

    @property
    def healthy(self) -> tuple[DirectoryId, ...]:
        """The directories that have not failed."""
        return tuple(one for one in self.directories if one not in self.failed)
