"""The wrong functions that the mutants of a quorum controller put in place of the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from immutables import Map
from msgspec import structs

from kraft.controller import activation, commit_path, memory, resignation, snapshots, write_path
from kraft.controller.effects import Append, CreateSnapshot, Reply
from kraft.controller.operations.result import Result
from kraft.controller.state import Deferred, is_all_stable
from kraft.ids import OffsetAndEpoch
from kraft.records.cluster import EndTransactionRecord

# The right functions, kept before any of them is replaced.
_renounce = resignation.renounce
_handle_commit = commit_path.handle_commit
_replay_committed = commit_path.replay_committed
_load_snapshot = commit_path.load_snapshot
_create_snapshot = snapshots.create_snapshot
_after_batch = memory.after_batch
_append = write_path.append
_activation_records = activation.activation_records
_generate = write_path.generate
_marked = memory._marked


def renounces_without_resigning(turn: Any) -> None:
    _renounce(turn)
    turn.effects = [one for one in turn.effects if isinstance(one, Reply)]


def renounces_and_keeps_the_future(turn: Any) -> None:
    written = turn.state.written
    _renounce(turn)
    turn.change(written=written)


def renounces_and_leaves_who_waits(turn: Any) -> None:
    deferred = turn.state.deferred
    _renounce(turn)
    turn.change(deferred=deferred)
    turn.effects = [one for one in turn.effects if not isinstance(one, Reply)]


def renounces_to_what_is_stable(turn: Any) -> None:
    stable = turn.state.timeline[turn.state.stable_end]
    _renounce(turn)
    end = replace(stable.written, end=turn.state.committed_end)
    turn.change(written=replace(stable, written=end))


def remembers_the_last_batch_only(turn: Any, records: Any) -> None:
    """Keep one snapshot in memory, that of the newest batch, beside the one that is stable."""
    _append(turn, records)
    state = turn.state
    kept = {state.stable_end, state.committed_end, state.write_end}
    timeline = Map({end: one for end, one in state.timeline.items() if end in kept})
    turn.change(timeline=timeline)


def replays_its_own_again(turn: Any, batch: Any) -> None:
    _handle_commit(turn, batch)
    if batch.records:
        end = turn.state.write_end
        again = memory.after_batch(turn.state.written, batch.records, end, batch.epoch)
        written = replace(again, written=replace(again.written, end=end))
        turn.change(written=written)


def answers_at_once(turn: Any, token: Any, response: Any) -> None:
    turn.do(Reply(token, response))


def answers_what_wrote_nothing_at_once(turn: Any, token: Any, response: Any) -> None:
    wrote = any(isinstance(one, Append) for one in turn.effects)
    if wrote and not is_all_stable(turn.state):
        parked = Deferred(token, turn.state.write_end, response)
        turn.change(deferred=(*turn.state.deferred, parked))
    else:
        turn.do(Reply(token, response))


def answers_all_with_the_first(turn: Any, batch: Any) -> None:
    """Complete the whole purgatory with any commit."""
    _handle_commit(turn, batch)
    for one in turn.state.deferred:
        turn.do(Reply(one.token, one.response))
    turn.change(deferred=())


def answers_the_last_first(turn: Any, batch: Any) -> None:
    """Complete only who waits for the highest end that is stable."""
    before = turn.state
    _handle_commit(turn, batch)
    due = [one for one in before.deferred if one.end <= turn.state.stable_end]
    early = tuple(one for one in due if one.end < due[-1].end)
    tokens = {one.token for one in early}
    turn.effects = [one for one in turn.effects if getattr(one, "token", None) not in tokens]
    turn.change(deferred=early + turn.state.deferred)


def answers_what_is_committed(turn: Any, batch: Any) -> None:
    """Complete up to what is committed, in a transaction or not."""
    _handle_commit(turn, batch)
    due = [one for one in turn.state.deferred if one.end <= turn.state.committed_end]
    for one in due:
        turn.do(Reply(one.token, one.response))
    turn.change(deferred=turn.state.deferred[len(due) :])


def shows_what_is_committed(memory: Any) -> Any:
    return memory.end


def moves_over_control_records_without_a_state(turn: Any, batch: Any) -> None:
    if batch.records:
        _replay_committed(turn, batch)
    else:
        end = commit_path.end_of(batch)
        turn.change(committed_end=end, stable_end=max(turn.state.stable_end, end))


def skips_what_it_does_not_like(turn: Any, batch: Any) -> None:
    """Pass over the second record of each batch, as if it had failed."""
    _replay_committed(turn, replace(batch, records=batch.records[:1]))


def loads_a_snapshot_over_what_there_is(turn: Any, event: Any) -> None:
    old = turn.state.written.image
    _load_snapshot(turn, event)
    new = turn.state.written
    image = new.image
    configurations = old.configurations.update(image.configurations)
    kept = replace(new.written, image=structs.replace(image, configurations=configurations))
    loaded = replace(new, written=kept)
    turn.change(written=loaded, timeline=Map({loaded.end: loaded}))


def loads_a_snapshot_and_forgets_its_end(turn: Any, event: Any) -> None:
    end = turn.state.committed_end
    _load_snapshot(turn, event)
    turn.change(committed_end=end)


def ends_its_snapshot_at_the_last_offset(turn: Any) -> None:
    _create_snapshot(turn)
    turn.effects = [
        replace(one, snapshot_id=OffsetAndEpoch(one.snapshot_id.end_offset - 1, 1))
        if isinstance(one, CreateSnapshot)
        else one
        for one in turn.effects
    ]


def cuts_its_snapshot_of_the_newest(turn: Any) -> None:
    state = turn.state
    newest = turn.state.timeline.set(state.stable_end, state.written)
    turn.change(timeline=newest)
    _create_snapshot(turn)
    turn.change(timeline=state.timeline)


def cuts_its_snapshot_where_the_newest_ends(turn: Any) -> None:
    state = turn.state
    turn.change(
        stable_end=state.write_end, timeline=state.timeline.set(state.write_end, state.written)
    )
    _create_snapshot(turn)
    turn.change(stable_end=state.stable_end, timeline=state.timeline)


def appends_in_the_epoch_of_raft(turn: Any, records: Any) -> None:
    """Take the epoch that Raft leads in for that of the claim: any that is later will do."""
    _append(turn, records)
    last = turn.effects[-1]
    assert isinstance(last, Append)
    turn.effects[-1] = replace(last, epoch=last.epoch + 1)


def ends_the_transaction_it_finds(memory: Any, configuration: Any) -> Result[None]:
    found = _activation_records(memory, configuration)
    return Result((EndTransactionRecord(),) if found.records else (), None)


def does_not_look_for_a_transaction(*_: Any) -> Result[None]:
    return Result((), None)


def marks_an_abort_as_an_end(state: Any, record: Any, epoch: int) -> Any:
    if type(record).__name__ == "AbortTransactionRecord":
        return _marked(state, EndTransactionRecord(), epoch)
    return _marked(state, record, epoch)


def reads_what_is_stable(turn: Any, operation: Any, request: Any, chance: int) -> Any:
    """Check a request against what is stable instead of the newest."""
    state = turn.state
    turn.state = replace(state, written=state.timeline[state.stable_end])
    found = _generate(turn, operation, request, chance)
    turn.state = state
    return found
