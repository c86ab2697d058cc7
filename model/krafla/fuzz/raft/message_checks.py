"""Checks of what a replica sends, against what is on its disk at that moment.

Spec: KRaftProperties!VoteWrittenBeforeAnsweredInv, OnlyLeaderOwesFlushInv.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.raft.history import name_of
from kraft.raft.effects import HandleCommit, HandleLeaderChange, HandleLoadSnapshot
from kraft.raft.events import RequestReceived, ResponseReceived
from kraft.raft.roles import Follower, Leader
from kraft.rpc.fetch import FetchRequest, FetchResponse
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest
from kraft.rpc.vote import VoteRequest, VoteResponse

if TYPE_CHECKING:
    from krafla.fuzz.raft.history import Replica
    from kraft.ids import NodeId
    from kraft.raft.effects import SendRequest, SendResponse
    from kraft.raft.events import Event
    from kraft.raft.state import RaftState
    from kraft.sim.raft.steps import SimStep

__all__ = ["check_awaited", "check_request", "check_response"]

_WRITTEN = "VoteWrittenBeforeAnsweredInv"
_TOLD = frozenset({HandleCommit, HandleLeaderChange, HandleLoadSnapshot})


def check_request(replica: Replica, effect: SendRequest) -> None:
    """Check a request at the moment it is sent."""
    request, file = effect.request, replica.file
    if effect.correlation_id <= replica.last_correlation:
        raise Violated(
            "OneRequestPerConnectionInv",
            f"{name_of(replica.key)} uses correlation id {effect.correlation_id} a second time",
        )
    replica.last_correlation = effect.correlation_id
    if isinstance(request, FetchRequest):
        _check_fetch(replica, request)
    elif isinstance(request, VoteRequest):
        _check_vote_request(replica, request)
    elif isinstance(request, BeginQuorumEpochRequest) and (
        request.epoch != file.epoch or file.leader_id != replica.key.node_id
    ):
        raise Violated(
            _WRITTEN,
            f"{name_of(replica.key)} says that it leads epoch {request.epoch}; its file says "
            f"epoch {file.epoch} and leader {file.leader_id}",
        )


def _check_fetch(replica: Replica, request: FetchRequest) -> None:
    name = name_of(replica.key)
    if request.current_leader_epoch != replica.file.epoch:
        raise Violated(
            _WRITTEN,
            f"{name} fetches in epoch {request.current_leader_epoch}, its file says "
            f"{replica.file.epoch}",
        )
    if replica.owes_flush and request.fetch_offset > replica.flushed:
        raise Violated(
            "OnlyLeaderOwesFlushInv",
            f"{name} fetches from {request.fetch_offset}, and so acknowledges what it has "
            f"flushed only up to {replica.flushed}",
        )


def _check_vote_request(replica: Replica, request: VoteRequest) -> None:
    name, file = name_of(replica.key), replica.file
    voted = file.voted is not None and file.voted.node_id == replica.key.node_id
    if request.epoch != file.epoch or not (request.pre_vote or voted):
        raise Violated(
            _WRITTEN,
            f"{name} asks for votes in epoch {request.epoch}, its file says epoch {file.epoch} and "
            f"{'a vote for itself' if voted else 'no vote for itself'}",
        )
    if (request.last_offset, request.last_epoch) != (replica.end, replica.last_epoch):
        raise Violated(
            "LeaderCompletenessInv",
            f"{name} asks for votes with a log up to "
            f"({request.last_offset}, epoch {request.last_epoch}), "
            f"its own ends at ({replica.end}, epoch {replica.last_epoch})",
        )


def check_awaited(
    replica: Replica, event: ResponseReceived, before: RaftState, step: SimStep
) -> None:
    """Check that an answer changes nothing if it is not awaited, or is of an earlier epoch.

    An answer of an earlier epoch only frees its connection.
    Spec: KRaftState!Waiting, KRaftElection!IgnoreResponse.
    """
    connection = before.connections.get(event.sender)
    if connection is not None and connection.correlation_id == event.correlation_id:
        epoch = getattr(event.response, "epoch", before.role.epoch)
        if epoch < before.role.epoch and not _only_frees(before, event.sender, step):
            raise Violated(
                "OldAnswerProp",
                f"{name_of(replica.key)}, in epoch {before.role.epoch}, acts on an answer of node "
                f"{event.sender} from epoch {epoch}",
            )
        return
    if step.effects or step.after != before:
        raise Violated(
            "OneRequestPerConnectionInv",
            f"{name_of(replica.key)} takes an answer of node {event.sender} that it does not await",
        )


def _only_frees(before: RaftState, node: NodeId, step: SimStep) -> bool:
    """Return whether a step changes one connection only; any step may tell the listener."""
    after = step.after
    assert after is not None, "only complete steps are checked"
    connections = after.connections
    other = {each for each in before.connections if each != node}
    return (
        after == replace(before, connections=connections, listener=after.listener)
        and all(connections.get(each) == before.connections[each] for each in other)
        and set(connections) - {node} == other
        and all(type(each) in _TOLD for each in step.effects)
    )


def check_response(replica: Replica, effect: SendResponse, step: SimStep) -> None:
    """Check an answer at the moment it is sent."""
    response, file, name = effect.response, replica.file, name_of(replica.key)
    event, after = step.event, step.after
    if isinstance(response, FetchResponse):
        known = None if after is None else after.high_watermark
        if after is not None and response.high_watermark > (-1 if known is None else known):
            raise Violated(
                "StateMachineSafetyInv",
                f"{name} sends high watermark {response.high_watermark} and has {known}",
            )
    elif isinstance(response, VoteResponse) and response.vote_granted:
        _check_granted(replica, response, event, step.before)
    epoch = getattr(response, "epoch", 0)
    if epoch > file.epoch:
        raise Violated(_WRITTEN, f"{name} sends epoch {epoch}, its file says {file.epoch}")


def _check_granted(
    replica: Replica, response: VoteResponse, event: Event | None, before: RaftState | None
) -> None:
    request = event.request if isinstance(event, RequestReceived) else None
    if not isinstance(request, VoteRequest):
        return
    own = replica.key
    if request.voter_id >= 0 and (
        request.voter_id != own.node_id
        or request.voter_directory_id not in (None, own.directory_id)
    ):
        raise Violated(
            "OwnVoteProp",
            f"{name_of(own)} grants a vote to node {request.candidate_id}, which asked another: "
            f"node {request.voter_id} on disk {request.voter_directory_id}",
        )
    if request.pre_vote:
        _check_pre_vote(replica, request, before)
        return
    file = replica.file
    if (
        file.epoch != response.epoch
        or file.voted is None
        or file.voted.node_id != request.candidate_id
    ):
        voted = "no replica" if file.voted is None else name_of(file.voted)
        raise Violated(
            _WRITTEN,
            f"{name_of(replica.key)} grants node {request.candidate_id} its vote of epoch "
            f"{response.epoch}; its file says epoch {file.epoch}, and a vote for {voted}",
        )


def _check_pre_vote(replica: Replica, request: VoteRequest, before: RaftState | None) -> None:
    """Check that a replica does not help to depose a leader that it hears, or is: KIP-996.

    In a higher epoch there is no such leader.
    """
    role = None if before is None else before.role
    content = isinstance(role, Leader) or (isinstance(role, Follower) and role.has_fetched)
    if role is not None and content and request.epoch == role.epoch:
        raise Violated(
            "HeardLeaderStaysProp",
            f"{name_of(replica.key)} grants a pre-vote to node {request.candidate_id}, though it "
            f"{'leads' if isinstance(role, Leader) else 'hears the leader of'} epoch {role.epoch}",
        )
