"""Removing a voter, which may be the leader; and what a change does to the high watermark."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import EPOCH, TIMEOUTS, Replica, follower, replica
from tests.kraft.raft.voter_leaders import (
    END,
    answers,
    appended_voters,
    asked_to_add,
    fetch,
    leading,
    of_version_zero,
    pending_add,
    pending_remove,
    remove,
    shutting_down,
    uncommitted,
    versions,
)

from kraft.errors import ErrorCode
from kraft.raft.effects import AppendLog
from kraft.raft.events import PrepareAppend, ScheduleAppend
from kraft.raft.roles import Leader, Resigned, Unattached
from kraft.rpc.fetch import FetchResponse
from kraft.rpc.quorum_epoch import EndQuorumEpochRequest


def test_s94_a_removal_is_committed_by_the_majority_of_those_who_are_left():
    led = leading(1, 2, 3)
    assert led.request(remove(3), 9) is None
    assert appended_voters(led) == [(3, (1, 2))]
    led.settle()
    fetch(led, 3, 4)
    assert (led.state.high_watermark, answers(led)) == (3, [])
    fetch(led, 2, 4)
    assert (led.state.high_watermark, answers(led)) == (4, [("NONE", 9)])
    assert led.role.resign_requested is False


def test_s94_a_removal_that_leaves_the_leader_alone_is_committed_and_answered_in_the_same_step():
    led = leading(1, 2)
    assert led.request(remove(2), 9).error_code is ErrorCode.NONE
    assert (led.state.high_watermark, led.role.pending_change) == (4, None)
    assert led.order() == ["AppendLog", "SendResponse"]
    assert [batch.base_offset for batch in led.told[0].batches] == [END]


def test_s94_a_leader_that_removed_itself_leads_on_uncounted_until_that_is_committed_then_resigns():
    led = leading(1, 2, 3)
    assert led.request(remove(1), 9) is None
    led.settle()
    assert isinstance(led.role, Leader)
    fetch(led, 2, 4)
    # It has the record, and so has one of the two voters: not a majority without the leader.
    assert led.state.high_watermark == 3
    assert isinstance(fetch(led, 3, 3), FetchResponse)
    fetch(led, 3, 4)
    assert (led.state.high_watermark, answers(led)) == (4, [("NONE", 9)])
    assert isinstance(led.role, Leader)
    led.settle()
    assert isinstance(led.role, Resigned)
    assert {node for node, _ in led.sent(EndQuorumEpochRequest)} == {2, 3}
    led.wait(2 * TIMEOUTS.election)
    led.settle()
    assert isinstance(led.role, Unattached)
    assert led.role.epoch == EPOCH + 1
    led.wait(10 * TIMEOUTS.election)
    led.settle()
    assert (led.role.epoch, type(led.role)) == (EPOCH + 1, Unattached)


@pytest.mark.parametrize(
    ("state", "request_", "error"),
    [
        (lambda: leading(1, 2, 3), remove(3, cluster_id="another"), "INCONSISTENT_CLUSTER_ID"),
        (lambda: Replica(replica(follower())), remove(3), "NOT_LEADER_OR_FOLLOWER"),
        (shutting_down, remove(3), "BROKER_NOT_AVAILABLE"),
        (lambda: leading(1, 2, 3), remove(-1), "INVALID_REQUEST"),
        (lambda: leading(1, 2, 3), remove(3, directory_id=None), "INVALID_REQUEST"),
        (pending_add, remove(3), "REQUEST_TIMED_OUT"),
        (pending_remove, remove(2), "REQUEST_TIMED_OUT"),
        (lambda: leading(1, 2, 3, high_watermark=None), remove(3), "REQUEST_TIMED_OUT"),
        (of_version_zero, remove(3), "UNSUPPORTED_VERSION"),
        (uncommitted, remove(3), "REQUEST_TIMED_OUT"),
        (lambda: leading(1, 2, 3), remove(4), "VOTER_NOT_FOUND"),
        (lambda: leading(1, 2, 3), remove(3, 1), "VOTER_NOT_FOUND"),
        (lambda: leading(1), remove(1), "VOTER_NOT_FOUND"),
        # Of two reasons Kafka's first.
        (lambda: leading(1, 2, high_watermark=None, version=0), remove(9), "REQUEST_TIMED_OUT"),
        (of_version_zero, remove(9), "UNSUPPORTED_VERSION"),
        (uncommitted, remove(9), "REQUEST_TIMED_OUT"),
        (pending_add, remove(9, directory_id=None), "INVALID_REQUEST"),
    ],
)
def test_s95_a_removal_is_refused_at_once_and_changes_nothing(state, request_, error):
    led = state()
    before = led.state
    assert led.request(request_).error_code.name == error
    assert led.of(AppendLog) == []
    assert led.state.role == before.role
    assert led.state.controls == before.controls


def test_s96_a_removal_that_takes_too_long_is_answered_so_and_stays_in_force():
    led = pending_remove()
    led.wait(TIMEOUTS.request - 1)
    led.poll()
    assert led.role.pending_change is not None
    led.wait(1)
    assert led.next_deadline() <= led.now
    led.settle()
    assert answers(led) == [("REQUEST_TIMED_OUT", 2)]
    assert led.state.controls.voters.node_ids == (1, 2)
    assert led.request(remove(2)).error_code is ErrorCode.REQUEST_TIMED_OUT
    fetch(led, 2, 4)
    assert (led.state.high_watermark, answers(led)) == (4, [])


def test_s96_a_leader_whose_own_removal_took_too_long_leads_on_when_it_is_committed():
    led = leading(1, 2, 3)
    assert led.request(remove(1)) is None
    led.settle()
    led.wait(TIMEOUTS.request)
    led.settle()
    fetch(led, 2, 4)
    fetch(led, 3, 4)
    assert led.state.high_watermark == 4
    led.settle()
    assert isinstance(led.role, Leader)
    assert not led.role.resign_requested


def with_data(*nodes, ends, high_watermark):
    """Return a leader whose log has three records after its voters: it ends at 6."""
    led = leading(*nodes, ends=ends, high_watermark=high_watermark)
    led.event(PrepareAppend, epoch=EPOCH, values=(b"a", b"b", b"c"))
    led.event(ScheduleAppend)
    led.wait(TIMEOUTS.append_linger)
    led.settle()
    assert led.state.log.end_offset == 6
    return led


def test_s94_what_was_appended_before_the_removal_does_not_commit_it():
    led = with_data(1, 2, 3, ends={2: END, 3: END}, high_watermark=END)
    assert led.request(remove(3), 9) is None
    assert appended_voters(led) == [(6, (1, 2))]
    led.settle()
    fetch(led, 2, 6)
    assert (led.state.high_watermark, answers(led)) == (6, [])
    fetch(led, 2, 7)
    assert (led.state.high_watermark, answers(led)) == (7, [("NONE", 9)])


def test_s97_a_new_voter_that_is_ahead_of_the_others_may_raise_the_high_watermark():
    led = asked_to_add(with_data(1, 2, ends={2: END, 4: END}, high_watermark=END))
    fetch(led, 4, 6)
    assert led.state.high_watermark == END
    led.answer(4, versions())
    assert led.state.high_watermark == 6
    assert led.told[0].batches[-1].end_offset == 6
    # Not so far as the record of the new voter itself, which has the offset 6.
    assert answers(led) == []


def test_s97_neither_a_new_voter_that_lags_nor_a_leader_that_leaves_lowers_the_high_watermark():
    led = asked_to_add(with_data(1, ends={4: END}, high_watermark=END))
    assert led.state.high_watermark == 6
    led.answer(4, versions())
    assert appended_voters(led) == [(6, (1, 4))]
    assert led.state.high_watermark == 6
    led = with_data(1, 2, 3, ends={2: END, 3: END}, high_watermark=END)
    fetch(led, 2, 6)
    assert led.state.high_watermark == 6
    assert led.request(remove(1)) is None
    assert (led.state.high_watermark, led.state.controls.voters.node_ids) == (6, (2, 3))
