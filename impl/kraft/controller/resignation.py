"""The active controller steps back.

Kafka: QuorumController.renounce.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from immutables import Map

from kraft.controller.effects import Failure, Reply, Resign
from kraft.controller.memory import FaultError
from kraft.controller.state import NO_EPOCH
from kraft.errors import ErrorCode

if TYPE_CHECKING:
    from kraft.controller.state import Turn

NOT_CONTROLLER: Final = Failure(ErrorCode.NOT_CONTROLLER, "this is not the active controller")


def renounce(turn: Turn) -> None:
    """Give up being active: make Raft resign, forget the future, fail whoever waits, in order.

    The controller goes back to what is committed. If that is in a transaction it stays there: the
    records that close it are still to come; Kafka goes back to where that began, and fails on them.

    Raises FaultError if there is nothing to go back to.
    Spec: MetadataLog!Renounce, MetadataLog!GiveUp, MetadataLog!Forget.
    Kafka: QuorumController.renounce, OffsetControlManager.deactivate.
    """
    state = turn.state
    before = state.timeline.get(state.committed_end)
    if before is None:
        raise FaultError(f"nothing is remembered of offset {state.committed_end} to go back to")
    turn.do(Resign(state.claim_epoch))
    turn.change(
        claim_epoch=NO_EPOCH,
        written=before,
        timeline=Map({state.stable_end: state.timeline[state.stable_end]}),
        deferred=(),
        heartbeats=None,
        tasks=Map(),
    )
    for parked in state.deferred:
        turn.do(Reply(parked.token, NOT_CONTROLLER))
