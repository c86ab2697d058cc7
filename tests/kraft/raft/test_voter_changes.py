"""Adding a voter: every refusal in its order, and the answer when the change is committed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.raft.majorities import overlap
from tests.kraft.raft.replicas import (
    CLUSTER_ID,
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    begin,
    candidate,
    endpoints,
    follower,
    key,
    leader,
    prospective,
    replica,
    resigned,
    unattached,
    vote,
    voter_set,
)
from tests.kraft.raft.voter_leaders import (
    CAUGHT_UP,
    END,
    add,
    answers,
    appended_voters,
    asked_to_add,
    fetch,
    knows,
    leading,
    of_version_zero,
    pending_add,
    pending_remove,
    remove,
    shutting_down,
    uncommitted,
    update,
    versions,
)

from kraft.errors import ErrorCode
from kraft.ids import ZERO_UUID, NodeId
from kraft.raft.effects import AppendLog
from kraft.raft.events import PrepareAppend
from kraft.raft.roles import Leader, Resigned
from kraft.rpc.endpoints import Endpoint
from kraft.rpc.raft_voters import AddRaftVoterResponse, ApiVersionsRequest, ApiVersionsResponse


def test_s91_a_caught_up_observer_is_asked_added_at_once_and_answered_for_when_it_is_committed():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP))
    assert led.sent() == [(4, ApiVersionsRequest())]
    assert led.state.controls.voters == voter_set(1, 2, 3)
    led.answer(4, versions())
    # It counts from the append on: four voters have a majority of three.
    assert appended_voters(led) == [(3, (1, 2, 3, 4))]
    assert led.state.controls.voters.node_ids == (1, 2, 3, 4)
    assert answers(led) == []
    led.settle()
    fetch(led, 2, 4)
    assert (led.state.high_watermark, answers(led)) == (3, [])
    fetch(led, 4, 4)
    assert (led.state.high_watermark, answers(led)) == (4, [("NONE", 9)])
    assert led.role.pending_change is None


def test_s91_the_new_voter_is_written_with_its_endpoints_and_the_versions_that_it_says():
    listeners = (*endpoints(4), Endpoint("OTHER", "else", 1))
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP), add(listeners=listeners))
    led.answer(4, versions(minimum=1, maximum=7))
    voter = led.state.controls.voters.get(4)
    assert (voter.key, voter.endpoints) == (key(4), listeners)
    assert (voter.minimum_version, voter.maximum_version) == (1, 7)


def test_s91_the_record_is_in_the_log_before_anything_is_said_and_flushed_before_the_next_message():
    led = asked_to_add(leading(1, ends={4: END}))
    led.answer(4, versions())
    assert isinstance(led.effects[0], AppendLog)
    assert led.role.must_flush
    led.poll()
    assert led.order()[0] == "FlushLog"


def test_a_sole_voter_that_adds_another_still_leads_and_waits_for_its_fetches_from_then_on():
    led = leading(1, ends={4: END})
    led.state = replace(led.state, role=replace(led.role, check_quorum_deadline=NOW - 1))
    asked_to_add(led)
    led.answer(4, versions())
    led.settle()
    assert isinstance(led.role, Leader)
    assert led.role.check_quorum_deadline == NOW + TIMEOUTS.check_quorum
    led.wait(TIMEOUTS.check_quorum - 1)
    led.settle()
    assert isinstance(led.role, Leader)
    led.wait(1)
    led.settle()
    assert isinstance(led.role, Resigned)


def connecting():
    return leading(1, 2, 3, ends=CAUGHT_UP).asks(4)


OTHER_LISTENER = (Endpoint("OTHER", "else", 1),)
LONG_HOST = (Endpoint("CONTROLLER", "é" * 16_384, 1),)
"""A host that no message of Kafka can carry."""


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [
        (lambda: leading(1, 2, 3), add(cluster_id="another"), "INCONSISTENT_CLUSTER_ID"),
        (lambda: leading(1, 2, 3), add(cluster_id=""), "INCONSISTENT_CLUSTER_ID"),
        (lambda: Replica(replica(follower())), add(), "NOT_LEADER_OR_FOLLOWER"),
        (lambda: Replica(replica(resigned())), add(), "NOT_LEADER_OR_FOLLOWER"),
        (shutting_down, add(), "BROKER_NOT_AVAILABLE"),
        (lambda: leading(1, 2, 3), add(-1), "INVALID_REQUEST"),
        (lambda: leading(1, 2, 3), add(directory_id=None), "INVALID_REQUEST"),
        (lambda: leading(1, 2, 3), add(directory_id=ZERO_UUID), "INVALID_REQUEST"),
        (lambda: leading(1, 2, 3), add(listeners=()), "INVALID_REQUEST"),
        (lambda: leading(1, 2, 3), add(listeners=OTHER_LISTENER), "INVALID_REQUEST"),
        (lambda: leading(1, 2, 3), add(listeners=LONG_HOST), "INVALID_REQUEST"),
        (pending_add, add(), "REQUEST_TIMED_OUT"),
        (pending_remove, add(), "REQUEST_TIMED_OUT"),
        (lambda: leading(1, 2, 3, high_watermark=None), add(), "REQUEST_TIMED_OUT"),
        (of_version_zero, add(), "UNSUPPORTED_VERSION"),
        (uncommitted, add(), "REQUEST_TIMED_OUT"),
        (lambda: leading(1, 2, 3), add(2), "DUPLICATE_VOTER"),
        (lambda: leading(1, 2, 3), add(2, 1), "DUPLICATE_VOTER"),
        (lambda: leading(1, 2, 3), add(1), "DUPLICATE_VOTER"),
        (connecting, add(), "REQUEST_TIMED_OUT"),
    ],
)
def test_s92_an_add_is_refused_at_once_and_changes_nothing(state, request_, error):
    led = state()
    before = led.state
    assert led.request(request_).error_code.name == error
    assert led.of(AppendLog) == []
    assert led.sent() == []
    assert led.state.role == before.role
    assert led.state.controls == before.controls


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [
        # Each pair breaks two rules; the one that Kafka looks at first is told.
        (lambda: Replica(replica(follower())), add(cluster_id="x"), "INCONSISTENT_CLUSTER_ID"),
        (lambda: Replica(replica(follower())), add(-1), "NOT_LEADER_OR_FOLLOWER"),
        (pending_add, add(listeners=()), "INVALID_REQUEST"),
        (lambda: leading(1, 2, version=0, high_watermark=None), add(), "REQUEST_TIMED_OUT"),
        (lambda: leading(1, 2, version=0), add(2), "UNSUPPORTED_VERSION"),
        (uncommitted, add(2), "REQUEST_TIMED_OUT"),
        (lambda: connecting().asks(2), add(2), "DUPLICATE_VOTER"),
    ],
)
def test_s92_of_two_reasons_to_refuse_an_add_kafkas_first_is_told(state, request_, error):
    assert state().request(request_).error_code.name == error


@pytest.mark.parametrize(
    ("led", "answer", "error"),
    [
        (leading(1, 2, 3), versions(), "REQUEST_TIMED_OUT"),
        (knows(leading(1, 2, 3), last_caught_up_time=-1), versions(), "REQUEST_TIMED_OUT"),
        (leading(1, 2, 3, ends=CAUGHT_UP), versions(minimum=0, maximum=0), "INVALID_REQUEST"),
        (leading(1, 2, 3, ends=CAUGHT_UP), versions(minimum=2, maximum=3), "INVALID_REQUEST"),
        (leading(1, 2, 3), versions(minimum=2, maximum=3), "INVALID_REQUEST"),
    ],
)
def test_s92_an_add_is_given_up_if_the_new_voter_lags_or_supports_other_versions(
    led, answer, error
):
    asked_to_add(led).answer(4, answer)
    assert answers(led) == [(error, 9)]
    assert led.of(AppendLog) == []
    assert led.role.pending_change is None


@pytest.mark.parametrize(("spare", "nodes"), [(1, [(3, (1, 2, 3, 4))]), (0, [])])
def test_s92_a_replica_that_caught_up_once_and_fetched_within_the_hour_counts_as_caught_up(
    spare, nodes
):
    led = knows(leading(1, 2, 3), end_offset=1)
    led.wait(TIMEOUTS.caught_up_window - spare)
    asked_to_add(led).answer(4, versions())
    assert appended_voters(led) == nodes


def test_s92_another_disk_of_the_node_that_has_caught_up_does_not_count_for_the_one_to_be_added():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP), add(4, 1))
    led.answer(4, versions())
    assert answers(led) == [("REQUEST_TIMED_OUT", 9)]


def test_s93_versions_from_another_node_are_not_those_of_the_new_voter():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP)).asks(5)
    pending = led.role.pending_change
    led.answer(5, versions())
    assert (led.role.pending_change, led.effects) == (pending, ())


def test_s93_versions_that_nobody_waits_for_change_nothing():
    led = leading(1, 2, 3, ends=CAUGHT_UP)
    before = led.state
    led.answer(4, versions(), correlation_id=77)
    assert (led.state, led.effects) == (before, ())
    asked_to_add(led).answer(4, versions())
    before = led.settle() and led.state
    led.answer(4, versions(), correlation_id=0)
    assert (led.state, led.effects) == (before, ())


def test_s93_an_error_instead_of_versions_ends_the_add_and_the_node_is_left_alone_for_a_while():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP))
    led.answer(4, versions(ErrorCode.UNSUPPORTED_VERSION))
    assert answers(led) == [("REQUEST_TIMED_OUT", 9)]
    assert led.request(add()).error_code is ErrorCode.REQUEST_TIMED_OUT
    led.wait(TIMEOUTS.retry_backoff)
    asked_to_add(led)


def test_s93_an_add_that_the_new_voter_does_not_answer_is_given_up_with_the_request_to_it():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP))
    assert led.next_deadline() <= NOW + TIMEOUTS.request
    led.wait(TIMEOUTS.request)
    led.poll()
    # First the request is given up, which is a step of its own; until then the change is pending.
    assert answers(led) == []
    assert led.request(add(5)).error_code is ErrorCode.REQUEST_TIMED_OUT
    led.settle()
    assert answers(led) == [("REQUEST_TIMED_OUT", 9)]
    led.answer(4, versions(), correlation_id=0)
    assert led.effects == ()


def test_s93_the_answer_to_a_request_that_was_given_up_does_not_count_for_the_next_one():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP))
    led.wait(TIMEOUTS.request)
    led.settle()
    led.wait(TIMEOUTS.retry_backoff)
    asked_to_add(led)
    before = led.state
    led.answer(4, versions(ErrorCode.UNSUPPORTED_VERSION), correlation_id=0)
    assert (led.state, led.effects) == (before, ())


def test_s93_a_second_answer_of_the_new_voter_adds_nothing_and_ends_nothing():
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP))
    led.answer(4, versions())
    led.settle()
    pending = led.role.pending_change
    led.asks(4).answer(4, versions())
    assert (led.role.pending_change, led.effects) == (pending, ())


@pytest.mark.parametrize(
    "message", [vote(EPOCH + 1), begin(EPOCH + 1)], ids=["unattached", "follower"]
)
def test_s93_an_add_of_one_who_leads_no_more_is_answered_so(message):
    led = asked_to_add(leading(1, 2, 3, ends=CAUGHT_UP))
    led.request(message, 2)
    assert answers(led) == [("NOT_LEADER_OR_FOLLOWER", 9)]
    led.answer(4, versions(), correlation_id=0)
    assert led.effects == ()


def test_s98_each_change_that_a_leader_makes_leaves_majorities_that_meet():
    for change in (add(), remove(3), remove(1), update(2), update(1)):
        led = leading(1, 2, 3, ends=CAUGHT_UP)
        before = led.state.controls.voters
        led.request(change)
        if led.role.pending_change is not None and led.role.pending_change.kind == "add":
            led.answer(4, versions())
        after = led.state.controls.voters
        assert after != before
        assert overlap(before, after)


def test_the_record_of_the_voters_comes_after_what_the_state_machine_has_prepared():
    led = leading(1, 2, 3)
    end = led.state.log.end_offset
    led.event(PrepareAppend, epoch=EPOCH, values=(b"a", b"b"))
    assert led.request(remove(3)) is None
    prepared, voters = (effect.batches[0] for effect in led.of(AppendLog))
    assert (prepared.base_offset, prepared.values) == (end, (b"a", b"b"))
    assert (voters.base_offset, len(voters.controls)) == (end + 2, 1)
    led.settle()
    led.wait(TIMEOUTS.append_linger)
    led.settle()
    assert led.of(AppendLog) == [], "nothing is appended twice"


def test_a_leader_that_has_left_is_not_added_by_asking_itself():
    led = leading(1, 2, 3)
    led.state = replace(led.state, controls=leading(1, voters=voter_set(2, 3)).state.controls)
    assert led.request(add(1)).error_code is ErrorCode.REQUEST_TIMED_OUT
    assert led.sent() == []


@pytest.mark.parametrize(
    "role", [unattached(), prospective(), candidate(), follower(), leader(), resigned()]
)
def test_a_replica_says_which_versions_it_supports_whatever_its_role(role):
    asked = Replica(replica(role, minimum_version=1, maximum_version=4))
    before = asked.state
    assert asked.request(ApiVersionsRequest()) == ApiVersionsResponse(ErrorCode.NONE, 1, 4)
    assert asked.state == before


def test_a_message_tells_people_why():
    answer = leading(1, 2, 3).request(add(2))
    assert answer == AddRaftVoterResponse(ErrorCode.DUPLICATE_VOTER, "node 2 is a voter already")
    assert CLUSTER_ID not in (answer.error_message or "")
    assert leading(1, 2, 3).request(remove(NodeId(7))).error_message == (
        "node 7 is no voter, or the only one"
    )
