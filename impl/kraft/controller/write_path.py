"""The write path: generate the records of an operation, replay them, append them, defer its answer.

Kafka: QuorumController.ControllerWriteEvent, QuorumController.appendRecords.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kraft.controller.effects import Append, Failure, Reply
from kraft.controller.memory import after_batch
from kraft.controller.operation_context import OperationContext
from kraft.controller.operations.broker_heartbeats import heartbeats_after
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.heartbeats import begin_controlled_shutdown, touch
from kraft.controller.operations.result import Generated, Result
from kraft.controller.record_bytes import fits_one_batch
from kraft.controller.resignation import renounce
from kraft.controller.state import Deferred, is_all_stable
from kraft.errors import ErrorCode
from kraft.ids import NO_OFFSET, Offset
from kraft.image.versions import LATEST_METADATA_VERSION
from kraft.records.limits import MAX_BATCH_BYTES

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from kraft.controller.operation_context import Operation
    from kraft.controller.operations.heartbeats import Heartbeats
    from kraft.controller.state import Turn
    from kraft.records.typed_record import TypedRecord


def write(
    turn: Turn, operation: Operation, request: Any, chance: int = 0, token: Hashable = None
) -> Any:
    """Run an operation on the newest state; return its response, None if it failed.

    `token` gets the answer once all state that the operation read is stable; a token of None gets
    no answer. A refusal waits like any answer that writes nothing; Kafka sends a refusal that is
    thrown at once. Any other exception makes the controller step back, because the operation may
    have read or written a wrong state: also a string that is too long to be serialized, and records
    that are too large for one batch.

    Raises FaultError if a generated record cannot be replayed.
    Spec: MetadataLog!HandleWrite, MetadataLog!AnswerUnchanged, MetadataLog!DelayUnchanged.
    Kafka: QuorumController.ControllerWriteEvent.run, QuorumController.handleEventException.
    """
    generated = generate(turn, operation, request, chance)
    if isinstance(generated, Failure):
        return _step_back(turn, token, generated)
    return write_generated(turn, generated, token)


def write_generated(turn: Turn, generated: Generated[Any], token: Hashable = None) -> Any:
    """Write the records of an operation, and answer as `write` says; return its response.

    None is returned if the records cannot be written.

    Raises FaultError if a generated record cannot be replayed.
    Kafka: QuorumController.ControllerWriteEvent.run, QuorumController.appendRecords.
    """
    count, most = len(generated.result.records), turn.state.configuration.max_records_per_batch
    if generated.result.is_atomic and count > most:
        reason = f"{count} records for one batch, which holds at most {most}"
        return _step_back(turn, token, Failure(ErrorCode.UNKNOWN_SERVER_ERROR, reason))
    result, heartbeats = generated.result, generated.heartbeats
    turn.change(heartbeats=heartbeats)
    for records in _batches(turn, result):
        if not fits_one_batch(records, _metadata_version(turn)):
            # Kafka: appendRecords wraps RecordBatchTooLargeException, so that it is a fault.
            reason = f"the records of a batch take more than {MAX_BATCH_BYTES} bytes"
            return _step_back(turn, token, Failure(ErrorCode.UNKNOWN_SERVER_ERROR, reason))
        append(turn, records)
    if generated.shutting_down is not None:
        last = Offset(turn.state.write_end - 1)
        heartbeats = _soft_state(turn)
        turn.change(heartbeats=begin_controlled_shutdown(heartbeats, generated.shutting_down, last))
    if generated.heard is not None:
        heard = touch(_soft_state(turn), generated.heard, NO_OFFSET, turn.now_ms)
        turn.change(heartbeats=heard)
    if token is not None:
        answer(turn, token, result.response)
    return result.response


def generate(
    turn: Turn, operation: Operation, request: Any, chance: int
) -> Generated[Any] | Failure:
    """Return what an operation generates; a Failure if it failed in a way that no rule foresees."""
    state = turn.state
    heartbeats = _soft_state(turn)
    written, defaults = state.written.written, state.configuration.defaults
    context = OperationContext(
        written, heartbeats, defaults, request, turn.now_ms, chance, turn.kraft_version,
        turn.principal,
    )  # fmt: skip
    try:
        found = operation(context)
    except ControllerError as error:
        return Generated(Result((), Failure(error.code, error.reason)), heartbeats)
    except Exception as error:  # noqa: BLE001 - Kafka survives an operation that throws, too
        return Failure(ErrorCode.UNKNOWN_SERVER_ERROR, f"{type(error).__name__}: {error}")
    return found if isinstance(found, Generated) else Generated(found, heartbeats)


def _step_back(turn: Turn, token: Hashable, failure: Failure) -> None:
    """Resign, because an operation failed in a way that no rule foresees.

    Kafka: EventHandlerExceptionInfo.fromInternal.
    """
    renounce(turn)
    if token is not None:
        turn.do(Reply(token, failure))


def _metadata_version(turn: Turn) -> int:
    return turn.state.written.image.metadata_version or LATEST_METADATA_VERSION


def _batches(turn: Turn, result: Result[Any]) -> list[tuple[TypedRecord, ...]]:
    """Return the records split into batches.

    After a crash, only a prefix of the batches may remain.
    """
    records, most = result.records, turn.state.configuration.max_records_per_batch
    return [records[start : start + most] for start in range(0, len(records), most)]


def _soft_state(turn: Turn) -> Heartbeats:
    heartbeats = turn.state.heartbeats
    assert heartbeats is not None, "an active controller has heartbeats"
    return heartbeats


def append(turn: Turn, records: Sequence[TypedRecord]) -> None:
    """Replay one batch at the offsets it will have, and ask Raft to append it in the claim epoch.

    The states before and after the batch are kept in the timeline.

    Raises FaultError if the batch cannot be replayed.
    Spec: MetadataLog!AppendBatch, MetadataLog!Remember.
    Kafka: QuorumController.ControllerWriteEvent.run, OffsetControlManager.handleScheduleAppend.
    """
    state = turn.state
    before = state.written
    base_offset = max(before.end, turn.log_end or before.end)
    memory = after_batch(before, records, base_offset, state.claim_epoch)
    timeline = state.timeline.set(before.end, before).set(memory.end, memory)
    heartbeats = heartbeats_after(_soft_state(turn), before.written, records, base_offset)
    turn.change(written=memory, timeline=timeline, heartbeats=heartbeats)
    version = before.image.metadata_version or memory.image.metadata_version or 0
    turn.do(Append(state.claim_epoch, base_offset, tuple(records), version))


def answer(turn: Turn, token: Hashable, response: Any) -> None:
    """Reply now if everything in memory is stable; otherwise defer the reply until it is.

    Spec: MetadataLog!AllStable. Kafka: DeferredEventQueue.highestPendingOffset.
    """
    state = turn.state
    if is_all_stable(state):
        turn.do(Reply(token, response))
        return
    turn.change(deferred=(*state.deferred, Deferred(token, state.write_end, response)))
