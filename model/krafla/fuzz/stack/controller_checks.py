"""Checks of each step of a controller against the committed log and its own earlier steps.

Where MetadataLogProperties says the same, the properties have its names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.controller_effects import replies_of
from krafla.fuzz.stack.permissions import is_elr_enabled, may_elect_uncleanly
from krafla.refinement.stack.empty_requests import asks_for_nothing, says_nothing
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.state import NO_EPOCH, is_active, visible
from kraft.errors import ErrorCode
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.topics import RECOVERING, PartitionChangeRecord
from kraft.rpc.elect_leaders import UNCLEAN_ELECTION, ElectLeadersRequest

if TYPE_CHECKING:
    from krafla.fuzz.stack.committed_log import CommittedLog
    from kraft.controller.state import ControllerState
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["CONTROLLER_PROPERTIES", "ControllerChecks"]

CONTROLLER_PROPERTIES: Final = (
    "AnswersInOrderProp", "CommittedReplaysInv", "EmptyIsAnsweredAtOnceProp", "EndsInOrderInv",
    "NothingWrittenByRefusedProp", "OneClaimPerEpochInv", "OperationsDoNotFailProp",
    "RepliedIsCommittedProp", "RevertsToCommittedProp", "SnapshotAfterBootstrapProp",
    "SnapshotIsFoldInv",
    "StandbyShowsCommittedInv", "OnlyActiveAppendsProp", "ActiveShowsCommittedInv",
    "UncleanOnlyWithLeaveProp",
)  # fmt: skip


class ControllerChecks:
    """What is known of all controllers of a run.

    ``claims`` has the process that claimed each epoch. ``_owed`` has, by process and token, the end
    up to which the log must be committed before the answer may leave, and the epoch of the batch
    that ends there.
    """

    def __init__(self, committed_log: CommittedLog) -> None:
        self._committed_log = committed_log
        self.claims: dict[int, int] = {}
        self._owed: dict[tuple[int, object], tuple[int, int]] = {}
        self._answered: dict[int, int] = {}

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a controller. Raises Violated."""
        before, after, event = listener.before, listener.after, listener.event
        if isinstance(event, events.BatchesCommitted):
            self._committed_log.add(event.batches)
        _check_ends(after)
        if isinstance(event, events.Poll):
            _check_tasks(event, after)
        self._check_appends(listener)
        self._check_replies(step, listener)
        if after.claim_epoch != before.claim_epoch:
            self._check_claim(step, after)
        self._check_image(before, after, event)

    def _check_claim(self, step: SimStep, after: ControllerState) -> None:
        if is_active(after):
            epoch = after.claim_epoch
            if epoch in self.claims:
                raise Violated(
                    "OneClaimPerEpochInv",
                    f"process {step.incarnation} claims epoch {epoch}, which process "
                    f"{self.claims[epoch]} has claimed",
                )
            self.claims[epoch] = step.incarnation
            return
        if after.write_end != after.committed_end:
            raise Violated(
                "RevertsToCommittedProp",
                f"it steps back with its memory up to {after.write_end}; "
                f"committed is up to {after.committed_end}",
            )
        self._compare("RevertsToCommittedProp", after)
        if after.stable_end == after.committed_end and after.written != visible(after):
            raise Violated(
                "RevertsToCommittedProp",
                f"it steps back, and its memory up to {after.write_end} is not what it shows there",
            )
        self._owed = {at: owed for at, owed in self._owed.items() if at[0] != step.incarnation}

    def _check_appends(self, listener: ListenerStep) -> None:
        for effect in listener.effects:
            if not isinstance(effect, does.Append):
                continue
            claim = listener.before.claim_epoch
            if effect.epoch == NO_EPOCH or effect.epoch not in {claim, listener.after.claim_epoch}:
                raise Violated(
                    "OnlyActiveAppendsProp",
                    f"it appends in epoch {effect.epoch} but has claimed epoch {claim}",
                )
            for record in effect.records:
                if isinstance(record, PartitionChangeRecord):
                    _check_unclean(listener, record)

    def _check_replies(self, step: SimStep, listener: ListenerStep) -> None:
        """Check that no answer rests on what may be lost, and that answers keep their order."""
        event, after = listener.event, listener.after
        appended = any(isinstance(effect, does.Append) for effect in listener.effects)
        replied = replies_of(listener)
        for each in replied.values():
            _check_failure(each.response)
        if isinstance(event, events.RequestReceived):
            reply = replied.get(event.token)
            at = step.incarnation, event.token
            if asks_for_nothing(event.request):
                _check_empty(event, reply, appended=appended)
            elif reply is None:
                self._owed[at] = after.write_end, after.written.epoch
            elif _rests_on_uncommitted(listener, event) or (
                appended and not isinstance(reply.response, does.Failure)
            ):
                raise Violated(
                    "RepliedIsCommittedProp",
                    f"a {type(event.request).__name__} is answered at once, "
                    "though the answer rests on what may "
                    "be lost",
                )
            if appended and getattr(event.request, "validate_only", False):
                raise Violated(
                    "NothingWrittenByRefusedProp",
                    f"a {type(event.request).__name__} that only validates is written",
                )
        self._check_deferred(step, listener, replied)

    def _check_deferred(
        self, step: SimStep, listener: ListenerStep, replied: dict[object, does.Reply]
    ) -> None:
        last = self._answered.get(step.incarnation, 0)
        for token, reply in replied.items():
            owed = self._owed.pop((step.incarnation, token), None)
            if owed is None or (
                isinstance(reply.response, does.Failure) and not is_active(listener.after)
            ):
                continue
            end, epoch = owed
            known = self._committed_log.epochs.get(end, epoch)
            if end > self._committed_log.end or known != epoch:
                raise Violated(
                    "RepliedIsCommittedProp",
                    f"an answer leaves that rests on all before offset {end}, written in epoch "
                    f"{epoch}; committed is all before {self._committed_log.end}"
                    + (f", written in epoch {known}" if known != epoch else ""),
                )
            if end < last:
                raise Violated(
                    "AnswersInOrderProp",
                    f"an answer that rests on all before {end} comes after one "
                    f"that rests on {last}",
                )
            last = end
        self._answered[step.incarnation] = last

    def _check_image(self, before: ControllerState, after: ControllerState, event: object) -> None:
        if isinstance(event, events.SnapshotLoaded) or (
            isinstance(event, events.BatchesCommitted) and not is_active(after)
        ):
            self._compare("StandbyShowsCommittedInv", after)
        elif is_active(after) and after.stable_end != before.stable_end:
            self._compare("ActiveShowsCommittedInv", after)

    def _compare(self, name: str, state: ControllerState) -> None:
        """Check that a controller shows what the committed log says there."""
        self._committed_log.compare(name, state.stable_end, visible(state).image, "a controller")

    def check_snapshot(self, effect: does.CreateSnapshot) -> None:
        """Check that a snapshot holds what the log says at its end, and that there is something.

        Raises Violated. Kafka: MetadataLoader.stillNeedToCatchUp (KAFKA-15375).
        """
        held = replay(EMPTY_IMAGE, effect.records)
        if held.metadata_version is None:
            raise Violated(
                "SnapshotAfterBootstrapProp",
                f"the snapshot of all before {effect.snapshot_id.end_offset} has no metadata "
                "version: the bootstrap records come after it",
            )
        image = self._committed_log.image_at("SnapshotIsFoldInv", effect.snapshot_id.end_offset)
        if image is not None and held != image:
            raise Violated(
                "SnapshotIsFoldInv",
                f"the snapshot of all before {effect.snapshot_id.end_offset} is not "
                "the log's image there",
            )

    def forget(self, incarnation: int) -> None:
        """Forget the answers that a process owed when it ended."""
        self._owed = {at: owed for at, owed in self._owed.items() if at[0] != incarnation}
        self._answered.pop(incarnation, None)


def _check_empty(
    event: events.RequestReceived, reply: does.Reply | None, *, appended: bool
) -> None:
    """Check that a controller answers a request for nothing at once, whatever its role.

    Kafka: QuorumController.createTopics and the like, which complete without an event.
    """
    if appended or reply is None or not says_nothing(reply.response):
        raise Violated(
            "EmptyIsAnsweredAtOnceProp",
            f"a {type(event.request).__name__} asks for nothing and is "
            + ("not answered at once" if reply is None else f"answered {reply.response}"),
        )


def _rests_on_uncommitted(listener: ListenerStep, event: events.RequestReceived) -> bool:
    """Return whether a request was answered before the state it looked at was stable.

    The answer may rest on that state, even if the request writes nothing.
    """
    before, after = listener.before, listener.after
    reads = type(event.request) in OPERATIONS.reads
    return (
        not reads
        and is_active(before)
        and is_active(after)
        and before.stable_end != before.write_end
    )


def _check_unclean(listener: ListenerStep, record: PartitionChangeRecord) -> None:
    """Check that an election is unclean only if the topic or an operator allows it."""
    if record.leader_recovery_state != RECOVERING:
        return
    request = getattr(listener.event, "request", None)
    if isinstance(request, ElectLeadersRequest) and request.election_type == UNCLEAN_ELECTION:
        return
    image = listener.before.written.image
    before = image.partitions.get((record.topic_id, record.partition_id))
    last_known = () if before is None or before.isr else before.last_known_elr
    if record.leader in last_known and is_elr_enabled(image):
        # The last known leader is back: KIP-966, balanced recovery.
        return
    for state in (listener.before, listener.after):
        image = state.written.image
        topic = image.topics.get(record.topic_id)
        defaults = state.configuration.defaults
        if topic is not None and may_elect_uncleanly(image, defaults, topic.name):
            return
    raise Violated(
        "UncleanOnlyWithLeaveProp",
        f"replica {record.leader} of partition {record.partition_id} of {record.topic_id} is "
        f"elected uncleanly by {type(request or listener.event).__name__}; neither the topic nor "
        "an operator allows that",
    )


def _check_failure(response: object) -> None:
    """Check that no operation has failed by its own mistake, which nothing else would notice."""
    if isinstance(response, does.Failure) and response.error_code is ErrorCode.UNKNOWN_SERVER_ERROR:
        raise Violated("OperationsDoNotFailProp", f"an operation failed: {response.reason}")


def _check_tasks(event: events.Poll, state: ControllerState) -> None:
    """Check that no task is put off for longer than its period, as one is that has failed."""
    for task in OPERATIONS.tasks:
        due_ms = state.tasks.get(task.name, event.now_ms)
        if due_ms > event.now_ms + task.period_ms(state.configuration):
            raise Violated(
                "OperationsDoNotFailProp",
                f"the task {task.name} is put off for {due_ms - event.now_ms} ms, as if it failed",
            )


def _check_ends(state: ControllerState) -> None:
    if not state.stable_end <= state.committed_end <= state.write_end:
        raise Violated(
            "EndsInOrderInv",
            f"stable is {state.stable_end}, committed {state.committed_end}, "
            f"written {state.write_end}",
        )
