"""Seeded bugs of the controller's core: its answers, reverts, replay and memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.mutant import seed_bug
from kraft.controller.effects import Append, Failure, Reply, Resign
from kraft.controller.memory import visible_of
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Generated, Result
from kraft.controller.resignation import NOT_CONTROLLER
from kraft.controller.state import Deferred
from kraft.controller.write_path import answer
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

if TYPE_CHECKING:
    from krafla.fuzz.engine.mutant import Mutant, Probe

__all__ = ["CORE"]

CORE: Final[list[Mutant]] = []
_seed = partial(seed_bug, CORE)


@_seed(
    "answers-before-commit",
    "RepliedIsCommittedProp",
    "kraft.controller.write_path:answer",
    "An answer leaves as soon as its records are appended.",
)
def _answers_before_commit(right: Any, probe: Probe) -> Any:
    def answer(turn: Any, token: Any, response: Any) -> Any:
        waits = turn.state.stable_end != turn.state.write_end
        probe.trigger(different=waits)
        if not waits:
            return right(turn, token, response)
        return turn.do(Reply(token, response))

    return answer


@_seed(
    "reads-uncommitted",
    "KAFKA-15048",
    "kraft.controller.machine:on_request",
    "A list of reassignments shows the newest state, committed or not.",
)
def _reads_uncommitted(right: Any, probe: Probe) -> Any:
    def on_request(turn: Any, event: Any, operations: Any) -> Any:
        read = operations.reads.get(type(event.request))
        if read is None:
            return right(turn, event, operations)
        state = turn.state
        stable = state.timeline[state.stable_end].image
        image = probe.choose(stable, state.written.image)
        try:
            return turn.do(Reply(event.token, read(image, event.request)))
        except ControllerError as error:
            return turn.do(Reply(event.token, Failure(error.code, error.reason)))

    return on_request


@_seed(
    "unchanged-answered-at-once",
    "RepliedIsCommittedProp",
    "kraft.controller.write_path:is_all_stable",
    "An operation that writes nothing is answered at once, though it read uncommitted state.",
)
def _unchanged_at_once(right: Any, probe: Probe) -> Any:
    def is_all_stable(state: Any) -> Any:
        # An answer with records of its own is still deferred: no other answer waits for its batch
        # yet.
        grows = bool(state.deferred) and state.deferred[-1].end == state.write_end
        probe.trigger(different=grows)
        return grows or right(state)

    return is_all_stable


@_seed(
    "keeps-uncommitted",
    "KAFKA-14204",
    "kraft.controller.resignation:renounce",
    "A controller that steps back keeps uncommitted state in memory.",
)
def _keeps_uncommitted(right: Any, probe: Probe) -> Any:
    def renounce(turn: Any) -> Any:
        kept = turn.state.written
        right(turn)
        after = turn.state
        probe.trigger(different=kept.end != after.written.end)
        turn.change(written=kept)

    return renounce


@_seed(
    "resigning-says-yes",
    "sabotage",
    "kraft.controller.resignation:renounce",
    "A controller that resigns sends its deferred answers as if all were committed.",
    (("resign", 2_500), ("pause", 3_000), ("isolation", 4_000)),
)
def _says_yes(right: Any, probe: Probe) -> Any:
    def renounce(turn: Any) -> Any:
        answers = {parked.token: parked.response for parked in turn.state.deferred}
        right(turn)
        probe.trigger(different=bool(answers))
        turn.effects = [
            Reply(one.token, answers[one.token])
            if isinstance(one, Reply) and one.token in answers
            else one
            for one in turn.effects
        ]

    return renounce


@_seed(
    "steps-back-without-resigning",
    "KAFKA-13104",
    "kraft.controller.resignation:renounce",
    "A controller steps back and does not tell Raft, which keeps leading.",
    (("resign", 2_500), ("pause", 3_000), ("isolation", 4_000)),
)
def _does_not_resign(right: Any, probe: Probe) -> Any:
    def renounce(turn: Any) -> Any:
        right(turn)
        turn.effects = [one for one in turn.effects if not isinstance(one, Resign)]
        probe.trigger()

    return renounce


@_seed(
    "waiters-are-forgotten",
    "sabotage",
    "kraft.controller.resignation:renounce",
    "A controller that steps back never sends its deferred answers.",
)
def _forgets_waiters(right: Any, probe: Probe) -> Any:
    def renounce(turn: Any) -> Any:
        probe.trigger(different=bool(turn.state.deferred))
        turn.change(deferred=())
        right(turn)

    return renounce


@_seed(
    "overflow-is-an-ordinary-error",
    "KAFKA-14204",
    "kraft.controller.write_path:write",
    "An operation that fails half-way leaves its first record in memory, never appended.",
)
def _phantom(right: Any, probe: Probe) -> Any:
    def write(turn: Any, operation: Any, request: Any, chance: int = 0, token: Any = None) -> Any:
        batches = sum(isinstance(effect, Append) for effect in turn.effects)
        found = right(turn, operation, request, chance, token)
        appended = [one for one in turn.effects if isinstance(one, Append)][batches:]
        breaks = bool(appended) and len(appended[0].records) > 2 and chance % 4 == 1
        probe.trigger(different=breaks)
        if breaks:
            turn.effects.remove(appended[0])
        return found

    return write


@_seed(
    "no-point-to-go-back-to",
    "KAFKA-13114",
    "kraft.controller.write_path:append",
    "The state between two batches of an operation is not remembered.",
)
def _no_point(right: Any, probe: Probe) -> Any:
    def append(turn: Any, records: Any) -> Any:
        before = turn.state.write_end
        right(turn, records)
        state = turn.state
        lost = before in state.timeline and before not in {state.stable_end, state.committed_end}
        probe.trigger(different=lost)
        if lost:
            turn.change(timeline=state.timeline.delete(before))

    return append


@_seed(
    "control-records-move-stable",
    "KAFKA-17608",
    "kraft.controller.commit_path:handle_commit",
    "A committed batch of Raft's own moves the stable end to an offset without a remembered state.",
    (("add-voter", 3_000), ("remove-voter", 3_000), ("new-port", 4_000), ("resign", 6_000)),
)
def _control_moves(right: Any, probe: Probe) -> Any:
    def handle_commit(turn: Any, batch: Any) -> Any:
        right(turn, batch)
        end = batch.base_offset + batch.count
        moves = not batch.records and end > turn.state.stable_end
        probe.trigger(different=moves)
        if moves:
            state = turn.state
            newest = state.timeline[state.stable_end]
            turn.change(stable_end=end, committed_end=end, timeline=state.timeline.set(end, newest))

    return handle_commit


@_seed(
    "resigning-forgets-the-bytes",
    "KAFKA-14300",
    "kraft.controller.resignation:renounce",
    "A controller that steps back restarts the count of bytes since the last snapshot.",
    (("resign", 700), ("isolation", 4_000)),
)
def _forgets_bytes(right: Any, probe: Probe) -> Any:
    def renounce(turn: Any) -> Any:
        right(turn)
        probe.trigger(different=turn.state.bytes_since_snapshot > 0)
        turn.change(bytes_since_snapshot=0)

    return renounce


@_seed(
    "bootstraps-twice",
    "sabotage",
    "kraft.controller.activation:activation_records",
    "Every new active controller writes the bootstrap records, even into a log that has them.",
)
def _bootstraps_twice(right: Any, probe: Probe) -> Any:
    def activation_records(memory: Any, configuration: Any) -> Any:
        found = right(memory, configuration)
        again = not found.records and memory.image.metadata_version is not None
        probe.trigger(different=again)
        if not again:
            return found
        records = (BeginTransactionRecord("Bootstrap records"), *configuration.bootstrap)
        return Result((*records, EndTransactionRecord()), None, is_atomic=False)

    return activation_records


@_seed(
    "aborts-without-transaction",
    "sabotage",
    "kraft.controller.activation:activation_records",
    "A new active controller aborts a transaction whether one is open or not.",
)
def _aborts_always(right: Any, probe: Probe) -> Any:
    def activation_records(memory: Any, configuration: Any) -> Any:
        found = right(memory, configuration)
        version = visible_of(memory).image.metadata_version
        wrong = not found.records and version is not None and version >= 13
        probe.trigger(different=wrong)
        return Result((AbortTransactionRecord("failover"),), None) if wrong else found

    return activation_records


@_seed(
    "claims-late",
    "KAFKA-13104",
    "kraft.controller.machine:on_leader_changed",
    "A standby that is told that it leads waits to be told again.",
)
def _claims_late(right: Any, probe: Probe) -> Any:
    def on_leader_changed(turn: Any, event: Any, operations: Any) -> Any:
        leads = event.leader_id == turn.state.configuration.defaults.node_id
        late = leads and event.epoch % 2 == 1 and turn.state.claim_epoch < 0
        probe.trigger(different=late)
        if not late:
            right(turn, event, operations)

    return on_leader_changed


@_seed(
    "operators-are-sent-away",
    "KAFKA-13104",
    "kraft.controller.machine:on_request",
    "A controller that becomes active again still tells operators that it is not the controller.",
    (("resign", 1_500), ("isolation", 4_000)),
)
def _sent_away(right: Any, probe: Probe) -> Any:
    def on_request(turn: Any, event: Any, operations: Any) -> Any:
        of_broker = hasattr(event.request, "broker_id")
        refuses = turn.state.claim_epoch > 4 and not of_broker
        probe.trigger(different=refuses)
        if refuses:
            return answer(turn, event.token, NOT_CONTROLLER)
        return right(turn, event, operations)

    return on_request


@_seed(
    "stays-active",
    "LeaderClaimsProp",
    "kraft.controller.machine:on_leader_changed",
    "A controller that hears of another leader stays active.",
)
def _stays_active(right: Any, probe: Probe) -> Any:
    def on_leader_changed(turn: Any, event: Any, operations: Any) -> Any:
        leads = event.leader_id == turn.state.configuration.defaults.node_id
        stays = not leads and turn.state.claim_epoch >= 0
        probe.trigger(different=stays)
        if not stays:
            right(turn, event, operations)

    return on_leader_changed


@_seed(
    "last-answer-first",
    "AnswersInOrderProp",
    "kraft.controller.commit_path:handle_commit",
    "The answer that has waited longest is sent last.",
)
def _last_first(right: Any, probe: Probe) -> Any:
    def handle_commit(turn: Any, batch: Any) -> Any:
        many = len(turn.effects)
        right(turn, batch)
        told = turn.effects[many:]
        probe.trigger(different=len(told) > 1)
        turn.effects[many:] = told[::-1]

    return handle_commit


@_seed(
    "one-answer-for-each-commit",
    "sabotage",
    "kraft.controller.commit_path:handle_commit",
    "A commit completes only one of the answers that wait for it.",
)
def _one_answer(right: Any, probe: Probe) -> Any:
    def handle_commit(turn: Any, batch: Any) -> Any:
        many, waiting = len(turn.effects), turn.state.deferred
        right(turn, batch)
        told = turn.effects[many:]
        probe.trigger(different=len(told) > 1)
        if len(told) > 1:
            turn.effects[many + 1 :] = []
            turn.change(deferred=waiting[1:])

    return handle_commit


@_seed(
    "refused-is-written",
    "KAFKA-13324",
    "kraft.controller.write_path:generate",
    "A request that only validates is carried out.",
)
def _validate_writes(right: Any, probe: Probe) -> Any:
    def generate(turn: Any, operation: Any, request: Any, chance: int) -> Any:
        asks = getattr(request, "validate_only", False)
        if not asks:
            return right(turn, operation, request, chance)
        found = right(turn, operation, replace(request, validate_only=False), chance)
        writes = isinstance(found, Generated) and bool(found.result.records)
        probe.trigger(different=writes)
        return found

    return generate


@_seed(
    "deferred-by-the-claim",
    "sabotage",
    "kraft.controller.write_path:answer",
    "An answer waits for what was written before its own records.",
)
def _waits_too_little(right: Any, probe: Probe) -> Any:
    def answer(turn: Any, token: Any, response: Any) -> Any:
        right(turn, token, response)
        state = turn.state
        ends = sorted(end for end in state.timeline if end < state.write_end)
        waits = bool(state.deferred) and state.deferred[-1].token == token and bool(ends)
        short = waits and ends[-1] > state.stable_end
        probe.trigger(different=short)
        if short:
            early = Deferred(token, ends[-1], response)
            turn.change(deferred=(*state.deferred[:-1], early))

    return answer
