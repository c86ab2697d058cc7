"""A disk that keeps what a storage asks of it, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kraft.log.crashing_files import CrashingFiles
from tests.kraft.log.log_samples import CLUSTER, DIRECTORY, LOG, NODE, opened

from kraft.log.identity import format_directory

if TYPE_CHECKING:
    from kraft.log.raft_storage import RaftStorage

EPOCHS = f"{LOG}/leader-epoch-checkpoint"


class Recorder(CrashingFiles):
    """A disk that keeps what it was asked to change, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def append(self, name: str, data: bytes) -> None:
        super().append(name, data)
        self.asked.append(f"append {short(name)} {len(data)}")

    def truncate(self, name: str, size: int) -> None:
        super().truncate(name, size)
        self.asked.append(f"truncate {short(name)} {size}")

    def flush(self, name: str) -> None:
        super().flush(name)
        self.asked.append(f"flush {short(name)}")

    def rename(self, name: str, new_name: str) -> None:
        super().rename(name, new_name)
        self.asked.append(f"rename {short(name)} {short(new_name)}")

    def remove(self, name: str) -> None:
        super().remove(name)
        self.asked.append(f"remove {short(name)}")

    def flush_directory(self, directory: str) -> None:
        super().flush_directory(directory)
        self.asked.append(f"flush_directory {directory}")


def short(name: str) -> str:
    return name.removeprefix(f"{LOG}/").replace("00000000000000000", "~").replace("0000000", "~")


def recording(segment_bytes: int = 100_000) -> tuple[RaftStorage, Recorder]:
    """Return a storage that has started, and its disk, which has recorded nothing yet."""
    files = Recorder()
    format_directory(files, CLUSTER, NODE, DIRECTORY)
    storage = opened(files, segment_bytes)
    files.asked.clear()
    return storage, files


def replacing(name: str, size: int) -> list[str]:
    return [
        f"append {name}.tmp {size}",
        f"flush {name}.tmp",
        f"rename {name}.tmp {name}",
        f"flush_directory {LOG}",
    ]
