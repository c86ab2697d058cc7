"""What the state machine hears: committed batches, snapshots, leaders.

It hears at the end of a step, after everything it relies on has been written: in the order of the
log, each batch once, and a snapshot only where the log lacks the records.

Kafka: KafkaRaftClient.ListenerContext, RaftClient.Listener.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.roles import Candidate, Leader, Resigned, leader_of
from kraft.raft.state import ListenerProgress

if TYPE_CHECKING:
    from kraft.ids import NodeId
    from kraft.log.batches import LogBatch
    from kraft.raft.state import RaftState
    from kraft.raft.turn import Turn

_UNTOLD: Final = -1


def is_told(state: RaftState) -> bool:
    """Return whether the state machine knows everything, as it does after most steps.

    `tell_listener` would tell it nothing.
    """
    listener, role = state.listener, state.role
    if state.high_watermark is not None and state.high_watermark != listener.next_offset:
        return False
    return role.epoch == listener.leader_epoch and (
        isinstance(role, Resigned) or leader_of(role) == listener.leader_id
    )


def tell_listener(turn: Turn) -> None:
    """Tell the state machine what is new; called last in a step.

    A second call tells it nothing.
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
    """Hand over the latest snapshot, if the log lacks the next records, and then batches.

    A leader that knows of its leadership has read up to its own epoch, and no snapshot replaces
    those records before it reads them; so it never starts again from a snapshot.
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
    """Tell the state machine the leader, once for each epoch and leader.

    A leader hears of itself only when it has read past the beginning of its epoch, and so knows
    everything that was committed before. Epoch 0 without a leader is where every replica begins.
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
