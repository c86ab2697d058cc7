"""The commit path: Raft hands over committed batches and snapshots.

Kafka: QuorumController.QuorumMetaLogListener.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from immutables import Map

from kraft.controller.effects import Reply
from kraft.controller.memory import (
    FaultError,
    Memory,
    after_batch,
    after_control_batch,
    stable_end_of,
    visible_of,
)
from kraft.controller.operations.written import written_from_snapshot
from kraft.controller.state import is_active
from kraft.ids import Offset
from kraft.image.errors import RefusedRecordError
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

if TYPE_CHECKING:
    from kraft.controller.events import CommittedBatch, SnapshotLoaded
    from kraft.controller.state import Turn


def handle_commit(turn: Turn, batch: CommittedBatch) -> None:
    """Let the active controller note that a batch it has already replayed is committed.

    The last stable offset advances, and the answers that waited for it are sent. Raft's own control
    batches only count towards the snapshot size: no state was kept at their ends (KAFKA-17608).

    Raises FaultError for a batch that this controller did not append.
    Spec: MetadataLog!HandleCommit, MetadataLog!MoveStable.
    Kafka: OffsetControlManager.handleCommitBatch, DeferredEventQueue.completeUpTo.
    """
    _count_bytes(turn, batch)
    if not batch.records:
        return
    state = turn.state
    end = end_of(batch)
    committed = state.timeline.get(end)
    if committed is None or committed.epoch != batch.epoch:
        raise FaultError(
            f"a batch of epoch {batch.epoch} is committed up to offset {end}, which the active "
            f"controller of epoch {state.claim_epoch} did not append"
        )
    stable_end = max(state.stable_end, stable_end_of(committed))
    timeline = state.timeline
    if stable_end not in timeline:
        # A transaction began in the middle of a batch.
        timeline = timeline.set(stable_end, visible_of(committed))
    kept = Map({kept: memory for kept, memory in timeline.items() if kept >= stable_end})
    due = tuple(one for one in state.deferred if one.end <= stable_end)
    turn.change(
        committed_end=end, stable_end=stable_end, timeline=kept, deferred=state.deferred[len(due) :]
    )
    for one in due:
        turn.do(Reply(one.token, one.response))


def replay_committed(turn: Turn, batch: CommittedBatch) -> None:
    """Let a standby replay a batch. Records of an open transaction stay invisible.

    Raises FaultError if the records before it rule a record out.
    Spec: MetadataLog!ReplayCommitted, MetadataLog!Hold.
    Kafka: QuorumController.QuorumMetaLogListener.handleCommit, MetadataBatchLoader.
    """
    _count_bytes(turn, batch)
    written = turn.state.written
    if batch.base_offset < written.end:
        raise FaultError(
            f"a batch at offset {batch.base_offset}, but offsets up to {written.end} are replayed"
        )
    if batch.records:
        memory = after_batch(written, batch.records, batch.base_offset, batch.epoch)
    else:
        memory = after_control_batch(written, end_of(batch), batch.epoch)
    _hold(turn, memory)


def end_of(batch: CommittedBatch) -> Offset:
    """Return the first offset after a batch."""
    return Offset(batch.base_offset + batch.count)


def _hold(turn: Turn, memory: Memory) -> None:
    """Make one state the only one that can be read. Spec: MetadataLog!Hold."""
    state = turn.state
    stable_end = max(state.stable_end, stable_end_of(memory))
    stable = state.timeline[stable_end] if stable_end == state.stable_end else visible_of(memory)
    turn.change(
        committed_end=memory.end,
        stable_end=stable_end,
        written=memory,
        timeline=Map({stable_end: stable}),
    )


def _count_bytes(turn: Turn, batch: CommittedBatch) -> None:
    # Active controllers and standbys count alike, also across a change of role (KAFKA-14300).
    turn.change(bytes_since_snapshot=turn.state.bytes_since_snapshot + batch.size_bytes)


def load_snapshot(turn: Turn, event: SnapshotLoaded) -> None:
    """Replace all state by a snapshot: what the snapshot omits is gone (KAFKA-14894).

    Each broker counts as registered at the last offset that the snapshot covers.

    Raises FaultError on an active controller, and for a snapshot that is older than the committed
    log, contains transaction records, or cannot be replayed.
    Spec: MetadataLog!LoadSnapshot.
    Kafka: QuorumController.QuorumMetaLogListener.handleLoadSnapshot.
    """
    state, (end_offset, epoch) = turn.state, event.snapshot_id
    if is_active(state):
        raise FaultError(
            f"snapshot {end_offset}-{epoch} for a controller active in epoch {state.claim_epoch}"
        )
    if end_offset < state.committed_end:
        reason = (
            f"snapshot {end_offset}-{epoch} is older than the committed end {state.committed_end}"
        )
        raise FaultError(reason)
    markers = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)
    odd = next((one for one in event.records if isinstance(one, markers)), None)
    if odd is not None:
        raise FaultError(f"snapshot {end_offset}-{epoch} has a {type(odd).__name__}")
    try:
        image = replay(EMPTY_IMAGE, event.records)
    except RefusedRecordError as error:
        raise FaultError(f"snapshot {end_offset}-{epoch}: {error}") from error
    end = Offset(end_offset)
    memory = Memory(written_from_snapshot(image, end), epoch)
    turn.change(
        committed_end=end,
        stable_end=end,
        written=memory,
        timeline=Map({end: memory}),
        snapshot_end=end,
        snapshot_ms=turn.now_ms,
        bytes_since_snapshot=0,
    )
