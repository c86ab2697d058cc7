"""Fetching, as a leader sees it: every answer there is, who waits, and who is heard."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    begin,
    directory,
    key,
    log_of,
    replica,
    unattached,
    vote,
)
from tests.kraft.raft.replication import (
    WAIT,
    Driven,
    at,
    fetch,
    following,
    leading,
    log_from,
    snapshot,
)

from kraft.errors import ErrorCode
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import FlushLog, SendResponse, WriteQuorumState
from kraft.raft.events import PrepareAppend, ResignRequested, ScheduleAppend
from kraft.raft.roles import Follower, Leader, Resigned
from kraft.rpc.fetch import FetchResponse
from kraft.rpc.quorum_epoch import BeginQuorumEpochRequest, EndQuorumEpochRequest

EPOCHS = (1, 1, 1, 3, 3, 3, EPOCH, EPOCH, EPOCH)
"""The leader's log of S56, in its epochs 1, 3 and 5."""


def raw(log, start=0):
    return b"".join(each.raw for each in log.batches() if each.base_offset >= start)


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (EPOCH + 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (EPOCH - 1, ErrorCode.FENCED_LEADER_EPOCH),
    ],
)
@pytest.mark.parametrize("role", [leading, following])
def test_s54_a_fetch_of_another_epoch_is_refused(role, epoch, error):
    driven = role(log_of(1, 1))
    who = driven.role.leader_id
    before = driven.state
    assert driven.request(fetch(1, 1, epoch=epoch)) == FetchResponse(error, EPOCH, who)
    assert driven.state == before


def test_s54_who_does_not_lead_refuses_a_fetch_and_names_the_leader():
    driven = following(log_of(1), leader=3)
    refused = FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, 3)
    assert driven.request(fetch(1, 1)) == refused
    driven = Driven(replica(unattached(), log=log_of(1)))
    refused = FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, None)
    assert driven.request(fetch(1, 1)) == refused


@pytest.mark.parametrize(
    "nonsense",
    [fetch(-1), fetch(1, -1), fetch(1, wait=-1), fetch(1, EPOCH + 1), fetch(1, 3, epoch=2)],
)
def test_s55_a_fetch_that_makes_no_sense_is_invalid(nonsense):
    driven = leading(log_of(EPOCH))
    before = driven.state
    assert driven.request(nonsense).error_code == ErrorCode.INVALID_REQUEST
    assert driven.state == before


def test_s55_a_fetch_in_the_leaders_own_name_is_not_answered_with_records():
    driven = leading(log_of(EPOCH))
    refused = driven.request(fetch(0, 0, sender=1), sender=1)
    assert refused == FetchResponse(ErrorCode.UNKNOWN_SERVER_ERROR, EPOCH, 1)


def test_s32_a_fetch_of_another_cluster_is_refused_and_of_none_is_not():
    driven = leading(log_of(EPOCH))
    for wrong in ("", "another"):
        answer = driven.request(fetch(0, 0, cluster_id=wrong))
        assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    assert driven.request(fetch(0, 0, cluster_id=None)).records


def test_s56_a_fetch_that_diverges_is_told_at_once_where_its_last_epoch_ends():
    driven = leading(log_of(*EPOCHS))
    answer = driven.request(fetch(6, 2))
    assert answer == FetchResponse(ErrorCode.NONE, EPOCH, 1, log_start_offset=0, diverging=at(3, 1))
    assert not driven.role.parked


@pytest.mark.parametrize(
    ("offset", "last_epoch", "end"),
    [
        (3, 1, None),
        (2, 1, None),
        (4, 1, at(3, 1)),
        (3, 2, at(3, 1)),
        (6, 3, None),
        (7, 4, at(6, 3)),
        (10, EPOCH, at(9, EPOCH)),
        (9, EPOCH, None),
        (0, 0, None),
        (1, 0, at(0, 0)),
    ],
)
def test_s56_a_fetch_agrees_if_its_last_epoch_reaches_so_far_here(offset, last_epoch, end):
    driven = leading(log_of(*EPOCHS))
    answer = driven.request(fetch(offset, last_epoch, wait=0))
    assert answer.diverging == end
    assert answer.records == (b"" if end else raw(driven.state.log, offset))


def test_an_answer_has_whole_batches_within_the_smaller_limit_and_one_at_least():
    driven = leading(log_of(*EPOCHS), maximum_fetch_bytes=200)
    two = b"".join(each.raw for each in list(driven.state.log.batches())[3:5])
    assert len(two) <= 200
    assert driven.request(fetch(3, 1)).records == two
    assert driven.request(fetch(3, 1, maximum_bytes=1)).records == two[: len(two) // 2]


@pytest.mark.parametrize("request_of", [fetch(9, 4), fetch(1, 4), fetch(0, 0)])
def test_s60_a_fetch_that_diverges_or_needs_a_snapshot_is_not_noted(request_of):
    log = log_from(snapshot(3, 1), EPOCH, EPOCH)
    driven = leading(log, high_watermark=4, ends={2: 4, 3: 4}, epoch_start=3)
    before = driven.state
    answer = driven.request(request_of)
    assert (answer.diverging is None) != (answer.snapshot_id is None)
    assert answer.high_watermark == -1
    assert driven.state == before


def append(driven, *values):
    """Let the leader append these values; return the effects of the Poll that does so."""
    driven.event(PrepareAppend, epoch=EPOCH, values=values)
    driven.event(ScheduleAppend)
    driven.wait(TIMEOUTS.append_linger)
    return driven.poll()


def test_s61_a_fetch_with_nothing_new_waits_and_is_answered_before_the_flush():
    driven = leading(log_of(EPOCH), high_watermark=1, ends={2: 1, 3: 1})
    assert driven.request(fetch(1)) is None
    assert driven.request(fetch(1, sender=3), sender=3) is None
    (appended,) = append(driven, b"x")
    answers = [driven.poll(), driven.poll()]
    for effects, node in zip(answers, (2, 3), strict=True):
        (answer,) = effects
        assert answer.source.node_id == node
        assert answer.response.records == appended.batches[0].raw
    assert driven.poll() == (FlushLog(),)
    assert not driven.role.must_flush
    assert not driven.role.parked


def test_s61_a_fetch_that_waits_too_long_gets_no_records():
    driven = leading(log_of(EPOCH), high_watermark=1)
    assert driven.request(fetch(1)) is None
    assert driven.next_deadline() == NOW + WAIT * MILLISECOND
    driven.wait(WAIT * MILLISECOND - 1)
    assert driven.poll() == ()
    driven.wait(1)
    (answer,) = driven.poll()
    assert answer.response == FetchResponse(ErrorCode.NONE, EPOCH, 1, 1, 0, b"")
    assert not driven.role.parked


def test_s61_a_fetch_that_may_not_wait_is_answered_at_once():
    driven = leading(log_of(EPOCH), high_watermark=1)
    assert driven.request(fetch(1, wait=0)) == FetchResponse(ErrorCode.NONE, EPOCH, 1, 1, 0)


def test_s61_a_leader_that_resigns_refuses_the_fetches_that_wait():
    driven = leading(log_of(EPOCH), high_watermark=1)
    driven.request(fetch(1))
    driven.event(ResignRequested, epoch=EPOCH)
    driven.poll()
    assert isinstance(driven.role, Resigned)
    refused = FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, 1)
    assert [each.response for each in driven.of(SendResponse)] == [refused]
    assert driven.order()[0] == "SendResponse"


def test_s61_a_deposed_leader_fences_the_fetches_that_wait_once_the_epoch_is_written():
    driven = leading(log_of(EPOCH), high_watermark=1)
    driven.request(fetch(1, sender=3), sender=3)
    driven.request(begin(EPOCH + 1, leader=2))
    assert isinstance(driven.role, Follower)
    assert driven.effects[0] == WriteQuorumState(EPOCH + 1, 2, None, 0)
    refused = FetchResponse(ErrorCode.FENCED_LEADER_EPOCH, EPOCH + 1, 2)
    assert driven.of(SendResponse)[0].response == refused
    driven = leading(log_of(EPOCH), high_watermark=1)
    driven.request(fetch(1, sender=3), sender=3)
    driven.request(vote(EPOCH + 1, end=(1, EPOCH)))
    assert driven.order()[:2] == ["WriteQuorumState", "SendResponse"]
    refused = FetchResponse(ErrorCode.FENCED_LEADER_EPOCH, EPOCH + 1, None)
    assert driven.of(SendResponse)[0].response == refused


def test_kip1166_a_fetch_of_who_knows_less_to_be_committed_is_answered_at_once():
    driven = leading(log_of(EPOCH, EPOCH), high_watermark=2)
    for known in (-1, 1):
        assert driven.request(fetch(2, high_watermark=known)).high_watermark == 2
    assert driven.request(fetch(2, high_watermark=2)) is None


def test_kip1166_what_another_fetch_commits_is_news_to_those_that_wait():
    driven = leading(log_of(EPOCH, EPOCH), high_watermark=1, ends={2: 1, 3: 1}, voters=(1, 2, 3, 4))
    assert driven.request(fetch(2, high_watermark=1)) is None
    driven.request(fetch(2, sender=3, high_watermark=1), sender=3)
    assert driven.state.high_watermark == 2
    assert driven.next_deadline() == 0
    (answer,) = driven.poll()
    assert (answer.source.node_id, answer.response.high_watermark) == (2, 2)
    assert answer.response.records == b""


def test_s37_a_voter_that_fetches_is_not_told_who_leads_and_one_that_does_not_is_in_time():
    driven = leading(log_of(EPOCH), high_watermark=1)
    driven.wait(TIMEOUTS.begin_quorum_epoch // 2)
    driven.request(fetch(1))
    driven.wait(TIMEOUTS.begin_quorum_epoch - TIMEOUTS.begin_quorum_epoch // 2)
    driven.settle()
    assert [node for node, _ in driven.sent(BeginQuorumEpochRequest)] == [3]
    driven.settle()
    assert driven.effects == ()
    driven.wait(TIMEOUTS.begin_quorum_epoch)
    driven.settle()
    told = [node for node, _ in driven.sent(BeginQuorumEpochRequest)]
    assert told == [2]  # The request to node 3 is under way still.


def test_s46_a_leader_that_no_majority_fetches_from_resigns_and_says_so():
    driven = leading(log_of(EPOCH), voters=(1, 2, 3, 4, 5), check_quorum_deadline=NOW + 10)
    driven.request(fetch(1, sender=2))
    driven.request(fetch(1, sender=2))
    driven.request(fetch(1, sender=9), sender=9)
    driven.request(fetch(1, sender=3, disk=directory(3, 9)), sender=3)
    assert driven.next_deadline() == NOW + 10
    driven.wait(10)
    driven.poll()
    assert isinstance(driven.role, Resigned)
    assert [node for node, _ in driven.sent(EndQuorumEpochRequest)] == [2, 3, 4, 5]
    assert driven.role.preferred_successors == (key(2), key(3), key(4), key(5))


def test_s46_a_majority_that_fetched_lets_a_leader_lead_on():
    driven = leading(log_of(EPOCH), voters=(1, 2, 3, 4, 5), check_quorum_deadline=NOW + 10)
    driven.wait(4)
    driven.request(fetch(1, sender=2))
    assert driven.role.fetched == {2}
    driven.request(fetch(1, sender=3), sender=3)
    assert driven.role.fetched == frozenset()
    assert driven.role.check_quorum_deadline == NOW + 4 + TIMEOUTS.check_quorum


def test_s47_a_sole_voter_never_resigns_for_want_of_fetches():
    driven = leading(log_of(EPOCH), voters=(1,), check_quorum_deadline=NOW)
    driven.wait(10 * TIMEOUTS.check_quorum)
    assert driven.poll() == ()
    assert isinstance(driven.role, Leader)


def test_s47_a_leader_that_is_no_voter_needs_a_whole_majority_of_the_others():
    driven = leading(log_of(EPOCH), voters=(2, 3, 4), check_quorum_deadline=NOW + 10)
    driven.request(fetch(1, sender=2))
    assert driven.role.check_quorum_deadline == NOW + 10
    driven.request(fetch(1, sender=3), sender=3)
    assert driven.role.check_quorum_deadline == NOW + TIMEOUTS.check_quorum
