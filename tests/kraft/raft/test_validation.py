"""What a request must be before it is looked into, and what every answer tells of its epoch."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    CHANCE,
    CLUSTER_ID,
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    begin_answer,
    candidate,
    directory,
    end_answer,
    endpoints,
    follower,
    key,
    leader,
    log_of,
    prospective,
    replica,
    resigned,
    unattached,
    voted_answer,
)

from kraft.errors import ErrorCode
from kraft.raft.events import ShutdownRequested
from kraft.raft.roles import Follower, Unattached
from kraft.raft.turn import Turn
from kraft.raft.validation import (
    cluster_id_is_valid,
    is_addressed,
    leader_only_error,
    voter_only_error,
)


def a_turn(role=None, **fields):
    return Turn.begin(replica(role or unattached(), **fields), NOW, CHANCE)


@pytest.mark.parametrize(
    ("cluster_id", "valid"), [(None, True), (CLUSTER_ID, True), ("", False), ("other", False)]
)
def test_a_cluster_id_is_this_one_or_none_at_all(cluster_id, valid):
    assert cluster_id_is_valid(a_turn(), cluster_id) is valid


@pytest.mark.parametrize(
    ("voter_id", "disk", "addressed"),
    [
        (1, directory(1), True),
        (1, None, True),
        (-1, directory(2), True),
        (1, directory(1, disk=1), False),
        (2, directory(1), False),
    ],
    ids=["itself", "any-disk", "anybody", "other-disk", "other-node"],
)
def test_a_request_is_for_the_node_and_the_disk_it_names(voter_id, disk, addressed):
    assert is_addressed(a_turn(), voter_id, disk) is addressed


def test_nobody_who_has_no_id_is_addressed_by_one():
    assert not is_addressed(a_turn(node=None), 1, None)


@pytest.mark.parametrize(
    ("role", "epoch", "error"),
    [
        (leader(), EPOCH - 1, ErrorCode.FENCED_LEADER_EPOCH),
        (leader(), EPOCH + 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (leader(), EPOCH, ErrorCode.NONE),
        (follower(), EPOCH - 1, ErrorCode.FENCED_LEADER_EPOCH),
        (follower(), EPOCH + 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (follower(), EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (resigned(), EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (candidate(), EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_only_the_leader_of_an_epoch_takes_what_is_for_it_and_the_epoch_comes_first(
    role, epoch, error
):
    assert leader_only_error(a_turn(role), epoch) == error


def test_a_leader_that_is_shutting_down_is_not_available():
    one = Replica(replica(leader()))
    one.event(ShutdownRequested, timeout=TIMEOUTS.request)
    turn = Turn.begin(one.state, NOW, CHANCE)
    assert leader_only_error(turn, EPOCH) == ErrorCode.BROKER_NOT_AVAILABLE
    assert leader_only_error(turn, EPOCH - 1) == ErrorCode.FENCED_LEADER_EPOCH


def test_an_old_epoch_is_fenced_before_the_sender_is_looked_at():
    assert voter_only_error(a_turn(), -1, EPOCH - 1) == ErrorCode.FENCED_LEADER_EPOCH
    assert voter_only_error(a_turn(), -1, EPOCH) == ErrorCode.INVALID_REQUEST
    assert voter_only_error(a_turn(), 0, EPOCH + 1) == ErrorCode.NONE


ROLES = [unattached(), prospective(), candidate(), leader(), follower(), resigned()]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: type(role).__name__)
@pytest.mark.parametrize(
    "answer", [begin_answer, end_answer, voted_answer], ids=["begin", "end", "vote"]
)
def test_an_answer_of_a_later_epoch_makes_a_transition_whatever_else_it_says(role, answer):
    one = Replica(replica(role, log=log_of(1))).asks(2, 3)
    one.answer(2, answer(EPOCH + 2, leader=3, error=ErrorCode.NONE))
    assert isinstance(one.role, Follower)
    assert one.written() == [(EPOCH + 2, 3, None)]
    assert one.role.leader_endpoints == endpoints(3)
    assert not one.state.connections


@pytest.mark.parametrize("role", ROLES, ids=lambda role: type(role).__name__)
def test_an_answer_of_a_later_epoch_without_a_leader_leaves_it_unattached(role):
    one = Replica(replica(role)).asks(2, 3)
    one.answer(2, begin_answer(EPOCH + 2, leader=None, error=ErrorCode.FENCED_LEADER_EPOCH))
    assert isinstance(one.role, Unattached)
    assert one.written() == [(EPOCH + 2, None, None)]


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (EPOCH - 1, ErrorCode.NONE),
        (EPOCH - 1, ErrorCode.INVALID_REQUEST),
        (EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (EPOCH, ErrorCode.INVALID_VOTER_KEY),
        (EPOCH, ErrorCode.FENCED_LEADER_EPOCH),
        (EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_an_answer_that_says_nothing_new_is_ignored_and_the_node_may_be_asked_again(epoch, error):
    one = Replica(replica(candidate())).asks(2)
    one.answer(2, voted_answer(epoch, granted=False, error=error))
    assert one.role == candidate()
    assert not one.state.connections
    assert one.effects == ()


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.INCONSISTENT_CLUSTER_ID,
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ],
)
def test_a_node_that_cannot_help_now_is_left_alone_for_a_while(error):
    one = Replica(replica(candidate())).asks(2)
    one.answer(2, voted_answer(granted=False, error=error))
    assert one.role == candidate()
    assert one.state.connections[2].backoff_until == NOW + TIMEOUTS.retry_backoff


def test_a_node_that_refuses_a_request_as_a_whole_is_left_alone_for_a_while():
    for error in (ErrorCode.INVALID_REQUEST, ErrorCode.KAFKA_STORAGE_ERROR):
        one = Replica(replica(candidate())).asks(2)
        one.answer(2, voted_answer(-1, granted=False, error=error))
        assert one.role == candidate()
        assert one.state.connections[2].backoff_until == NOW + TIMEOUTS.retry_backoff


@pytest.mark.parametrize(("role", "answer"), [(leader(), begin_answer), (resigned(), end_answer)])
def test_an_error_that_is_not_expected_acknowledges_nothing(role, answer):
    one = Replica(replica(role)).asks(2)
    known = one.role
    one.answer(2, answer(error=ErrorCode.KAFKA_STORAGE_ERROR))
    assert one.role == known
    assert one.state.connections[2].backoff_until == NOW + TIMEOUTS.retry_backoff


def test_what_another_cluster_says_of_its_epoch_is_not_believed():
    one = Replica(replica(candidate())).asks(2)
    error = ErrorCode.INCONSISTENT_CLUSTER_ID
    one.answer(2, voted_answer(EPOCH + 2, granted=False, leader=3, error=error))
    assert one.role == candidate()
    assert one.effects == ()


def test_a_request_that_was_refused_as_invalid_is_fatal():
    one = Replica(replica(candidate())).asks(2)
    before = one.state
    one.answer(2, voted_answer(granted=False, error=ErrorCode.INVALID_REQUEST))
    assert one.order() == ["Fatal"]
    assert one.state == before


def test_an_answer_that_takes_this_replica_for_the_leader_of_a_later_epoch_is_fatal():
    one = Replica(replica(follower())).asks(2)
    one.answer(2, begin_answer(EPOCH + 1, leader=1))
    assert one.order() == ["Fatal"]


def test_a_leader_that_is_learnt_keeps_the_vote_of_the_epoch():
    one = Replica(replica(unattached(voted=key(3)))).asks(3)
    one.answer(3, begin_answer(leader=2, error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert one.written() == [(EPOCH, 2, key(3))]
