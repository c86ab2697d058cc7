"""One request at a time to each node, and how it is given up."""

from __future__ import annotations

from tests.kraft.raft.replicas import CHANCE, NOW, TIMEOUTS, leader, replica, unattached, vote

from kraft.raft import connections
from kraft.raft.effects import SendRequest
from kraft.raft.roles import NEVER
from kraft.raft.turn import Turn


def a_turn(now=NOW, state=None):
    return Turn.begin(replica(unattached()) if state is None else state, now, CHANCE)


def at(turn, now):
    return Turn.begin(turn.step().state, now, CHANCE)


def test_a_node_is_asked_one_thing_at_a_time():
    turn = a_turn()
    assert connections.can_send(turn, 2)
    connections.send(turn, 2, vote())
    assert not connections.can_send(turn, 2)
    assert connections.can_send(turn, 3)
    assert not connections.nothing_under_way(turn)


def test_requests_are_numbered_and_no_number_comes_twice():
    turn = a_turn()
    connections.send(turn, 2, vote())
    connections.send(turn, 3, vote())
    connections.reset_all(turn)
    connections.send(turn, 2, vote())
    assert [effect.correlation_id for effect in turn.effects] == [0, 1, 2]
    assert [effect.destination for effect in turn.effects] == [2, 3, 2]
    assert all(isinstance(effect, SendRequest) for effect in turn.effects)


def test_an_answer_frees_the_connection_and_counts_once():
    turn = a_turn()
    connections.send(turn, 2, vote())
    assert not connections.received(turn, 2, 1, ok=True)
    assert not connections.received(turn, 3, 0, ok=True)
    assert connections.received(turn, 2, 0, ok=True)
    assert connections.can_send(turn, 2)
    assert not connections.received(turn, 2, 0, ok=True)


def test_after_a_failure_the_node_is_left_alone_for_a_while():
    turn = a_turn()
    connections.send(turn, 2, vote())
    assert connections.received(turn, 2, 0, ok=False)
    assert connections.nothing_under_way(turn)
    assert not connections.can_send(turn, 2)
    assert not connections.can_send(at(turn, NOW + TIMEOUTS.retry_backoff - 1), 2)
    assert connections.can_send(at(turn, NOW + TIMEOUTS.retry_backoff), 2)
    assert connections.ready_at(turn.step().state, 2) == NOW + TIMEOUTS.retry_backoff


def test_a_request_is_given_up_when_its_time_is_over_the_oldest_first():
    turn = a_turn()
    connections.send(turn, 3, vote())
    turn = at(turn, NOW + 1)
    connections.send(turn, 2, vote())
    state = turn.step().state
    assert connections.next_connection_deadline(state) == NOW + TIMEOUTS.request
    assert not connections.expire_first(a_turn(NOW + TIMEOUTS.request - 1, state))
    turn = a_turn(NOW + TIMEOUTS.request + 1, state)
    assert connections.expire_first(turn)
    assert turn.connections[3].correlation_id is None
    assert turn.connections[2].correlation_id == 1
    assert connections.expire_first(turn)
    assert not connections.expire_first(turn)
    assert connections.nothing_under_way(turn)
    assert connections.next_connection_deadline(turn.step().state) == NEVER


def test_an_answer_to_a_request_that_was_given_up_finds_nobody():
    turn = a_turn()
    connections.send(turn, 2, vote())
    turn = at(turn, NOW + TIMEOUTS.request)
    connections.expire_first(turn)
    assert not connections.received(turn, 2, 0, ok=True)


def test_a_new_request_is_not_answered_by_the_answer_to_the_last():
    turn = a_turn()
    connections.send(turn, 2, vote())
    connections.reset_all(turn)
    connections.send(turn, 2, vote())
    assert not connections.received(turn, 2, 0, ok=True)
    assert connections.received(turn, 2, 1, ok=True)


def test_a_node_without_a_connection_is_ready_at_once():
    assert connections.ready_at(replica(leader()), 2) == 0
