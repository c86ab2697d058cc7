"""Seeded bugs of what is on disk, and of how a start reads it."""

from __future__ import annotations

from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.log.image import LogImage
from kraft.log.names import TEMPORARY_SUFFIX, in_log, part_name, snapshot_name
from kraft.log.text_files import QUORUM_STATE

__all__ = ["STORAGE"]


class _WithoutFlush:
    """Files that are never flushed."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def flush(self, name: str) -> None:
        """Leave the file unflushed."""


STORAGE: Final[list[Mutant]] = []


@seed_bug(
    STORAGE,
    "vote-file-not-flushed",
    "KAFKA-15312",
    "kraft.log.text_file_writer:replace_file",
    "A small file is renamed into place before its content is flushed.",
)
def _vote_file_not_flushed(_right: Any, probe: Probe) -> Any:
    def replace_file(files: Any, name: str, content: str) -> None:
        probe.trigger()
        temporary = name + TEMPORARY_SUFFIX
        directory = name.rpartition("/")[0]
        if temporary in files.names(directory):
            files.remove(temporary)
        files.append(temporary, content.encode())
        files.rename(temporary, name)
        files.flush_directory(directory)

    return replace_file


@seed_bug(
    STORAGE,
    "vote-name-not-flushed",
    "KAFKA-15312",
    "kraft.log.text_file_writer:replace_file",
    "A small file is renamed, and the new name is not flushed.",
)
def _vote_name_not_flushed(_right: Any, probe: Probe) -> Any:
    def replace_file(files: Any, name: str, content: str) -> None:
        probe.trigger()
        temporary = name + TEMPORARY_SUFFIX
        if temporary in files.names(name.rpartition("/")[0]):
            files.remove(temporary)
        files.append(temporary, content.encode())
        files.flush(temporary)
        files.rename(temporary, name)

    return replace_file


@seed_bug(
    STORAGE,
    "vote-file-in-place",
    "KAFKA-15312",
    "kraft.log.text_file_writer:replace_file",
    "A small file is overwritten in place.",
)
def _vote_file_in_place(right: Any, probe: Probe) -> Any:
    def replace_file(files: Any, name: str, content: str) -> None:
        if name != in_log(QUORUM_STATE) or name not in files.names(name.rpartition("/")[0]):
            right(files, name, content)
            return
        probe.trigger()
        files.truncate(name, 0)
        files.append(name, content.encode())
        files.flush(name)

    return replace_file


@seed_bug(
    STORAGE,
    "flush-does-nothing",
    "KAFKA-10533",
    "kraft.log.raft_storage:RaftStorage.flush",
    "The log is never flushed.",
)
def _flush_does_nothing(_right: Any, probe: Probe) -> Any:
    def flush(_storage: Any) -> None:
        probe.trigger()

    return flush


@seed_bug(
    STORAGE,
    "vote-not-stored",
    "redpanda 14",
    "kraft.log.raft_storage:RaftStorage.write_quorum_state",
    "The file has epoch and leader but no vote.",
)
def _vote_not_stored(right: Any, probe: Probe) -> Any:
    def write_quorum_state(storage: Any, epoch: Any, leader: Any, voted: Any, version: Any) -> None:
        probe.trigger(different=voted is not None)
        right(storage, epoch, leader, None, version)

    return write_quorum_state


@seed_bug(
    STORAGE,
    "leader-not-stored",
    "KAFKA-16529",
    "kraft.log.raft_storage:RaftStorage.write_quorum_state",
    "The file has epoch and vote but no leader.",
)
def _leader_not_stored(right: Any, probe: Probe) -> Any:
    def write_quorum_state(storage: Any, epoch: Any, leader: Any, voted: Any, version: Any) -> None:
        probe.trigger(different=leader is not None)
        right(storage, epoch, None, voted, version)

    return write_quorum_state


@seed_bug(
    STORAGE,
    "voted-directory-lost",
    "KAFKA-16526",
    "kraft.log.text_file_writer:quorum_state_text",
    "The file has the node that got the vote but not its disk.",
)
def _voted_directory_lost(right: Any, probe: Probe) -> Any:
    def quorum_state_text(epoch: Any, leader: Any, voted: Any, version: Any, voters: Any) -> Any:
        probe.trigger(different=voted is not None and version > 0)
        bare = None if voted is None else voted._replace(directory_id=None)
        return right(epoch, leader, bare, version, voters)

    return quorum_state_text


@seed_bug(
    STORAGE,
    "recovery-drops-a-batch",
    "KAFKA-14240",
    "kraft.log.recovery:_image",
    "A start takes the last batch of the log for a torn one.",
)
def _recovery_drops_a_batch(right: Any, probe: Probe) -> Any:
    def image(files: Any, read: Any, epochs: Any, ids: Any) -> LogImage:
        log = right(files, read, epochs, ids)
        assert isinstance(log, LogImage)
        last = log.read(max(log.end_offset - 1, log.start_offset), 1)
        probe.trigger(different=bool(last))
        return log.truncate(last[0].base_offset) if last else log

    return image


@seed_bug(
    STORAGE,
    "snapshot-not-flushed",
    "KAFKA-15312",
    "kraft.log.raft_storage:RaftStorage.freeze_snapshot",
    "A snapshot is renamed into place before its content is flushed.",
)
def _snapshot_not_flushed(_right: Any, probe: Probe) -> Any:
    def freeze_snapshot(storage: Any, snapshot_id: Any) -> None:
        probe.trigger()
        files = storage._files  # noqa: SLF001 - the mistake is inside it
        files.rename(part_name(snapshot_id), snapshot_name(snapshot_id))

    return freeze_snapshot


@seed_bug(
    STORAGE,
    "tail-not-flushed",
    "spec Boot",
    "kraft.log.raft_storage:RaftStorage.open",
    "A start keeps a tail that was never flushed, and does not flush it.",
)
def _tail_not_flushed(right: Any, probe: Probe) -> Any:
    def opened(storage: Any, *arguments: Any) -> Any:
        files = storage._files  # noqa: SLF001 - the mistake is inside it
        probe.trigger()
        storage._files = _WithoutFlush(files)  # noqa: SLF001 - the mistake is inside it
        try:
            return right(storage, *arguments)
        finally:
            storage._files = files  # noqa: SLF001 - the mistake is inside it

    return opened


@seed_bug(
    STORAGE,
    "clean-drops-the-newest",
    "KAFKA-12205",
    "kraft.log.raft_storage:RaftStorage.clean",
    "Cleaning also removes the snapshot at which the log begins.",
)
def _clean_drops_the_newest(right: Any, probe: Probe) -> Any:
    def clean(storage: Any, snapshot_id: Any) -> None:
        right(storage, snapshot_id)
        files = storage._files  # noqa: SLF001 - the mistake is inside it
        probe.trigger()
        files.remove(snapshot_name(snapshot_id))

    return clean


@seed_bug(
    STORAGE,
    "snapshot-never-loaded",
    "S82",
    "kraft.raft.snapshots:_is_nonsense",
    "A follower gives up every snapshot that it should load.",
)
def _snapshot_never_loaded(right: Any, probe: Probe) -> Any:
    def is_nonsense(snapshot_id: Any) -> Any:
        return probe.choose(right(snapshot_id), True)

    return is_nonsense
