"""The controller as a state machine: what it does on each event.

Spec: MetadataLog!Next. Kafka: QuorumController.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from kraft.controller import events
from kraft.controller.activation import claim
from kraft.controller.commit_path import handle_commit, load_snapshot, replay_committed
from kraft.controller.effects import Failure, Fatal, Reply
from kraft.controller.empty_requests import empty_answer
from kraft.controller.memory import FaultError, in_transaction
from kraft.controller.operation_table import OPERATIONS, Operations
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Result
from kraft.controller.resignation import NOT_CONTROLLER, renounce
from kraft.controller.snapshots import create_snapshot, snapshot_deadline
from kraft.controller.state import Step, Turn, is_active, visible
from kraft.controller.tasks import run_due_task, task_deadline
from kraft.controller.write_path import write
from kraft.errors import ErrorCode
from kraft.records.cluster import BeginTransactionRecord
from kraft.records.long_strings import LongStringError, check_strings

if TYPE_CHECKING:
    from kraft.controller.operation_context import OperationContext
    from kraft.controller.state import ControllerState


def on_event(
    state: ControllerState, event: events.Event, operations: Operations = OPERATIONS
) -> Step:
    """Return the controller after an event, and its effects in order.

    A controller that cannot go on has the single effect Fatal; its state is unchanged.

    Spec: MetadataLog!Next. Kafka: QuorumController.
    """
    turn = Turn(state, event)
    try:
        _handle(turn, event, operations)
    except FaultError as fault:
        return Step(state, (Fatal(fault.reason),))
    return turn.step()


def next_deadline(state: ControllerState) -> int:
    """Return when the host must poll the controller, in milliseconds, or NEVER.

    A deadline in the past means that a task is due. Kafka: PeriodicTaskControlManager.
    """
    return min(task_deadline(state), snapshot_deadline(state))


def _handle(turn: Turn, event: events.Event, operations: Operations) -> None:
    match event:
        case events.LeaderChanged():
            on_leader_changed(turn, event, operations)
        case events.BatchesCommitted():
            for batch in event.batches:
                (handle_commit if is_active(turn.state) else replay_committed)(turn, batch)
        case events.SnapshotLoaded():
            load_snapshot(turn, event)
        case events.RequestReceived():
            on_request(turn, event, operations)
        case events.Poll():
            on_poll(turn, operations)
        case events.SnapshotRequested():
            create_snapshot(turn)
        case events.TransactionMarked():
            on_transaction_marked(turn, event)
        case events.AppendRefused():
            on_append_refused(turn, event)
        case events.RenounceRequested():
            if is_active(turn.state):
                renounce(turn)
        case unreachable:
            assert_never(unreachable)


def on_leader_changed(turn: Turn, event: events.LeaderChanged, operations: Operations) -> None:
    """Become active, step back, or note the new epoch.

    An active controller that is re-elected with no other leader in between stays active under the
    new epoch.

    Kafka: QuorumController.QuorumMetaLogListener.handleLeaderChange.
    """
    leads = event.leader_id == turn.state.configuration.defaults.node_id
    if not is_active(turn.state):
        if leads:
            claim(turn, event.epoch, operations)
    elif leads:
        turn.change(claim_epoch=event.epoch)
    else:
        renounce(turn)


def on_request(turn: Turn, event: events.RequestReceived, operations: Operations) -> None:
    """Answer a read from the stable state; run a write if this is the active controller.

    A request that waited in the queue is judged by the controller's role now; one that asks for
    nothing is answered at once. A string that is too long for Kafka's messages is refused; Kafka
    closes the connection instead.

    Kafka: QuorumController.ControllerReadEvent, QuorumController.ControllerWriteEvent.
    """
    try:
        check_strings(event.request)
    except LongStringError as error:
        turn.do(Reply(event.token, Failure(ErrorCode.INVALID_REQUEST, str(error))))
        return
    empty = empty_answer(event.request)
    if empty is not None:
        turn.do(Reply(event.token, empty))
        return
    read = operations.reads.get(type(event.request))
    if read is not None:
        try:
            response = read(visible(turn.state).image, event.request)
        except ControllerError as error:
            response = Failure(error.code, error.reason)
        turn.do(Reply(event.token, response))
        return
    operation = operations.writes.get(type(event.request))
    if operation is None:
        reason = f"this controller does not know {type(event.request).__name__}"
        turn.do(Reply(event.token, Failure(ErrorCode.UNSUPPORTED_VERSION, reason)))
    elif not is_active(turn.state):
        turn.do(Reply(event.token, NOT_CONTROLLER))
    else:
        write(turn, operation, event.request, event.chance, event.token)


def on_poll(turn: Turn, operations: Operations) -> None:
    """Run the first thing that is due: a snapshot, or a periodic task."""
    if snapshot_deadline(turn.state) <= turn.now_ms:
        create_snapshot(turn)
    else:
        run_due_task(turn, operations)


def on_transaction_marked(turn: Turn, event: events.TransactionMarked) -> None:
    """Write the marker if this is the active controller and the marker is legal now.

    Spec: MetadataLog!BeginTransaction, MetadataLog!EndTransaction.
    Kafka: OffsetControlManager.replay.
    """
    begins = isinstance(event.record, BeginTransactionRecord)
    if is_active(turn.state) and in_transaction(turn.state.written) != begins:
        write(turn, _marker, event.record)


def _marker(context: OperationContext) -> Result[None]:
    return Result((context.request,), None)


def on_append_refused(turn: Turn, event: events.AppendRefused) -> None:
    """Step back if Raft no longer leads in the epoch of the claim.

    Spec: MetadataLog!RefuseAppend.
    Kafka: QuorumController.handleEventException, NotLeaderException.
    """
    if turn.state.claim_epoch == event.epoch:
        renounce(turn)
