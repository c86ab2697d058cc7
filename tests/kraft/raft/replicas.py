"""Replicas to drive by hand: a replica in any role, what comes to it, and what it wants done.

Node n is `key(n)`; the replica under test is node 1 of the voters 1, 2 and 3, in epoch 5, and its
clock says NOW, unless a test says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from immutables import Map

from kraft.errors import ErrorCode
from kraft.ids import DirectoryId, NodeId, ReplicaKey, uuid_text
from kraft.log.batches import data_batch
from kraft.log.image import LogImage
from kraft.log.text_files import QuorumState
from kraft.raft.accumulator import Accumulator
from kraft.raft.boot import boot
from kraft.raft.configuration import MILLISECOND, Configuration, Timeouts
from kraft.raft.controls import ControlHistory
from kraft.raft.effects import (
    HandleCommit,
    HandleLeaderChange,
    HandleLoadSnapshot,
    SendRequest,
    SendResponse,
    WriteQuorumState,
)
from kraft.raft.events import Poll, RequestReceived, ResponseReceived, Source
from kraft.raft.listener import tell_listener
from kraft.raft.machine import next_deadline, on_event
from kraft.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    ReplicaProgress,
    Resigned,
    Unattached,
    leader_of,
    voted_of,
)
from kraft.raft.state import Connection, RaftState
from kraft.raft.turn import Turn
from kraft.raft.voters import Voter, VoterSet
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from kraft.rpc.vote import VoteRequest, VoteResponse

CLUSTER_ID = "a-cluster-of-the-tests"
NOW = 1_000_000 * MILLISECOND
TIMEOUTS = Timeouts()
EPOCH = 5
CHANCE = 7
MAXIMUM_POLLS = 200
TOLD = (HandleCommit, HandleLoadSnapshot, HandleLeaderChange)


def directory(node, disk=0):
    """Return the directory id of a node's disk; a node with a new disk has another one."""
    return DirectoryId(uuid_text(bytes([0xD1, disk]) + node.to_bytes(14, "big")))


def key(node, disk=0):
    return ReplicaKey(NodeId(node), directory(node, disk))


def endpoints(node):
    return (Endpoint("CONTROLLER", f"host-{node}", 9090 + node),)


def voter_set(*nodes, directories=True):
    """Return these nodes as voters; without `directories`, as kraft.version 0 knows them."""
    return VoterSet.of(
        Voter(key(node) if directories else ReplicaKey(NodeId(node)), endpoints(node))
        for node in nodes
    )


def configuration(node=1, voters=(1, 2, 3), *, directories=True, **fields):
    """Return the configuration of a node; `node` None is an observer without an id."""
    return Configuration(
        CLUSTER_ID,
        None if node is None else NodeId(node),
        directory(node or 0),
        () if node is None else endpoints(node),
        voter_set(*voters, directories=directories),
        **fields,
    )


def log_of(*epochs):
    """Return a log with one data record of each of these epochs, in a batch of its own."""
    log = LogImage()
    for offset, epoch in enumerate(epochs):
        value = f"record {offset} of epoch {epoch}".encode()
        log = log.append((data_batch(offset, epoch, 0, (value,)),))
    return log


def replica(role, *, log=None, high_watermark=None, **fields):
    """Return a state in this role; other fields are those of `configuration`.

    Its state machine has been told all there is to tell.
    """
    own = configuration(**fields)
    log = log_of() if log is None else log
    controls = ControlHistory.of_log(own.static_voters, log)
    if isinstance(role, Leader) and role.accumulator is None:
        end_offset = log.end_offset
        gathered = Accumulator(role.epoch, end_offset, scheduled_end=end_offset)
        role = replace(role, accumulator=gathered)
    turn = Turn.begin(RaftState(own, role, log, controls, high_watermark), NOW, CHANCE)
    tell_listener(turn)
    return turn.step().state


def unattached(epoch=EPOCH, *, leader=None, voted=None, deadline=NOW + TIMEOUTS.election):
    return Unattached(epoch, leader, voted, deadline)


def prospective(epoch=EPOCH, *, leader=None, voted=None, granted=(1,), rejected=()):
    where = () if leader is None else endpoints(leader)
    deadline = NOW + TIMEOUTS.election
    return Prospective(
        epoch, leader, where, voted, frozenset(granted), frozenset(rejected), deadline
    )


def candidate(epoch=EPOCH, *, granted=(1,), rejected=(), deadline=NOW + TIMEOUTS.election):
    return Candidate(epoch, key(1), frozenset(granted), frozenset(rejected), deadline)


def follower(epoch=EPOCH, *, leader=2, voted=None, has_fetched=False, **fields):
    return Follower(
        epoch,
        NodeId(leader),
        endpoints(leader),
        voted,
        fields.pop("fetch_deadline", NOW + TIMEOUTS.fetch),
        NOW + TIMEOUTS.update_voter,
        has_fetched,
        **fields,
    )


def leader(epoch=EPOCH, *, epoch_start=0, ends=None, voters=(1, 2, 3), **fields):
    """Return a leader; `ends` are the ends of the others' logs that it knows, by node."""
    known = ends or {}
    progress = {
        key(node): ReplicaProgress(
            key(node), known.get(node), begin_deadline=NOW + TIMEOUTS.begin_quorum_epoch
        )
        for node in voters
        if node != 1
    }
    return Leader(
        epoch,
        NodeId(1),
        epoch_start,
        fields.pop("check_quorum_deadline", NOW + TIMEOUTS.check_quorum),
        Map(progress),
        **fields,
    )


def resigned(epoch=EPOCH, *, successors=(), deadline=NOW + TIMEOUTS.election):
    return Resigned(epoch, NodeId(1), frozenset({2, 3}), tuple(successors), deadline)


def quorum_state(epoch=EPOCH, *, leader=-1, voted=-1, voted_directory=None, version=1):
    """Return what a quorum-state file says."""
    written = directory(voted) if voted >= 0 and version else uuid_text(bytes(16))
    chosen = written if voted_directory is None else voted_directory
    return QuorumState(Path("quorum-state"), version, leader, epoch, voted, chosen, None)


class Replica:
    """A replica, its clock, and the effects of the last thing that happened to it.

    What its state machine was told then is in `told`, and not among the effects: it comes last.
    """

    def __init__(self, state, now=NOW):
        self.state = state
        self.now = now
        self.effects = ()
        self.told = ()
        self.requests = 0

    @classmethod
    def booted(cls, file=None, *, log=None, now=NOW, **fields):
        """Start a replica with this quorum-state file (None: there is none) and log."""
        step = boot(configuration(**fields), file, log_of() if log is None else log, now, CHANCE)
        started = cls(step.state, now)
        started._note(step.effects)
        return started

    @property
    def role(self):
        return self.state.role

    @property
    def leader(self):
        return leader_of(self.state.role)

    @property
    def voted(self):
        return voted_of(self.state.role)

    def take(self, event):
        """Let an event happen; return its effects."""
        step = on_event(self.state, event)
        self.state = step.state
        return self._note(step.effects)

    def event(self, kind, **fields):
        """Let an event of this class happen now; return its effects."""
        return self.take(kind(self.now, CHANCE, **fields))

    def request(self, request, sender=2):
        """Let a request arrive; return the answer, or None if it is not answered yet."""
        self.requests += 1
        source = Source(NodeId(sender), 1000 + self.requests)
        self.take(RequestReceived(self.now, CHANCE, source, request))
        answers = [e.response for e in self.of(SendResponse) if e.source == source]
        return answers[0] if answers else None

    def answer(self, sender, response, correlation_id=None):
        """Let an answer arrive, by default for the request that is under way to its sender."""
        if correlation_id is None:
            correlation_id = self.state.connections[NodeId(sender)].correlation_id
        event = ResponseReceived(self.now, CHANCE, NodeId(sender), correlation_id, response)
        return self.take(event)

    def asks(self, *nodes):
        """Let requests be under way to these nodes, without having sent them."""
        connections = self.state.connections
        for node in nodes:
            number = self.state.next_correlation_id
            waiting = Connection(number, self.now + TIMEOUTS.request)
            connections = connections.set(NodeId(node), waiting)
            self.state = replace(
                self.state, connections=connections, next_correlation_id=number + 1
            )
        return self

    def poll(self):
        return self.event(Poll)

    def wait(self, duration):
        """Let time pass; nothing happens in it."""
        self.now += duration

    def next_deadline(self):
        return next_deadline(self.state)

    def settle(self):
        """Poll until nothing is due; return all effects of that."""
        self.state, effects = settle(self.state, self.now)
        return self._note(effects)

    def _note(self, effects):
        self.told = tuple(effect for effect in effects if isinstance(effect, TOLD))
        self.effects = tuple(effect for effect in effects if not isinstance(effect, TOLD))
        return self.effects

    def of(self, kind):
        """Return the last effects of this class, in their order."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def sent(self, kind=object):
        """Return (destination, request) of the requests of this class just sent."""
        return [
            (effect.destination, effect.request)
            for effect in self.of(SendRequest)
            if isinstance(effect.request, kind)
        ]

    def written(self):
        """Return (epoch, leader, voted) of the quorum-state files just written."""
        return [(e.epoch, e.leader_id, e.voted) for e in self.of(WriteQuorumState)]

    def order(self):
        """Return the names of the classes of the last effects, in their order."""
        return [type(effect).__name__ for effect in self.effects]


def settle(state, now):
    """Poll until nothing is due; return the state and all effects of that.

    Fails if there is no end to it, or if a Poll that is due does nothing.
    """
    effects = []
    for _ in range(MAXIMUM_POLLS):
        if next_deadline(state) > now:
            return state, tuple(effects)
        step = on_event(state, Poll(now, CHANCE))
        assert step.effects or step.state != state, f"due, and nothing done: {state.role}"
        state = step.state
        effects.extend(step.effects)
    raise AssertionError(f"no end of polls: {effects[-3:]}")


def vote(epoch=EPOCH, sender=2, *, end=(0, 0), pre_vote=False, **fields):
    """Return a vote request to node 1; `end` is the end offset and last epoch of the log."""
    return VoteRequest(
        fields.get("cluster_id", CLUSTER_ID),
        fields.get("voter_id", NodeId(1)),
        fields.get("voter_directory_id", directory(1)),
        epoch,
        NodeId(sender),
        fields.get("candidate_directory_id", directory(max(sender, 0))),
        end[1],
        end[0],
        pre_vote,
    )


def voted_answer(epoch=EPOCH, *, granted=True, leader=None, error=ErrorCode.NONE):
    return VoteResponse(error, epoch, leader, granted)


def begin(epoch=EPOCH, leader=2, **fields):
    return BeginQuorumEpochRequest(
        fields.get("cluster_id", CLUSTER_ID),
        fields.get("voter_id", NodeId(1)),
        fields.get("voter_directory_id", directory(1)),
        epoch,
        NodeId(leader),
        fields.get("leader_endpoints", endpoints(max(leader, 0))),
    )


def begin_answer(epoch=EPOCH, *, leader=1, error=ErrorCode.NONE):
    return BeginQuorumEpochResponse(error, epoch, leader)


def end(epoch=EPOCH, leader=2, successors=(), **fields):
    return EndQuorumEpochRequest(
        fields.get("cluster_id", CLUSTER_ID),
        epoch,
        NodeId(leader),
        tuple(successors),
        endpoints(max(leader, 0)),
    )


def end_answer(epoch=EPOCH, *, leader=1, error=ErrorCode.NONE):
    return EndQuorumEpochResponse(error, epoch, leader)


def name_of_role(role):
    """Return what a test of this role is called; a whole role has maps, whose order varies."""
    return type(role).__name__
