"""Who gets a vote, and what giving it changes (S18 to S29)."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    Replica,
    candidate,
    directory,
    follower,
    key,
    leader,
    log_of,
    name_of_role,
    prospective,
    replica,
    resigned,
    unattached,
    vote,
    voted_answer,
)

from kraft.errors import ErrorCode
from kraft.raft.effects import AppendLog, Fatal
from kraft.raft.roles import NEVER, Candidate, Prospective, Unattached
from kraft.rpc.vote import VoteRequest


def test_s18_a_follower_gives_no_vote_in_its_leaders_epoch():
    one = Replica(replica(follower()))
    before = one.state
    answer = one.request(vote(sender=3, end=(9, 4)), sender=3)
    assert (answer.error_code, answer.epoch, answer.leader_id, answer.vote_granted) == (
        ErrorCode.NONE,
        EPOCH,
        2,
        False,
    )
    assert one.state == before
    assert one.order() == ["SendResponse"]


def test_s18_a_follower_votes_in_a_later_epoch_and_knows_no_leader_there():
    one = Replica(replica(follower(has_fetched=True), log=log_of(1, 4)))
    answer = one.request(vote(EPOCH + 1, sender=3, end=(2, 4)), sender=3)
    assert (answer.epoch, answer.leader_id, answer.vote_granted) == (EPOCH + 1, None, True)
    assert one.order() == ["WriteQuorumState", "SendResponse"]
    assert one.written() == [(EPOCH + 1, None, key(3))]
    assert isinstance(one.role, Unattached)


@pytest.mark.parametrize(
    ("end_of_log", "granted"),
    [
        ((2, 4), True),
        ((3, 4), True),
        ((1, 4), False),
        ((9, 3), False),
        ((1, 5), True),
        ((0, 0), False),
    ],
    ids=["equal", "longer", "shorter", "older-and-longer", "newer-and-shorter", "empty"],
)
def test_s19_s20_a_vote_needs_a_log_no_worse_by_epoch_first(end_of_log, granted):
    one = Replica(replica(unattached(6), log=log_of(1, 4)))
    answer = one.request(vote(6, end=end_of_log))
    assert answer.vote_granted is granted
    assert one.written() == ([(6, None, key(2))] if granted else [])
    assert one.voted == (key(2) if granted else None)


def test_s19_a_vote_is_on_the_disk_before_it_is_told():
    one = Replica(replica(unattached()))
    one.request(vote())
    assert one.order() == ["WriteQuorumState", "SendResponse"]


@pytest.mark.parametrize(
    "role", [unattached(voted=key(2)), prospective(voted=key(2))], ids=name_of_role
)
def test_s19_a_vote_that_is_given_again_changes_nothing_nor_is_the_log_looked_at(role):
    one = Replica(replica(role, log=log_of(1, 4))).asks(3)
    before = one.state
    assert one.request(vote(end=(0, 0))).vote_granted
    assert one.order() == ["SendResponse"]
    assert one.state == before


@pytest.mark.parametrize("role", [unattached(), follower(), leader(), candidate(), resigned()])
def test_s21_a_vote_of_an_epoch_that_is_over_is_fenced(role):
    one = Replica(replica(role))
    before = one.state
    answer = one.request(vote(EPOCH - 1))
    assert (answer.error_code, answer.epoch, answer.vote_granted) == (
        ErrorCode.FENCED_LEADER_EPOCH,
        EPOCH,
        False,
    )
    assert answer.leader_id == one.leader
    assert one.state == before


def test_s22_an_epoch_is_taken_over_and_written_also_if_the_vote_is_refused():
    one = Replica(replica(leader(), log=log_of(1, 4)))
    answer = one.request(vote(EPOCH + 1, end=(1, 1)))
    assert (answer.epoch, answer.leader_id, answer.vote_granted) == (EPOCH + 1, None, False)
    assert one.written() == [(EPOCH + 1, None, None)]
    assert isinstance(one.role, Unattached)


@pytest.mark.parametrize("end_of_log", [(-1, 0), (0, -1), (0, EPOCH + 1), (0, EPOCH + 2)], ids=str)
def test_s23_a_log_that_cannot_be_is_an_invalid_request_and_bumps_no_epoch(end_of_log):
    one = Replica(replica(unattached()))
    before = one.state
    answer = one.request(vote(EPOCH + 1, end=end_of_log))
    assert (answer.error_code, answer.epoch) == (ErrorCode.INVALID_REQUEST, EPOCH)
    assert one.state == before


def test_s23_a_pre_vote_may_come_from_a_log_of_its_own_epoch_but_of_no_later_one():
    one = Replica(replica(unattached()))
    assert one.request(vote(end=(3, EPOCH), pre_vote=True)).vote_granted
    refused = one.request(vote(end=(3, EPOCH + 1), pre_vote=True))
    assert refused.error_code == ErrorCode.INVALID_REQUEST


def test_s23_a_candidate_without_an_id_is_invalid_but_an_old_epoch_is_fenced_first():
    one = Replica(replica(unattached()))
    assert one.request(vote(sender=-1)).error_code == ErrorCode.INVALID_REQUEST
    old = one.request(vote(EPOCH - 1, sender=-1))
    assert old.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert one.request(vote(EPOCH + 1, sender=-1)).epoch == EPOCH


@pytest.mark.parametrize(
    "wrong", [{"voter_id": 2}, {"voter_directory_id": directory(1, disk=1)}], ids=["id", "disk"]
)
def test_s24_a_vote_meant_for_another_bumps_the_epoch_and_is_not_given(wrong):
    one = Replica(replica(unattached()))
    answer = one.request(vote(EPOCH + 1, **wrong))
    assert (answer.error_code, answer.epoch, answer.vote_granted) == (
        ErrorCode.INVALID_VOTER_KEY,
        EPOCH + 1,
        False,
    )
    assert one.written() == [(EPOCH + 1, None, None)]
    assert not one.request(vote(EPOCH + 1, **wrong)).vote_granted
    assert one.voted is None


@pytest.mark.parametrize("right", [{"voter_id": -1}, {"voter_directory_id": None}], ids=str)
def test_s24_a_vote_that_names_no_id_or_no_disk_is_for_anybody(right):
    one = Replica(replica(unattached()))
    assert one.request(vote(**right)).vote_granted


def test_s25_who_is_no_voter_here_is_a_candidate_like_any_other():
    one = Replica(replica(unattached()))
    assert one.request(vote(sender=9), sender=9).vote_granted
    assert one.voted == key(9)


def test_s26_an_observer_with_an_id_may_vote():
    one = Replica(replica(unattached(deadline=NEVER), node=9))
    asked = {"voter_id": 9, "voter_directory_id": directory(9)}
    assert one.request(vote(EPOCH + 1, **asked)).vote_granted
    assert one.written() == [(EPOCH + 1, None, key(2))]
    assert one.role.election_deadline == NEVER


@pytest.mark.parametrize("epoch", [EPOCH, EPOCH + 1])
def test_s26_a_replica_without_an_id_gives_no_vote(epoch):
    one = Replica(replica(unattached(deadline=NEVER), node=None))
    assert not one.request(vote(epoch, voter_id=-1)).vote_granted
    assert one.voted is None


@pytest.mark.parametrize("role", [leader(), candidate(), resigned()])
def test_s27_who_stands_leads_or_has_led_votes_in_a_later_epoch_only(role):
    one = Replica(replica(role))
    before = one.state
    assert not one.request(vote(sender=3), sender=3).vote_granted
    assert one.state == before
    assert one.request(vote(EPOCH + 1, sender=3), sender=3).vote_granted
    assert one.written() == [(EPOCH + 1, None, key(3))]
    assert isinstance(one.role, Unattached)


def test_s28_a_candidate_that_gave_up_has_given_its_vote_in_that_epoch():
    one = Replica(replica(candidate())).asks(2, 3)
    one.wait(TIMEOUTS.election)
    one.poll()
    assert not one.request(vote(sender=3), sender=3).vote_granted
    one.answer(2, voted_answer(granted=False))
    one.answer(3, voted_answer(granted=False))
    one.poll()
    assert isinstance(one.role, Unattached)
    assert not one.request(vote(sender=3), sender=3).vote_granted
    assert one.voted == key(1)


def test_s29_who_votes_waits_anew():
    one = Replica(replica(unattached(deadline=NOW + 1)))
    one.request(vote())
    assert one.role.election_deadline >= NOW + TIMEOUTS.election


@pytest.mark.parametrize(
    "role", [unattached(deadline=NOW + 1), candidate(deadline=NOW + 1)], ids=name_of_role
)
def test_s29_who_only_hears_of_an_epoch_keeps_what_was_left_to_wait(role):
    one = Replica(replica(role, log=log_of(1, 4)))
    one.request(vote(EPOCH + 1, end=(0, 0)))
    assert isinstance(one.role, Unattached)
    assert one.role.election_deadline == NOW + 1


@pytest.mark.parametrize("role", [follower(), leader()], ids=["follower", "leader"])
def test_s29_who_had_no_election_timer_draws_one(role):
    one = Replica(replica(role, log=log_of(1, 4)))
    one.request(vote(EPOCH + 1, end=(0, 0)))
    assert NOW + TIMEOUTS.election <= one.role.election_deadline < NOW + 2 * TIMEOUTS.election


def test_a_prospective_voter_that_votes_counts_anew_and_waits_on_for_whom_it_asked():
    one = Replica(replica(prospective(rejected=(3,)))).asks(2)
    assert one.request(vote(sender=3), sender=3).vote_granted
    assert isinstance(one.role, Prospective)
    assert (one.role.granted, one.role.rejected) == ({1}, frozenset())
    assert one.written() == [(EPOCH, None, key(3))]
    assert one.order() == ["WriteQuorumState", "SendResponse"]
    one.settle()
    assert [node for node, _ in one.sent(VoteRequest)] == [3]
    one.answer(2, voted_answer())
    assert isinstance(one.role, Candidate)
    assert not one.of(AppendLog)
    assert not one.of(Fatal)


@pytest.mark.parametrize("followed", [True, False])
def test_a_candidate_with_records_of_its_epoch_is_refused_and_lives_on(followed):
    log = log_of(1, EPOCH) if followed else log_of(1, EPOCH - 1)
    one = Replica(replica(candidate(), log=log))
    one.asks(2)
    one.answer(2, voted_answer(granted=False, error=ErrorCode.INVALID_REQUEST))
    assert one.order() == ([] if followed else ["Fatal"])
    assert one.role == candidate()
