"""The code that is simulated unless a test gives another: `kraft.raft` on `kraft.log`'s storage."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from kraft.ids import NodeId, OffsetAndEpoch
from kraft.log.identity import format_directory
from kraft.log.raft_storage import RaftStorage
from kraft.raft.boot import boot
from kraft.raft.effect_storage import perform
from kraft.raft.machine import is_busy, next_deadline, on_event
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.sim.raft.machines import Core, Opened

if TYPE_CHECKING:
    from kraft.log.storage_files import Files
    from kraft.raft.configuration import Configuration
    from kraft.raft.voters import VoterSet

_BOOTSTRAP: Final = OffsetAndEpoch(0, 0)


def format_log(files: Files, configuration: Configuration, voters: VoterSet | None) -> None:
    """Make an empty log directory; `voters` are those of kraft.version 1, None if it has none."""
    snapshot = None
    if voters is not None:
        snapshot = snapshot_bytes(_BOOTSTRAP, (), voters, 1, 0)
    node_id = NodeId(-1) if configuration.node_id is None else configuration.node_id
    format_directory(files, configuration.cluster_id, node_id, configuration.directory_id, snapshot)


def open_log(files: Files, configuration: Configuration, segment_bytes: int) -> Opened:
    """Return what is on a disk, and how to perform effects on it.

    Raises UnusableLogError for what no crash can have left.
    """
    storage = RaftStorage(
        files, segment_bytes=segment_bytes, voters=configuration.static_voters.node_ids
    )
    found = storage.open(
        configuration.cluster_id, configuration.node_id, configuration.directory_id
    )
    return Opened(partial(perform, storage), found.quorum_state, found.log)


KRAFT: Final = Core(boot, on_event, next_deadline, is_busy, format_log, open_log)
