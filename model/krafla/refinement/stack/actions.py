"""The reader that finds out which actions of MetadataLogSteps a step of a node is.

The event of a controller decides, not its outcome. A controller that is told that it leads claims
its epoch, whether it does so or not, and the spec says what it has afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.refinement.common.spec_run import Action
from krafla.refinement.stack.empty_requests import asks_for_nothing, says_nothing
from krafla.refinement.stack.log import NO_END, NO_IMAGE, Appended, Replayed
from krafla.refinement.stack.views import (
    NOTHING,
    SOMETHING_ELSE,
    ControllerRequest,
    answer_value,
    request_value,
)
from krafla.values import record
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.operation_table import OPERATIONS
from kraft.controller.operations.errors import ControllerError
from kraft.controller.state import is_active
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.image.replay import replay
from kraft.records.cluster import AbortTransactionRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from krafla.refinement.stack.log import Images, Log
    from krafla.refinement.stack.views import Node
    from krafla.values import Value
    from kraft.controller.state import ControllerState
    from kraft.ids import OffsetAndEpoch
    from kraft.sim.raft.steps import ListenerStep

__all__ = ["Reading", "StackReader"]


_TWICE: Final = object()


class Reading(NamedTuple):
    """The actions of a step, and the answers sent in it by the numbers of their requests.

    `due` are the requests that must have been answered, as values of the spec. While
    `is_pending`, Raft has yet to refuse what the controller appends, and what the node shows is not
    compared.
    """

    actions: tuple[Action, ...] = ()
    due: frozenset[Value] = frozenset()
    answers: frozenset[Value] = frozenset()
    is_pending: bool = False


class _Refused(NamedTuple):
    """The step of a controller whose append Raft has yet to refuse, and the answers sent in it.

    `token` is the token of the request that caused the append, if there is one.
    """

    actions: tuple[Action, ...] = ()
    answers: tuple[tuple[object, object], ...] = ()
    token: object = None


class _Written(NamedTuple):
    """What a controller appends in a step, as records of the spec, and the image afterwards."""

    effect: does.Append
    records: tuple[Value, ...]
    replayed: Replayed


class StackReader:
    """Reads the steps of one run. `leaders` has the leader of each epoch, from Raft's steps."""

    def __init__(self, log: Log, images: Images, nodes: Mapping[str, Node]) -> None:
        self._log = log
        self._images = images
        self._nodes = nodes
        self.leaders: dict[int, str] = {}
        self.requests: dict[str, dict[object, ControllerRequest]] = {name: {} for name in nodes}
        self._refused: dict[str, _Refused] = {}
        self._request_count = 0

    def forget(self, name: str) -> None:
        """Forget the requests of a process that has ended."""
        self.requests[name].clear()
        self._refused.pop(name, None)

    # What Raft delivers

    def read_commits(self, batches: Iterable[events.CommittedBatch]) -> list[Action]:
        """Return what happens to the log when a node first hears of committed batches.

        A batch that differs from what its leader appended is read as an impossible step: it commits
        too many batches.
        """
        log, count = self._log, 0
        actions: list[Action] = []
        for batch in batches:
            end = batch.base_offset + batch.count
            if batch.base_offset < log.end:
                continue
            if batch.records:
                many = log.commit(batch.base_offset, end, batch.epoch, batch.records)
                if many is None:
                    return [*actions, Action("Commit", (count + len(log.uncommitted) + 1,))]
                count += many
            elif batch.epoch > log.epoch:
                actions += self._elect(batch.epoch, count)
                log.begin_epoch(batch.epoch, end)
                count = 0
            else:
                log.extend(end)
        return [*actions, Action("Commit", (count,))] if count else actions

    def _elect(self, epoch: int, survivors: int) -> list[Action]:
        """Return the step that begins an epoch; its leader may have lost the leadership since.

        If no replica led the epoch, the spec has no such step.
        """
        name = self.leaders.get(epoch, NOTHING)
        node = self._nodes.get(name)
        elected = Action("Elect", (name, epoch, survivors, ()))
        if node is not None and node.raft_leads == epoch:
            node.leads = epoch
            return [elected]
        return [elected, Action("LoseLeadership", (name,))]

    def committed(self, name: str, offset: int) -> list[Action]:
        """Return the step of a node that replays all before an offset, if that is new to it."""
        end = self._log.ends.get(offset, NO_END)
        if end == self._nodes[name].committed_end:
            return []
        return [Action("ReplayCommitted", (name, end))]

    def loaded(self, name: str, snapshot_id: OffsetAndEpoch) -> list[Action]:
        """Return the step of a node that loads a snapshot; the empty one is no step.

        The snapshot is the one on its own disk, or another node's.
        """
        node = self._nodes[name]
        end = self._log.ends.get(snapshot_id.end_offset, NO_END)
        if end == node.committed_end:
            return []
        owners = (name, *self._nodes)
        owner = next((one for one in owners if self._nodes[one].snapshot[0] == end), None)
        node.snapshot = (end, self._log.at[end].image if end != NO_END else NO_IMAGE)
        if owner is None:
            return [Action("LoadOlderSnapshot", (name, end))]
        return [Action("LoadSnapshot", (name, owner))]

    # Controllers

    def controller(self, name: str, listener: ListenerStep) -> Reading:
        """Return what a step of a controller is."""
        before, event = listener.before, listener.event
        appended = self._written(name, listener)
        refused = self._refused.pop(name, _Refused())
        actions: list[Action] = []
        steps_back = isinstance(event, events.AppendRefused) and is_active(before)
        if refused.actions and not steps_back:
            # Raft has accepted an append that the spec requires it to refuse.
            actions += refused.actions
        match event:
            case events.BatchesCommitted():
                actions += self.read_commits(event.batches)
                actions += self._commits(name, before, event)
            case events.LeaderChanged():
                actions += self._told_leader(name, before, event, appended)
            case events.SnapshotLoaded():
                actions += self.loaded(name, event.snapshot_id)
            case events.AppendRefused() if steps_back:
                actions += self._refusal(name, refused.actions)
            case events.RequestReceived():
                actions += self._request(name, listener, event, appended)
            case events.Poll() if appended is not None:
                actions += self._write(name, before, appended, None)
        actions += self._snapshots(name, listener)
        if name in self._refused:
            token = event.token if isinstance(event, events.RequestReceived) else None
            self._refused[name] = self._refused[name]._replace(
                answers=_answers_in(listener), token=token
            )
            return Reading(is_pending=True)
        node = self._nodes[name]
        if any(
            isinstance(one, does.Resign) and one.epoch == node.leads for one in listener.effects
        ):
            node.leads = None
        return self._reading(name, listener, actions, refused)

    def _commits(
        self, name: str, before: ControllerState, event: events.BatchesCommitted
    ) -> list[Action]:
        """Return the step of a controller that hears of committed batches.

        An active controller has replayed its own batches. Raft's own batches mean nothing to it,
        unless one begins a later epoch than its own.
        """
        ends = [
            one.base_offset + one.count
            for one in event.batches
            if one.records or one.epoch > before.claim_epoch
        ]
        if not is_active(before):
            last = event.batches[-1]
            return self.committed(name, last.base_offset + last.count)
        if not ends:
            return []
        return [Action("HandleCommit", (name, self._log.ends.get(ends[-1], NO_END)))]

    def _told_leader(
        self, name: str, before: ControllerState, event: events.LeaderChanged,
        appended: _Written | None,
    ) -> list[Action]:  # fmt: skip
        leads = event.leader_id == before.configuration.defaults.node_id
        if is_active(before):
            return [Action("Renounce", (name,))]
        if not leads:
            return []
        self._nodes[name].own.clear()
        if appended is None:
            return [Action("ClaimWrittenLog", (name,))]
        self._append(name, appended)
        if [type(one) for one in appended.effect.records] == [AbortTransactionRecord]:
            return [Action("ClaimWithOpenTransaction", (name,))]
        return [Action("ClaimEmptyLog", (name, appended.records))]

    def _request(
        self, name: str, listener: ListenerStep, event: events.RequestReceived,
        appended: _Written | None,
    ) -> list[Action]:  # fmt: skip
        before, after = listener.before, listener.after
        replies = {
            one.token: one.response for one in listener.effects if isinstance(one, does.Reply)
        }
        if _is_read(event):
            image = self._read(name, event, replies.get(event.token))
            return [Action("AnswerRead", (name, image))]
        parked = {one.token: one.response for one in after.deferred}
        response = parked.get(event.token, replies.get(event.token))
        self._request_count += 1
        records = () if appended is None else appended.records
        value = request_value(self._request_count, records)
        self.requests[name][event.token] = ControllerRequest(self._request_count, value, response)
        asks = Action("Ask", (value,))
        if not is_active(before):
            return [asks, Action("RefuseRequest", (name, value))]
        if appended is not None:
            return self._write(name, before, appended, asks)
        takes = "AnswerUnchanged" if event.token in replies else "DelayUnchanged"
        return [asks, Action(takes, (name, value))]

    def _write(
        self, name: str, before: ControllerState, appended: _Written, asks: Action | None
    ) -> list[Action]:
        """Return the step of a controller that writes.

        If Raft must refuse the append, the step is judged once Raft has, with the controller's
        reaction.
        """
        actions = [Action("RunTask", (name, appended.records))]
        if asks is not None:
            actions = [asks, Action("HandleWrite", (name, *asks.parameters))]
        if self._nodes[name].leads == before.claim_epoch:
            self._append(name, appended)
        else:
            self._refused[name] = _Refused(tuple(actions))
        return actions

    def _written(self, name: str, listener: ListenerStep) -> _Written | None:
        effect = next((one for one in listener.effects if isinstance(one, does.Append)), None)
        if effect is None:
            return None
        return _Written(effect, *self._images.after(self._nodes[name].written, effect.records))

    def _append(self, name: str, appended: _Written) -> None:
        """Note what a controller appends: where it ends, and the image afterwards."""
        node, log = self._nodes[name], self._log
        base, records = appended.effect.base_offset, appended.effect.records
        node.append(base + len(records), appended.replayed.image)
        if node.leads == log.epoch:
            log.uncommitted.append(
                Appended(base, base + len(records), log.epoch, records, appended.replayed)
            )

    def _read(self, name: str, event: events.RequestReceived, response: object) -> int:
        """Return the image that an answer is about: the one that the node shows, or NO_IMAGE."""
        visible = self._nodes[name].visible
        if asks_for_nothing(event.request):
            return visible if says_nothing(response) else NO_IMAGE
        if visible == NO_IMAGE:
            return NO_IMAGE
        read = OPERATIONS.reads[type(event.request)]
        try:
            expected = read(self._images[visible], event.request)
        except ControllerError as error:
            expected = does.Failure(error.code, error.reason)
        return visible if response == expected else NO_IMAGE

    def _snapshots(self, name: str, listener: ListenerStep) -> list[Action]:
        """Return the step that writes a snapshot, if the controller asks for one.

        If only Raft's own batches came since the last snapshot, it is the same snapshot.
        """
        effect = next(
            (one for one in listener.effects if isinstance(one, does.CreateSnapshot)), None
        )
        if effect is None:
            return []
        node = self._nodes[name]
        end, (old, _) = self._log.ends.get(effect.snapshot_id.end_offset, NO_END), node.snapshot
        image = replay(EMPTY_IMAGE, effect.records)
        is_shown = node.visible != NO_IMAGE and self._images.is_number(node.visible, image)
        node.snapshot = end, node.visible if is_shown else NO_IMAGE
        return [] if end == old else [Action("CreateSnapshot", (name,))]

    def _refusal(self, name: str, refused: tuple[Action, ...]) -> list[Action]:
        """Return the step of a controller whose append Raft refuses, with its request if any.

        Raft refuses no append of a leader. If it does, the step is read as the refusal of a made-up
        request, which the spec does not allow.
        """
        if len(refused) == 1:
            return [Action("Renounce", (name,))]
        if refused:
            asks = refused[0]
        else:
            self._request_count += 1
            nothing = record(type="Change", **{"from": NO_IMAGE, "to": NO_IMAGE})
            asks = Action("Ask", (request_value(self._request_count, (nothing,)),))
        return [asks, Action("RefuseAppend", (name, *asks.parameters))]

    def _reading(
        self, name: str, listener: ListenerStep, actions: list[Action], refused: _Refused
    ) -> Reading:
        """Return a reading, with the answers that were sent and those that were due."""
        event, known = listener.event, self.requests[name]
        sent = [*refused.answers, *_answers_in(listener)]
        answers = dict(sent)
        answers |= {token: _TWICE for token in answers if sum(token == one for one, _ in sent) > 1}
        waiting = {one.token for one in listener.after.deferred}
        due = [one.token for one in listener.before.deferred if one.token not in waiting]
        if refused.token is not None:
            due.append(refused.token)
        if isinstance(event, events.RequestReceived):
            if _is_read(event):
                answers.pop(event.token, None)
            elif event.token not in waiting:
                due.append(event.token)
        tokens = dict.fromkeys((*due, *answers))
        requests = {token: known.pop(token, None) for token in tokens}
        return Reading(
            tuple(actions),
            frozenset(one.value for one in requests.values() if one is not None),
            frozenset(
                (0 if one is None else one.number,
                 NOTHING if token not in answers
                 else SOMETHING_ELSE if answers[token] is _TWICE
                 else answer_value(answers[token], one))
                for token, one in requests.items()
            ),
        )  # fmt: skip


def _is_read(event: events.RequestReceived) -> bool:
    """Return whether a request is answered by what the controller shows, and changes nothing."""
    return type(event.request) in OPERATIONS.reads or asks_for_nothing(event.request)


def _answers_in(listener: ListenerStep) -> tuple[tuple[object, object], ...]:
    """Return the answers that a step sends, by token."""
    return tuple(
        (one.token, one.response) for one in listener.effects if isinstance(one, does.Reply)
    )
