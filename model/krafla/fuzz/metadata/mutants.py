"""Seeded bugs of quorum controllers over one metadata log."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from immutables import Map
from msgspec import structs

from krafla.fuzz.engine.mutant import Killer, seed_bug, wrong_answer, wrong_turn
from kraft.controller import commit_path, memory
from kraft.controller.effects import Append, CreateSnapshot, Reply
from kraft.controller.operations.result import Result
from kraft.controller.state import Deferred, is_all_stable
from kraft.ids import OffsetAndEpoch
from kraft.records.cluster import AbortTransactionRecord, EndTransactionRecord

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant

__all__ = ["MUTANTS"]

_found: Final[list[Mutant]] = []
_seed = partial(seed_bug, _found, profile="failovers")
_seed_in_transactions = partial(seed_bug, _found, profile="transactions")
_seed_snapshot = partial(seed_bug, _found, profile="snapshots")
_RENOUNCE: Final = "kraft.controller.resignation:renounce"
_COMMIT: Final = "kraft.controller.commit_path"
_WRITE: Final = "kraft.controller.write_path"
_CREATE_SNAPSHOT: Final = "kraft.controller.snapshots:create_snapshot"
_ACTIVATION: Final = "kraft.controller.activation:activation_records"
_RESIGNS: Final = ("Renounce", "RefuseAppend")


@_seed("raft-is-not-made-to-resign", "KAFKA-13104", _RENOUNCE,
       "A controller resigns and does not make Raft resign.",
       killer=Killer(_RESIGNS, "leader_epoch", breaks="RenounceRevertsProp"))  # fmt: skip
@wrong_turn
def _resigns_alone(right: Any, turn: Any) -> None:
    right(turn)
    turn.effects = [one for one in turn.effects if isinstance(one, Reply)]


@_seed("uncommitted-state-is-kept", "QuorumController.renounce", _RENOUNCE,
       "A controller that resigns keeps what it wrote and was never committed.",
       killer=Killer(_RESIGNS, "write_end", breaks="RenounceRevertsProp"))  # fmt: skip
@wrong_turn
def _keeps_uncommitted(right: Any, turn: Any) -> None:
    written = turn.state.written
    right(turn)
    turn.change(written=written)


@_seed("waiting-requests-are-left-waiting", "QuorumController.renounce", _RENOUNCE,
       "A controller that resigns leaves the requests in its purgatory without an answer.",
       killer=Killer(_RESIGNS, "deferred", breaks="DeferredWaitsInv"))  # fmt: skip
@wrong_turn
def _leaves_waiting(right: Any, turn: Any) -> None:
    deferred = turn.state.deferred
    right(turn)
    turn.change(deferred=deferred)
    turn.effects = [one for one in turn.effects if not isinstance(one, Reply)]


@_seed_in_transactions("forgets-its-transaction", "OffsetControlManager.deactivate", _RENOUNCE,
                       "A controller that resigns forgets that it is in a transaction.",
                       killer=Killer(_RESIGNS, "written", breaks="StandbyCommittedOnlyInv")
                       )  # fmt: skip
@wrong_turn
def _reverts_to_stable(right: Any, turn: Any) -> None:
    stable = turn.state.timeline[turn.state.stable_end]
    right(turn)
    end = replace(stable.written, end=turn.state.committed_end)
    turn.change(written=replace(stable, written=end))


@_seed("only-newest-batch-is-remembered", "KAFKA-13114", f"{_WRITE}:append",
       "In memory there are the stable, the committed and the newest state, and none between.",
       killer=Killer(("HandleWrite", "BeginTransaction", "EndTransaction"), "timeline")
       )  # fmt: skip
@wrong_turn
def _remembers_newest_only(right: Any, turn: Any, records: Any) -> None:
    right(turn, records)
    state = turn.state
    kept = {state.stable_end, state.committed_end, state.write_end}
    turn.change(timeline=Map({end: one for end, one in state.timeline.items() if end in kept}))


@_seed("committed-is-replayed-again", "QuorumController.handleCommit", f"{_COMMIT}:handle_commit",
       "The active controller replays its own records again when they are committed.",
       killer=Killer(("HandleCommit",), "written", breaks="WrittenIsReplayOfLogInv")
       )  # fmt: skip
@wrong_turn
def _replays_its_own_again(right: Any, turn: Any, batch: Any) -> None:
    right(turn, batch)
    if batch.records:
        end = turn.state.write_end
        again = memory.after_batch(turn.state.written, batch.records, end, batch.epoch)
        turn.change(written=replace(again, written=replace(again.written, end=end)))


@_seed("answered-when-appended", "KIP-631", f"{_WRITE}:answer",
       "A write is answered when its records are appended, not when they are committed.",
       killer=Killer(("HandleWrite",), "answers", breaks="ReplyOnlyAfterCommitInv"))  # fmt: skip
@wrong_turn
def _answers_at_once(_right: Any, turn: Any, token: Any, response: Any) -> None:
    turn.do(Reply(token, response))


@_seed("unchanged-is-answered-at-once", "DeferredEventQueue.highestPendingOffset",
       f"{_WRITE}:answer",
       "A request that writes nothing is answered before what it has read is committed.",
       killer=Killer(("AnswerUnchanged",), conjunct="stable_end[c] = write_end[c]"))  # fmt: skip
@wrong_turn
def _answers_unchanged_at_once(_right: Any, turn: Any, token: Any, response: Any) -> None:
    wrote = any(isinstance(one, Append) for one in turn.effects)
    if wrote and not is_all_stable(turn.state):
        parked = Deferred(token, turn.state.write_end, response)
        turn.change(deferred=(*turn.state.deferred, parked))
    else:
        turn.do(Reply(token, response))


@_seed("commit-answers-all", "DeferredEventQueue.completeUpTo", f"{_COMMIT}:handle_commit",
       "Any commit completes all requests in the purgatory.",
       killer=Killer(("HandleCommit",), "answers"))  # fmt: skip
@wrong_turn
def _answers_all(right: Any, turn: Any, batch: Any) -> None:
    right(turn, batch)
    for one in turn.state.deferred:
        turn.do(Reply(one.token, one.response))
    turn.change(deferred=())


@_seed_in_transactions("last-is-answered-first", "DeferredEventQueue.completeUpTo",
                       f"{_COMMIT}:handle_commit",
                       "A commit completes only the requests that wait for the highest offset.",
                       killer=Killer(("HandleCommit",), "answers", breaks="AnsweredInOrderProp")
                       )  # fmt: skip
@wrong_turn
def _answers_last_first(right: Any, turn: Any, batch: Any) -> None:
    before = turn.state
    right(turn, batch)
    due = [one for one in before.deferred if one.end <= turn.state.stable_end]
    early = tuple(one for one in due if one.end < due[-1].end)
    tokens = {one.token for one in early}
    turn.effects = [one for one in turn.effects if getattr(one, "token", None) not in tokens]
    turn.change(deferred=early + turn.state.deferred)


@_seed_in_transactions("answered-in-transaction", "KIP-868", f"{_COMMIT}:handle_commit",
                       "A write in a transaction is answered before the transaction ends.",
                       killer=Killer(("HandleCommit",), "answers",
                                     breaks="ReplyOnlyAfterCommitInv"))  # fmt: skip
@wrong_turn
def _answers_what_is_committed(right: Any, turn: Any, batch: Any) -> None:
    right(turn, batch)
    due = [one for one in turn.state.deferred if one.end <= turn.state.committed_end]
    for one in due:
        turn.do(Reply(one.token, one.response))
    turn.change(deferred=turn.state.deferred[len(due) :])


@_seed_in_transactions("half-of-transaction-is-shown", "KIP-868",
                       "kraft.controller.memory:stable_end_of",
                       "The records of an open transaction are stable as soon as committed.",
                       killer=Killer(("HandleCommit", "ReplayCommitted"), "stable_end")
                       )  # fmt: skip
@wrong_answer
def _shows_what_is_committed(_right: Any, state: Any) -> Any:
    return state.end


@_seed("standby-skips-record", "KAFKA-14275", f"{_COMMIT}:replay_committed",
       "A standby skips the second record of each batch, as if it had failed.",
       killer=Killer(("ReplayCommitted",), "written", breaks="StandbyCommittedOnlyInv")
       )  # fmt: skip
@wrong_turn
def _skips_second_record(right: Any, turn: Any, batch: Any) -> None:
    right(turn, replace(batch, records=batch.records[:1]))


@_seed("control-records-move-stable", "KAFKA-17608", f"{_COMMIT}:replay_committed",
       "A batch of control records moves the stable end to an offset without a state.",
       killer=Killer(("ReplayCommitted",), "timeline"))  # fmt: skip
@wrong_turn
def _moves_over_control_records(right: Any, turn: Any, batch: Any) -> None:
    if batch.records:
        right(turn, batch)
    else:
        end = commit_path.end_of(batch)
        turn.change(committed_end=end, stable_end=max(turn.state.stable_end, end))


@_seed_snapshot("snapshot-is-loaded-over-state", "KAFKA-14894", f"{_COMMIT}:load_snapshot",
                "A snapshot is loaded and the old configurations stay.",
                killer=Killer(("LoadSnapshot",), "written", breaks="SameOffsetSameImageInv")
                )  # fmt: skip
@wrong_turn
def _loads_over_state(right: Any, turn: Any, event: Any) -> None:
    old = turn.state.written.image
    right(turn, event)
    new = turn.state.written
    configurations = old.configurations.update(new.image.configurations)
    image = structs.replace(new.image, configurations=configurations)
    loaded = replace(new, written=replace(new.written, image=image))
    turn.change(written=loaded, timeline=Map({loaded.end: loaded}))


@_seed_snapshot("snapshot-end-is-forgotten", "OffsetControlManager.endLoadSnapshot",
                f"{_COMMIT}:load_snapshot",
                "A controller that loads a snapshot forgets that its end is committed.",
                killer=Killer(("LoadSnapshot", "Restart"), "committed_end"))  # fmt: skip
@wrong_turn
def _forgets_snapshot_end(right: Any, turn: Any, event: Any) -> None:
    end = turn.state.committed_end
    right(turn, event)
    turn.change(committed_end=end)


@_seed_snapshot("snapshot-ends-at-last-offset", "KAFKA-14618", _CREATE_SNAPSHOT,
                "The id of a snapshot has the offset of its last record, one too low.",
                killer=Killer(("CreateSnapshot",), "snapshot"))  # fmt: skip
@wrong_turn
def _ends_at_last_offset(right: Any, turn: Any) -> None:
    right(turn)
    turn.effects = [
        replace(one, snapshot_id=OffsetAndEpoch(one.snapshot_id.end_offset - 1, 1))
        if isinstance(one, CreateSnapshot)
        else one
        for one in turn.effects
    ]


@_seed("snapshot-is-of-newest", "KIP-630", _CREATE_SNAPSHOT,
       "A snapshot has the newest state, committed or not.", profile="controllers",
       killer=Killer(("CreateSnapshot",), "snapshot", breaks="SnapshotIsStableInv"))  # fmt: skip
@wrong_turn
def _cuts_newest(right: Any, turn: Any) -> None:
    state = turn.state
    turn.change(timeline=state.timeline.set(state.stable_end, state.written))
    right(turn)
    turn.change(timeline=state.timeline)


@_seed("snapshot-is-cut-in-transaction", "KAFKA-17713", _CREATE_SNAPSHOT,
       "A snapshot ends where the newest state ends, in a transaction or not.",
       profile="controllers",
       killer=Killer(("CreateSnapshot",), breaks="SnapshotIsStableInv"))  # fmt: skip
@wrong_turn
def _cuts_where_newest_ends(right: Any, turn: Any) -> None:
    state = turn.state
    timeline = state.timeline.set(state.write_end, state.written)
    turn.change(stable_end=state.write_end, timeline=timeline)
    right(turn)
    turn.change(stable_end=state.stable_end, timeline=state.timeline)


@_seed("batch-has-another-epoch", "RaftClient.prepareAppend", f"{_WRITE}:append",
       "A batch is appended in a later epoch than that of the claim.",
       killer=Killer(("RefuseAppend",), conjunct="MayAppend"))  # fmt: skip
@wrong_turn
def _appends_in_later_epoch(right: Any, turn: Any, records: Any) -> None:
    right(turn, records)
    last = turn.effects[-1]
    assert isinstance(last, Append)
    turn.effects[-1] = replace(last, epoch=last.epoch + 1)


@_seed_in_transactions("new-leader-ends-transaction", "KIP-868", _ACTIVATION,
                       "A new active controller ends the open transaction, not aborts it.",
                       killer=Killer(("ClaimWithOpenTransaction",), "written",
                                     breaks="OpenTransactionAbortedProp"))  # fmt: skip
@wrong_answer
def _ends_transaction(right: Any, state: Any, configuration: Any) -> Result[None]:
    found = right(state, configuration)
    return Result((EndTransactionRecord(),) if found.records else (), None)


@_seed_in_transactions("new-leader-ignores-transaction", "KIP-868", _ACTIVATION,
                       "A new active controller does not look for an open transaction.",
                       killer=Killer(("ClaimWithOpenTransaction",), "written",
                                     breaks="OpenTransactionAbortedProp"))  # fmt: skip
@wrong_answer
def _ignores_transaction(*_: Any) -> Result[None]:
    return Result((), None)


@_seed_in_transactions("aborted-is-shown", "MetadataBatchLoader",
                       "kraft.controller.memory:_marked",
                       "Replay takes the abort of a transaction for its end.",
                       killer=Killer(("ClaimWithOpenTransaction",), "written",
                                     breaks="OpenTransactionAbortedProp"))  # fmt: skip
@wrong_answer
def _marks_abort_as_end(right: Any, state: Any, record: Any, epoch: int) -> Any:
    is_abort = isinstance(record, AbortTransactionRecord)
    return right(state, EndTransactionRecord() if is_abort else record, epoch)


@_seed("write-is-checked-against-stable", "KIP-631", f"{_WRITE}:generate",
       "A write is checked against the stable state, not the newest.",
       killer=Killer(("HandleWrite", "DelayUnchanged")))  # fmt: skip
@wrong_turn
def _reads_stable(right: Any, turn: Any, operation: Any, request: Any, chance: int) -> Any:
    state = turn.state
    turn.state = replace(state, written=state.timeline[state.stable_end])
    found = right(turn, operation, request, chance)
    turn.state = state
    return found


MUTANTS: Final[tuple[Mutant, ...]] = tuple(_found)
"""Of what controllers answer, revert, replay, and keep in snapshots."""
