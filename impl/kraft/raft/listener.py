"""What the state machine is told: committed batches, snapshots, leaders.

It is told at the end of a step, when all that it may rely on has been written: in the order of the
log, each batch once, and a snapshot only in place of what the log has no more.

Kafka: KafkaRaftClient.ListenerContext, RaftClient.Listener.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.roles import Candidate, Leader, Resigned
from kraft.raft.state import ListenerProgress

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.log.batches import LogBatch
    from kraft.raft.turn import Turn

_UNTOLD: Final = -1


def tell_listener(turn: Turn) -> None:
    """Tell the state machine what it does not know yet; to be called last in a step.

    Called twice it says nothing the second time.
    Kafka: KafkaRaftClient.pollListeners, updateListenersProgress, maybeFireLeaderChange.
    """
    high_watermark = turn.high_watermark
    if high_watermark is not None and turn.listener.next_offset != high_watermark:
        _tell_commits(turn, high_watermark)
    role = turn.role
    if not isinstance(role, Resigned):
        leader_id = None if isinstance(role, Candidate) else role.leader_id
        listener = turn.listener
        if leader_id != listener.leader_id or role.epoch != listener.leader_epoch:
            _tell_leader(turn, role.epoch, leader_id)


def _tell_commits(turn: Turn, high_watermark: int) -> None:
    """Tell of the latest snapshot, if the log lacks what comes next, then of batches.

    A leader that was told that it leads has read up to its own epoch, which no snapshot replaces
    before it is read; so it is never told to begin anew.
    """
    listener, log = turn.listener, turn.log
    next_offset = listener.next_offset
    latest = log.latest_snapshot
    if latest is not None and (next_offset == _UNTOLD or next_offset < log.start_offset):
        turn.do(HandleLoadSnapshot(latest.snapshot_id))
        next_offset = latest.snapshot_id.end_offset
    elif next_offset == _UNTOLD:
        next_offset = 0
    if next_offset < high_watermark:
        batches = _committed(log.read(next_offset, log.end_offset << 32, high_watermark), turn)
        if batches:
            turn.do(HandleCommit(batches))
            next_offset = batches[-1].end_offset
    if next_offset != listener.next_offset:
        turn.listener = ListenerProgress(next_offset, listener.leader_epoch, listener.leader_id)


def _committed(batches: tuple[LogBatch, ...], turn: Turn) -> tuple[LogBatch, ...]:
    """Return the batches without those that are not committed as a whole."""
    count = len(batches)
    while count and batches[count - 1].end_offset > (turn.high_watermark or 0):
        count -= 1
    return batches[:count]


def _tell_leader(turn: Turn, epoch: int, leader_id: NodeId | None) -> None:
    """Tell who leads, once for each epoch and leader.

    A leader hears of itself only when it has read beyond the beginning of its epoch: all that was
    committed before is known to it then. Epoch 0 without a leader is where everybody begins.
    """
    listener = turn.listener
    told_epoch = max(listener.leader_epoch, 0)
    if epoch <= told_epoch and (
        epoch < told_epoch or leader_id is None or listener.leader_id is not None
    ):
        return
    role = turn.role
    if isinstance(role, Leader) and listener.next_offset <= role.epoch_start:
        return
    turn.do(HandleLeaderChange(epoch, leader_id))
    turn.listener = ListenerProgress(listener.next_offset, epoch, leader_id)
