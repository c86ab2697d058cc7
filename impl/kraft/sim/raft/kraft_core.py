"""The code under simulation: `kraft.raft` on `kraft.log`'s storage, unless a test gives another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from kraft.ids import NodeId, OffsetAndEpoch
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.raft.boot import boot
from kraft.raft.effect_storage import perform
from kraft.raft.machine import is_busy, next_deadline, on_event
from kraft.raft.snapshot_file import snapshot_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from kraft.log.image import LogImage
    from kraft.log.storage_files import Files
    from kraft.log.text_files import QuorumState
    from kraft.raft.configuration import Configuration
    from kraft.raft.effects import Durable
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState, Step
    from kraft.raft.voters import VoterSet

_BOOTSTRAP: Final = OffsetAndEpoch(0, 0)


class Opened(NamedTuple):
    """An opened disk: the function that performs effects on it, its quorum state, and its log."""

    perform: Callable[[Durable], object]
    quorum_state: QuorumState | None
    log: LogImage


class Core(NamedTuple):
    """The functions of the code under simulation; a test may replace one by a broken one."""

    boot: Callable[[Configuration, QuorumState | None, LogImage, int, int], Step]
    on_event: Callable[[RaftState, Event], Step]
    next_deadline: Callable[[RaftState], int]
    is_busy: Callable[[RaftState], bool]
    format: Callable[[Files, Configuration, VoterSet | None], None]
    open: Callable[[Files, Configuration, int], Opened]


def format_log(files: Files, configuration: Configuration, voters: VoterSet | None) -> None:
    """Create an empty log directory; `voters` are those of kraft.version 1, None without it."""
    snapshot = None
    if voters is not None:
        snapshot = snapshot_bytes(_BOOTSTRAP, (), voters, 1, 0)
    node_id = NodeId(-1) if configuration.node_id is None else configuration.node_id
    format_directory(files, configuration.cluster_id, node_id, configuration.directory_id, snapshot)


def open_log(files: Files, configuration: Configuration, segment_bytes: int) -> Opened:
    """Return the content of a disk, and the function that performs effects on it.

    Raises UnusableLogError for content that no crash can have left.
    """
    storage = RaftStorage(
        files, segment_bytes=segment_bytes, voters=configuration.static_voters.node_ids
    )
    found = storage.open(
        configuration.cluster_id, configuration.node_id, configuration.directory_id
    )
    return Opened(partial(perform, storage), found.quorum_state, found.log)


KRAFT: Final = Core(boot, on_event, next_deadline, is_busy, format_log, open_log)
