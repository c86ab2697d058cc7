"""How a replica is asked to step down, or to end.

Kafka: KafkaRaftClient.resign, shutdown, GracefulShutdown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kraft.raft.effects import ResignRefused, ShutdownCompleted
from kraft.raft.quorum import is_only_voter
from kraft.raft.roles import NEVER, Leader, Resigned, leader_of
from kraft.raft.turn import Turn

if TYPE_CHECKING:
    from kraft.raft.events import ResignRequested, ShutdownRequested
    from kraft.raft.state import RaftState, Step


def on_resign_requested(state: RaftState, event: ResignRequested) -> Step:
    """Note that the leader of this epoch is to resign, which the next Poll does.

    A request of an older epoch is done already. One of a later epoch, or to a replica that does
    not lead this one, is refused; a leader that is no voter any more may resign.
    Kafka: KafkaRaftClient.resign.
    """
    turn = Turn.begin(state, event.now, event.chance)
    role = turn.role
    if event.epoch > role.epoch:
        turn.do(ResignRefused(f"epoch {event.epoch} is later than epoch {role.epoch}"))
    elif event.epoch == role.epoch and not isinstance(role, Leader | Resigned):
        turn.do(ResignRefused(f"this replica does not lead epoch {role.epoch}"))
    elif event.epoch == role.epoch and isinstance(role, Leader):
        turn.role = replace(role, resign_requested=True)
    return turn.step()


def on_shutdown_requested(state: RaftState, event: ShutdownRequested) -> Step:
    """Begin to shut down: a leader resigns, and every replica waits a while for another leader.

    Kafka: KafkaRaftClient.shutdown.
    """
    turn = Turn.begin(state, event.now, event.chance)
    if turn.shutdown_deadline is None:
        turn.shutdown_deadline = turn.now + event.timeout
    return turn.step()


def complete_shutdown(turn: Turn) -> bool:
    """End if the quorum can spare this replica, or its time is over; True: it has ended.

    Nothing is due after that. Kafka: KafkaRaftClient.maybeCompleteShutdown.
    """
    deadline = turn.shutdown_deadline
    if deadline is None:
        return False
    graceful = turn.now < deadline
    if graceful and not may_end(turn):
        return False
    turn.shutdown_deadline = NEVER
    turn.do(ShutdownCompleted(graceful))
    return True


def may_end(turn: Turn) -> bool:
    """Return whether the quorum can spare this replica.

    It is no voter, or the only one, or it knows another leader.
    Kafka: KafkaRaftClient.maybeCompleteShutdown.
    """
    leader_id = leader_of(turn.role)
    if not turn.is_voter or is_only_voter(turn):
        return True
    return leader_id is not None and leader_id != turn.configuration.node_id
