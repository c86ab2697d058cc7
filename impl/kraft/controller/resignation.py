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
    """Step back: make Raft resign, drop the uncommitted state, and fail the waiting requests.

    The controller goes back to the committed state. If a transaction is open there, it stays open:
    the records that close it are still to come. Kafka goes back to the start of the transaction and
    fails when those records arrive.

    Raises FaultError if no state is kept at the committed end.
    Spec: MetadataLog!Renounce, MetadataLog!GiveUp, MetadataLog!Forget.
    Kafka: QuorumController.renounce, OffsetControlManager.deactivate.
    """
    state = turn.state
    before = state.timeline.get(state.committed_end)
    if before is None:
        raise FaultError(f"no state is kept at offset {state.committed_end} to go back to")
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
