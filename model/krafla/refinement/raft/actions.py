"""The reader that finds out which actions of KRaftSteps a step of a replica claims to be.

It holds no rule of the protocol. It names a step by the message that was taken, the role that was
left and the effects. The spec decides whether it has such a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krafla.refinement.common.spec_run import Action
from krafla.refinement.raft.requests import answer_of, is_seen, other_answer
from kraft.errors import ErrorCode
from kraft.ids import ReplicaKey
from kraft.log.batches import read_batches
from kraft.raft.effects import AppendLog, CleanLog, FlushLog, SendRequest, WriteSnapshot
from kraft.raft.events import RequestReceived, SnapshotCreated
from kraft.raft.roles import Candidate, Follower, Leader, Prospective, Unattached, leader_of
from kraft.records.control_schemas import KRAFT_VOTERS
from kraft.rpc.fetch import FetchResponse
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kraft.rpc.quorum_epoch import BeginQuorumEpochResponse, EndQuorumEpochResponse
from kraft.rpc.raft_voters import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    RemoveRaftVoterRequest,
    UpdateRaftVoterRequest,
)
from kraft.rpc.vote import VoteRequest, VoteResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.refinement.raft.names import Naming
    from krafla.refinement.raft.terms import Message
    from kraft.raft.effects import Effect
    from kraft.raft.events import Event
    from kraft.raft.roles import Role
    from kraft.raft.state import RaftState
    from kraft.rpc.requests import RaftResponse

__all__ = ["RaftReader", "Taken"]

_TO_ONE_DISK: Final = ("VoteRequest", "BeginQuorumEpochRequest")
"""The requests that name the disk they are for."""

_SENDS: Final = {
    "VoteRequest": "SendVoteRequest",
    "BeginQuorumEpochRequest": "SendBeginQuorumEpoch",
    "EndQuorumEpochRequest": "SendEndQuorumEpoch",
    "FetchRequest": "SendFetch",
}
"""The action that sends one request of a kind to `other`."""


class Taken(NamedTuple):
    """What became of a request: it was answered, is held, or is as good as lost.

    `answer` is the message in its place, None if the spec has none. `request` is the request as it
    was taken: another disk of the receiving node may have taken it.
    """

    actions: tuple[Action, ...]
    request: Message
    answer: Message | None
    is_held: bool = False
    is_lost: bool = False


class RaftReader:
    """Reads what one event made of one replica; `naming` gives the names."""

    def __init__(self, naming: Naming) -> None:
        self.naming = naming

    def request(
        self, name: str, message: Message, payload: object, response: RaftResponse | None
    ) -> Taken:
        """Return what replica `name` made of a request; no `response`: it has not answered."""
        if response is None:
            if message.type == "FetchRequest":
                actions, taken = self._addressed_to(name, message)
                return Taken((*actions, Action("ParkFetch", (taken,))), taken, None, is_held=True)
            return Taken((), message, None, is_lost=True)
        if is_piece(response):
            return Taken((), message, None, is_held=True)
        if not is_seen(response):
            if message.receiver != name and message.type in _TO_ONE_DISK:
                answer = other_answer(self.naming, message, response)
                return Taken((Action("MeetOtherDisk", (message, name)),), message, answer)
            actions, taken = self._addressed_to(name, message)
            answer = other_answer(self.naming, taken, response)
            return Taken((*actions, Action("AnswerOtherwise", (taken,))), taken, answer)
        if response.error_code == ErrorCode.INVALID_VOTER_KEY:
            answer = answer_of(self.naming, message, response)
            return Taken((Action("MeetOtherDisk", (message, name)),), message, answer)
        actions, taken = self._addressed_to(name, message)
        answer = answer_of(self.naming, taken, response)
        found = _answering_action(payload, response)
        parameters: tuple[Any, ...] = (taken,)
        if found == "AnswerFetch":
            parameters = (taken, _end_of(taken, response))
        return Taken((*actions, Action(found, parameters)), taken, answer)

    def parked(self, message: Message, response: FetchResponse) -> tuple[Action, Message | None]:
        """Return the action that answers a parked fetch, and the answer."""
        answer = answer_of(self.naming, message, response)
        name = _answering_action(None, response)
        if name == "AnswerFetch":
            end = _end_of(message, response)
            return Action("AnswerParkedFetch", (message, end)), answer
        return Action(name, (message,)), answer

    def response(
        self, message: Message, before: RaftState, after: RaftState, response: RaftResponse,
        effects: Sequence[Effect],
    ) -> str:  # fmt: skip
        """Return the action that takes an answer."""
        epoch = dict(message.fields)["epoch"]
        leader = dict(message.fields)["leader"]
        role = before.role
        if epoch > role.epoch:
            return "DiscoverEpoch"
        if epoch < role.epoch:
            return "IgnoreResponse"
        if leader is not None and self._learns_leader(role, leader):
            follows = isinstance(after.role, Follower) and after.role.has_fetched
            return "FollowAndFetch" if follows else "DiscoverEpoch"
        match response:
            case VoteResponse() if message.type == "VoteResponse":
                return _voted(before, after)
            case FetchResponse():
                return self._fetched(message, before, response)
            case FetchSnapshotResponse():
                if not isinstance(role, Follower):
                    return "IgnoreResponse"
                if response.error_code == ErrorCode.SNAPSHOT_NOT_FOUND:
                    return "AbandonSnapshot"
                return "LoadSnapshot" if response.error_code == ErrorCode.NONE else "IgnoreResponse"
            case ApiVersionsResponse():
                appends = any(isinstance(effect, AppendLog) for effect in effects)
                return "CompleteAddVoter" if appends else "IgnoreResponse"
        return "IgnoreResponse"

    def _learns_leader(self, role: Role, leader: object) -> bool:
        """Return whether an answer of its own epoch tells a replica the leader or its address."""
        known = leader_of(role)
        if known is None:
            return True
        return isinstance(role, Unattached) and self.naming.leader(role.epoch, known) == leader

    def own(
        self, name: str, event: Event, before: RaftState, after: RaftState,
        effects: Sequence[Effect],
    ) -> list[Action]:  # fmt: skip
        """Return what a replica did by itself, or for a client or its state machine."""
        left, role = before.role, after.role
        transition = _transition(
            left.__class__.__name__,
            role.__class__.__name__,
            left.epoch == role.epoch,
            leader_of(role) is not None,
        )
        if transition is not None:
            return [Action(transition, (name,))]
        found: list[Action] = []
        for effect in effects:
            found += self._effect(name, event, after, effect)
        return found

    def forgotten(self, name: str, before: RaftState, after: RaftState) -> list[Action]:
        """Return an action for each observer about which a leader has just dropped all it knew."""
        left, role = before.role, after.role
        if not (isinstance(left, Leader) and isinstance(role, Leader)):
            return []
        if left.progress is role.progress or left.epoch != role.epoch:
            return []
        gone = [
            key
            for key, progress in left.progress.items()
            if progress.end_offset is not None and key not in role.progress
        ]
        forgotten = sorted(self.naming.replica(key) for key in gone)
        return [Action("ForgetObserver", (name, observer)) for observer in forgotten]

    def _addressed_to(self, name: str, message: Message) -> tuple[tuple[Action, ...], Message]:
        if message.receiver == name:
            return (), message
        terms = self.naming.terms
        taken = terms.message(message.type, message.sender, name, message.awaited, *message.fields)
        return (Action("ReachOtherDisk", (message, name)),), taken

    def _fetched(self, message: Message, before: RaftState, response: FetchResponse) -> str:
        role = before.role
        is_good = response.error_code == ErrorCode.NONE
        if not (isinstance(role, Follower) and is_good):
            return "IgnoreResponse"
        if message.sender != self.naming.leader_of(before):
            return "IgnoreResponse"
        if response.snapshot_id is not None:
            return "BeginSnapshotFetch"
        return "AppendFetched" if response.diverging is None else "TruncateDiverging"

    def _effect(self, name: str, event: Event, after: RaftState, effect: Effect) -> list[Action]:
        naming = self.naming
        match effect:
            case AppendLog(batches):
                voters = [
                    c for batch in batches for c in batch.controls if c[0] == KRAFT_VOTERS.api_key
                ]
                if voters:
                    return [self._voters_action(name, event)]
                values = [naming.terms.value(one) for batch in batches for one in batch.values]
                return [Action("AppendBatch", (name, naming.terms.sequence(values)))]
            case FlushLog():
                return [Action("Flush", (name,))]
            case SendRequest(node, _, request):
                if isinstance(request, FetchSnapshotRequest):
                    return []  # The caller knows whether this is the first piece.
                if isinstance(request, ApiVersionsRequest):
                    return [Action("AddVoter", (name, self.added(after)))]
                action = _SENDS.get(request.__class__.__name__)
                if action is None:
                    return []
                return [Action(action, (name, naming.receiver(after, node, request)))]
            case WriteSnapshot(snapshot_id, _):
                if isinstance(event, SnapshotCreated):
                    return [Action("CreateSnapshot", (name, snapshot_id.end_offset))]
            case CleanLog():
                return [Action("CleanLog", (name,))]
        return []

    def prepared(self, name: str, effects: Sequence[Effect]) -> list[Action]:
        """Return how values that a state machine had prepared were appended, if there were any."""
        values = [
            self.naming.terms.value(one)
            for effect in effects
            if isinstance(effect, AppendLog)
            for batch in effect.batches
            for one in batch.values
        ]
        if not values:
            return []
        append = Action("AppendBatch", (name, self.naming.terms.sequence(values)))
        return [append, Action("Flush", (name,))]

    def added(self, state: RaftState) -> str:
        """Return the voter that a leader is about to add."""
        role = state.role
        assert isinstance(role, Leader), "only a leader adds voters"
        assert role.pending_change is not None, "a leader that adds a voter remembers which"
        return self.naming.replica(role.pending_change.voter.key)

    def _voters_action(self, name: str, event: Event) -> Action:
        assert isinstance(event, RequestReceived), "voters change on request"
        request = event.request
        assert isinstance(request, RemoveRaftVoterRequest | UpdateRaftVoterRequest), (
            "other requests append no voters"
        )
        voter = self.naming.replica(ReplicaKey(request.voter_id, request.voter_directory_id))
        kind = "RemoveVoter" if isinstance(request, RemoveRaftVoterRequest) else "UpdateVoter"
        return Action(kind, (name, voter))


def is_piece(response: object) -> bool:
    """Return whether an answer holds a piece of a snapshot that is not the last."""
    return (
        isinstance(response, FetchSnapshotResponse)
        and response.error_code == ErrorCode.NONE
        and response.position + len(response.data) < response.size
    )


def _answering_action(payload: object, response: RaftResponse) -> str:
    """Return the action that answers a request in this way."""
    error = response.error_code
    if error == ErrorCode.FENCED_LEADER_EPOCH:
        return "FenceRequest"
    if error in (ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER):
        return "RefuseFetch"
    match response:
        case VoteResponse():
            if not response.vote_granted:
                return "RefuseVote"
            pre_vote = isinstance(payload, VoteRequest) and payload.pre_vote
            return "GrantPreVote" if pre_vote else "GrantVote"
        case BeginQuorumEpochResponse():
            return "HandleBeginQuorumEpoch"
        case EndQuorumEpochResponse():
            return "HandleEndQuorumEpoch"
        case FetchSnapshotResponse():
            return "AnswerFetchSnapshot"
        case FetchResponse(snapshot_id=found) if found is not None:
            return "AnswerWithSnapshotId"
        case FetchResponse(diverging=found) if found is not None:
            return "AnswerDiverging"
    return "AnswerFetch"


def _end_of(message: Message, response: RaftResponse) -> int:
    """Return the offset at which the records of an answer end."""
    assert isinstance(response, FetchResponse), "only a FetchResponse has records"
    if not response.records:
        return int(dict(message.fields)["offset"])
    return read_batches(response.records)[-1].end_offset


def _voted(before: RaftState, after: RaftState) -> str:
    left, role = before.role, after.role
    if not isinstance(left, Prospective | Candidate):
        return "IgnoreResponse"
    if isinstance(role, Leader):
        return "BecomeLeader"
    if isinstance(left, Prospective) and isinstance(role, Candidate):
        return "BecomeCandidate"
    return "RecordVote"


def _transition(left: str, role: str, same_epoch: bool, knows_leader: bool) -> str | None:
    """Return the action by which a replica leaves a role on its own, if it does."""
    if role == "Leader" and left != "Leader":
        return "BecomeSoleLeader"
    if role == left:
        return None
    if role == "Prospective":
        return "BecomeProspective"
    if left == "Prospective":
        return "LosePreVoteByName" if role == "Unattached" and knows_leader else "LosePreVote"
    if left == "Resigned" and not same_epoch:
        return "LeaveResigned"
    if role == "Resigned":
        return "Resign"
    return None
