"""Whole quorums: replicas that exchange their messages until one of them leads."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import CHANCE, NOW, configuration, log_of, quorum_state

from kraft.raft.boot import boot
from kraft.raft.effects import Fatal, SendRequest, SendResponse, ShutdownCompleted, WriteQuorumState
from kraft.raft.events import (
    Poll,
    PrepareAppend,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    ScheduleAppend,
    ShutdownRequested,
    Source,
)
from kraft.raft.machine import is_busy, next_deadline, on_event
from kraft.raft.roles import Follower, Leader, leader_of, voted_of
from kraft.rpc.vote import VoteRequest

MAXIMUM_STEPS = 20_000
SECOND = 1_000_000_000
LATENCY = SECOND // 100
"""How long every message takes."""


class Quorum:
    """Replicas by node, one clock, and the messages between them in the order they were sent."""

    def __init__(self, *nodes, observers=()):
        self.now = NOW
        self.voters = nodes
        self.states = {}
        self.files = {}
        self.messages = []
        self.down = set()
        self.ended = []
        self.requests = []
        self.chance = CHANCE
        for node in (*nodes, *observers):
            self.start(node, None, log_of())

    def start(self, node, file, log):
        self.down.discard(node)
        own = configuration(node, self.voters)
        self._perform(node, boot(own, file, log, self.now, self._draw(node)))

    def restart(self, node):
        """Start a node again with its log and its file."""
        epoch, leader_id, voted = self.files[node]
        leader_id = -1 if leader_id is None else leader_id
        voted = -1 if voted is None else voted.node_id
        file = quorum_state(epoch, leader=leader_id, voted=voted)
        self.start(node, file, self.states[node].log)

    def stop(self, node):
        self.down.add(node)
        self.messages = [m for m in self.messages if node not in m[1:3]]

    def do(self, node, kind, **fields):
        event = kind(self.now, self._draw(node), **fields)
        self._perform(node, on_event(self.states[node], event))

    def run(self, done, steps=MAXIMUM_STEPS):
        """Let things happen until `done`: polls that are due, then messages, then time."""
        for _ in range(steps):
            if done():
                return
            self._step()
        roles = {node: type(state.role).__name__ for node, state in self.states.items()}
        raise AssertionError(f"not done after {steps} steps: {roles}")

    def run_for(self, duration):
        until = self.now + duration
        self.run(lambda: self.now >= until)

    @property
    def leaders(self):
        roles = {n: s.role for n, s in self.states.items() if n not in self.down}
        return [node for node, role in roles.items() if isinstance(role, Leader)]

    def all_follow(self):
        """Return whether one leads, and all others that run follow it and know what it commits."""
        if len(self.leaders) != 1:
            return False
        (leader,) = self.leaders
        known = self.states[leader].high_watermark
        return all(
            state.high_watermark == known is not None
            and (node == leader or isinstance(state.role, Follower))
            and leader_of(state.role) == leader
            for node, state in self.states.items()
            if node not in self.down
        )

    def _step(self):
        running = [node for node in self.states if node not in self.down]
        for node in running:
            if next_deadline(self.states[node]) <= self.now:
                before = self.states[node]
                step = on_event(before, Poll(self.now, self._draw(node)))
                assert step.effects or step.state != before, f"due, and nothing done: {before.role}"
                self._perform(node, step)
                return
        if self.messages and self.messages[0][0] <= self.now:
            self._deliver(*self.messages.pop(0)[1:])
            return
        due = [next_deadline(self.states[node]) for node in running]
        self.now = min([*due, *(message[0] for message in self.messages[:1])])

    def _send(self, sender, receiver, *message):
        if receiver not in self.down:
            self.messages.append((self.now + LATENCY, sender, receiver, *message))

    def _deliver(self, sender, receiver, number, message, is_request):
        state = self.states[receiver]
        assert not is_busy(state)
        chance = self._draw(receiver)
        if is_request:
            event = RequestReceived(self.now, chance, Source(sender, number), message)
        else:
            event = ResponseReceived(self.now, chance, sender, number, message)
        self._perform(receiver, on_event(state, event))

    def _perform(self, node, step):
        self.states[node] = step.state
        for effect in step.effects:
            match effect:
                case SendRequest():
                    self.requests.append(effect.request)
                    number = effect.correlation_id
                    self._send(node, effect.destination, number, effect.request, True)
                case SendResponse():
                    receiver, number = effect.source
                    self._send(node, receiver, number, effect.response, False)
                case WriteQuorumState():
                    self.files[node] = (effect.epoch, effect.leader_id, effect.voted)
                case ShutdownCompleted():
                    self.ended.append((node, effect.graceful))
                case Fatal():
                    raise AssertionError(f"node {node}: {effect.reason}")
        role = step.state.role
        assert self.files[node] == (role.epoch, leader_of(role), voted_of(role))

    def _draw(self, node):
        self.chance = (self.chance * 6364136223846793005 + node + 1442695040888963407) % 2**64
        return self.chance


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_quorum_elects_one_leader_whose_first_record_everybody_commits(count):
    quorum = Quorum(*range(1, count + 1))
    quorum.run(quorum.all_follow)
    (leader,) = quorum.leaders
    state = quorum.states[leader]
    assert state.high_watermark == state.log.end_offset == 1
    assert quorum.now - NOW < 10 * SECOND


def test_observers_find_the_leader_by_asking_and_follow_it():
    quorum = Quorum(1, 2, 3, observers=(8, 9))
    quorum.run(quorum.all_follow)
    assert quorum.leaders[0] in (1, 2, 3)
    assert quorum.states[9].log.end_offset == 1


def test_a_quorum_that_is_well_keeps_its_leader_and_asks_for_no_votes():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (leader,), epoch = quorum.leaders, quorum.states[1].role.epoch
    asked = sum(isinstance(request, VoteRequest) for request in quorum.requests)
    quorum.run_for(20 * SECOND)
    assert quorum.leaders == [leader]
    assert quorum.states[1].role.epoch == epoch
    assert sum(isinstance(request, VoteRequest) for request in quorum.requests) == asked


def test_what_a_leader_appends_is_committed_everywhere():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (leader,) = quorum.leaders
    epoch = quorum.states[leader].role.epoch
    quorum.do(leader, PrepareAppend, epoch=epoch, values=(b"one", b"two"))
    quorum.do(leader, ScheduleAppend)
    quorum.run(lambda: all(s.high_watermark == 3 for s in quorum.states.values()))
    logs = [[batch.raw for batch in state.log.batches()] for state in quorum.states.values()]
    assert logs[0] == logs[1] == logs[2]
    assert len(logs[0]) == 2


def test_when_the_leader_is_gone_the_others_elect_one_in_a_later_epoch():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (gone,), epoch = quorum.leaders, quorum.states[1].role.epoch
    quorum.stop(gone)
    quorum.run(quorum.all_follow)
    assert quorum.leaders != [gone]
    assert quorum.states[quorum.leaders[0]].role.epoch > epoch


def test_a_leader_that_restarts_follows_or_leads_a_later_epoch():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (again,), epoch = quorum.leaders, quorum.states[1].role.epoch
    quorum.stop(again)
    quorum.restart(again)
    assert quorum.files[again] == (epoch, again, None)
    quorum.run(quorum.all_follow)
    assert quorum.states[again].role.epoch > epoch


def test_a_quorum_that_restarts_as_a_whole_elects_a_leader_again():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    epoch = quorum.states[1].role.epoch
    for node in (1, 2, 3):
        quorum.stop(node)
    for node in (1, 2, 3):
        quorum.restart(node)
    quorum.run(quorum.all_follow)
    assert quorum.states[1].role.epoch > epoch
    assert quorum.states[1].high_watermark == 2


def test_a_leader_alone_resigns_and_leads_no_more():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (leader,) = quorum.leaders
    for node in {1, 2, 3} - {leader}:
        quorum.stop(node)
    quorum.run(lambda: quorum.leaders == [])
    quorum.run_for(20 * SECOND)
    assert quorum.leaders == []


def test_a_leader_that_resigns_is_followed_by_a_successor_soon():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (leader,), before = quorum.leaders, quorum.now
    quorum.do(leader, ResignRequested, epoch=quorum.states[leader].role.epoch)
    quorum.run(lambda: quorum.leaders not in ([leader], []))
    assert quorum.now - before < SECOND


def test_a_leader_that_shuts_down_ends_when_another_leads():
    quorum = Quorum(1, 2, 3)
    quorum.run(quorum.all_follow)
    (leader,) = quorum.leaders
    quorum.do(leader, ShutdownRequested, timeout=60 * SECOND)
    quorum.run(lambda: quorum.ended != [])
    assert quorum.ended == [(leader, True)]
    assert quorum.leaders not in ([leader], [])


def test_the_same_chance_makes_the_same_run():
    runs = []
    for _ in range(2):
        quorum = Quorum(1, 2, 3)
        quorum.run(quorum.all_follow)
        runs.append((quorum.now, quorum.requests, quorum.states))
    assert runs[0] == runs[1]
