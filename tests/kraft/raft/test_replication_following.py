"""Following a leader, and looking for one: what is asked, and what becomes of each answer."""

from __future__ import annotations

import pytest
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    directory,
    follower,
    log_of,
    replica,
    unattached,
)
from tests.kraft.raft.replication import Driven, at, batch, fetch, fetched, following, leading

from kraft.errors import ErrorCode
from kraft.raft.effects import (
    AppendLog,
    Fatal,
    FlushLog,
    SendRequest,
    TruncateLog,
    WriteQuorumState,
)
from kraft.raft.events import Poll
from kraft.raft.roles import Candidate, Follower, Prospective, Unattached
from kraft.records.builder import with_crc
from kraft.rpc.fetch import FetchRequest
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest
from kraft.rpc.vote import VoteRequest


def test_s57_a_follower_cuts_its_log_where_the_leaders_epoch_ends_then_fetches_from_there():
    driven = following(log_of(3, 3, 3), high_watermark=2)
    effects = driven.answer(2, fetched(diverging=at(2, 3)))
    assert effects == (TruncateLog(2),)
    assert driven.state.log.end == at(2, 3)
    assert driven.role.has_fetched
    (effect,) = driven.poll()
    assert (effect.destination, effect.request.fetch_offset) == (2, 2)
    assert effect.request.last_fetched_epoch == 3


@pytest.mark.parametrize(
    ("diverging", "end"),
    [
        (at(5, 2), 3),  # Epoch 2 is not known: the end of epoch 1.
        (at(1, 2), 3),
        (at(5, 3), 5),  # Epoch 3 ends earlier there.
        (at(9, 3), 6),  # Epoch 3 ends earlier here.
        (at(2, 0), 2),  # Nothing of the own epochs is known there.
        (at(99, 0), 8),
        (at(99, EPOCH), 8),
    ],
)
def test_s58_a_follower_cuts_to_the_end_of_the_largest_epoch_that_both_may_know(diverging, end):
    driven = following(log_of(1, 1, 1, 3, 3, 3, 4, 4))
    effects = driven.answer(2, fetched(diverging=diverging))
    assert driven.state.log.end_offset == end
    assert effects == ((TruncateLog(end),) if end < 8 else ())


def test_s58_a_batch_that_holds_the_cut_goes_whole():
    log = log_of(1).append((batch(1, 1, b"a", b"b", b"c"),))
    driven = following(log)
    assert driven.answer(2, fetched(diverging=at(3, 1))) == (TruncateLog(1),)
    assert driven.state.log.end_offset == 1


@pytest.mark.parametrize("diverging", [at(2, 3), at(0, 0), at(9, 1), at(2, 4)])
def test_s59_a_follower_that_would_cut_what_is_committed_dies_with_its_log_as_it_was(diverging):
    driven = following(log_of(1, 3, 3, 3), high_watermark=3)
    before = driven.state
    (effect,) = driven.answer(2, fetched(diverging=diverging))
    assert isinstance(effect, Fatal)
    assert "up to 3 it is committed" in effect.reason
    assert driven.state == before


def test_a_follower_tells_in_its_fetch_what_it_has_flushed_and_knows_to_be_committed():
    driven = following(log_of(1, 3), high_watermark=1, asks=False)
    (effect,) = driven.poll()
    assert effect == SendRequest(2, 0, fetch(2, 3, sender=1, disk=directory(1), high_watermark=1))
    driven = following(log_of(), asks=False)
    assert driven.poll()[0].request.high_watermark == -1


def test_s62_the_next_fetch_is_sent_after_the_flush_and_only_by_the_next_poll():
    driven = following(log_of(EPOCH))
    effects = driven.answer(2, fetched([batch(1)]))
    assert effects == (AppendLog((batch(1),)), FlushLog())
    (effect,) = driven.poll()
    assert effect.request.fetch_offset == 2
    assert driven.poll() == ()


@pytest.mark.parametrize(
    ("node", "always", "flushes"),
    [(1, False, True), (1, True, True), (7, True, True), (7, False, False)],
)
def test_of_all_replicas_only_a_broker_does_not_flush_what_it_fetches(node, always, flushes):
    driven = following(log_of(EPOCH), node=node, followers_always_flush=always)
    effects = driven.answer(2, fetched([batch(1)], high_watermark=2))
    assert FlushLog() in effects if flushes else FlushLog() not in effects
    assert effects[0] == AppendLog((batch(1),))
    assert driven.state.high_watermark == 2
    (effect,) = driven.poll()
    assert effect.request.fetch_offset == 2


FUTURE = batch(1, EPOCH + 1)
DAMAGED = bytearray(batch(1).raw)
DAMAGED[-1] ^= 1


@pytest.mark.parametrize(
    "records",
    [
        bytes(DAMAGED),
        batch(1).raw[:-1],
        batch(1).raw + b"x",
        with_crc(batch(1).raw[:-1] + b"\1"),
        batch(2).raw,
        batch(0).raw,
        batch(1).raw + batch(3).raw,
        batch(1, 2).raw,
        FUTURE.raw,
        batch(1).raw + batch(2, EPOCH + 1).raw,
    ],
    ids=[
        "crc",
        "cut",
        "tail",
        "record",
        "gap",
        "overlap",
        "second-gap",
        "older-epoch",
        "future",
        "then-future",
    ],
)
def test_batches_that_cannot_be_appended_are_as_good_as_lost(records):
    driven = following(log_of(4))
    deadline = driven.role.fetch_deadline
    driven.wait(1)
    assert driven.answer(2, fetched(records, high_watermark=9)) == ()
    assert driven.state.log == log_of(4)
    assert driven.state.high_watermark is None
    assert driven.role.fetch_deadline == deadline
    assert not driven.role.has_fetched
    assert driven.poll() == ()
    driven.wait(TIMEOUTS.retry_backoff)
    assert driven.poll()[0].request.fetch_offset == 1


def test_s63_an_answer_that_was_taken_restarts_the_fetch_timer():
    for answer in (fetched(), fetched([batch(1)]), fetched(diverging=at(1, 3))):
        driven = following(log_of(4))
        driven.wait(100)
        driven.answer(2, answer)
        assert driven.role.fetch_deadline == driven.now + TIMEOUTS.fetch
        assert driven.role.has_fetched


@pytest.mark.parametrize(
    "answer",
    [
        fetched(error=ErrorCode.UNKNOWN_SERVER_ERROR),
        fetched(error=ErrorCode.BROKER_NOT_AVAILABLE),
        fetched(error=ErrorCode.NOT_LEADER_OR_FOLLOWER),
        fetched(error=ErrorCode.UNKNOWN_LEADER_EPOCH, epoch=EPOCH - 1),
        fetched([batch(1)], epoch=EPOCH - 1),
        fetched(snapshot_id=at(-1, 1)),
        fetched(snapshot_id=at(1, -1)),
        fetched(error=ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_s63_an_answer_that_helps_nobody_does_not_restart_the_fetch_timer(answer):
    driven = following(log_of(4))
    role = driven.role
    driven.wait(100)
    assert driven.answer(2, answer) == ()
    assert driven.role == role
    assert driven.state.log == log_of(4)


def test_s63_a_late_answer_changes_nothing_at_all():
    driven = following(log_of(4))
    before = driven.state
    assert driven.answer(2, fetched([batch(1)]), correlation_id=99) == ()
    assert driven.state is before


def test_s64_an_answer_that_names_a_new_leader_is_followed_and_its_records_are_left():
    driven = following(log_of(4))
    answer = fetched([batch(1)], epoch=EPOCH + 1, leader_id=3)
    effects = driven.answer(2, answer)
    assert effects[0] == WriteQuorumState(EPOCH + 1, 3, None, 0)
    assert not driven.of(AppendLog)
    assert (driven.role.epoch, driven.role.leader_id) == (EPOCH + 1, 3)
    assert driven.state.log == log_of(4)


def test_s64_an_answer_of_a_higher_epoch_without_a_leader_leaves_nobody_to_follow():
    driven = following(log_of(4))
    driven.answer(2, fetched(epoch=EPOCH + 1, leader_id=None, error=ErrorCode.FENCED_LEADER_EPOCH))
    assert isinstance(driven.role, Unattached)
    assert driven.written() == [(EPOCH + 1, None, None)]


def observer(role, log=None, **fields):
    return Driven(replica(role, node=7, log=log, **fields))


def test_s65_an_observer_that_hears_of_the_leader_follows_and_asks_it_for_the_records_again():
    driven = observer(unattached(), log_of(4))
    (asked,) = driven.poll()
    assert asked.request.fetch_offset == 1
    server = asked.destination
    answer = fetched([batch(1)], leader_id=server)
    effects = driven.answer(server, answer)
    assert effects[0] == WriteQuorumState(EPOCH, server, None, 0)
    assert not driven.of(AppendLog)
    (again,) = driven.poll()
    assert (again.destination, again.request.fetch_offset) == (server, 1)
    driven.answer(server, answer)
    assert driven.order() == ["AppendLog", "FlushLog"]


@pytest.mark.parametrize("error", [ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER])
def test_s07_a_replica_that_knows_only_the_name_of_its_leader_follows_when_it_is_named(error):
    driven = observer(unattached(leader=2), log_of())
    (asked,) = driven.poll()
    driven.answer(asked.destination, fetched(leader_id=2, error=error))
    assert isinstance(driven.role, Follower)
    assert driven.role.leader_id == 2
    # The file said so before.
    assert driven.written() == []
    (again,) = driven.poll()
    assert again.destination == 2


def test_s07_who_remembers_its_leader_does_not_hear_of_another():
    driven = observer(unattached(leader=2), log_of())
    (asked,) = driven.poll()
    driven.answer(asked.destination, fetched(leader_id=3, error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    (fatal,) = driven.of(Fatal)
    assert "leader 3 of epoch" in fatal.reason


def test_s66_who_knows_no_leader_asks_one_voter_at_a_time_and_each_of_them_in_time():
    driven = observer(unattached(), log_of(4))
    asked = set()
    for chance in range(12):
        driven.state = observer(unattached(), log_of(4)).state
        (effect,) = driven.take(Poll(NOW, chance))
        assert isinstance(effect.request, FetchRequest)
        assert driven.poll() == ()
        asked.add(effect.destination)
    assert asked == {1, 2, 3}


def test_s66_an_observer_asks_a_bootstrap_server_if_it_was_told_of_any():
    driven = observer(unattached(), bootstrap_servers=(8,))
    assert [each.destination for each in driven.poll()] == [8]


def test_s66_an_observer_whose_leader_is_silent_or_not_available_asks_others():
    driven = observer(follower(fetch_deadline=NOW), bootstrap_servers=(8,))
    assert [each.destination for each in driven.poll()] == [8]
    assert driven.poll() == ()
    driven = observer(follower(), bootstrap_servers=(8,))
    assert [each.destination for each in driven.poll()] == [2]
    driven.answer(2, fetched(error=ErrorCode.BROKER_NOT_AVAILABLE))
    assert [each.destination for each in driven.poll()] == [8]


def test_s66_an_observer_that_hears_of_the_same_leader_asks_it_again():
    driven = observer(follower(fetch_deadline=NOW), bootstrap_servers=(8,))
    driven.poll()
    driven.answer(8, fetched(error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert driven.role.fetch_deadline == NOW + TIMEOUTS.fetch
    assert [each.destination for each in driven.poll()] == [2]


def test_s66_an_observer_without_an_id_fetches_in_nobodys_name():
    driven = Driven(replica(unattached(), node=None))
    assert driven.poll()[0].request.replica_id == -1
    driven = leading(log_of(EPOCH))
    progress = driven.role.progress
    assert driven.request(fetch(0, 0, sender=-1)).records
    assert driven.role.progress == progress


def test_s67_a_voter_whose_leader_is_silent_asks_to_be_elected():
    driven = following(log_of(4), asks=False, fetch_deadline=NOW + 5)
    assert driven.next_deadline() <= NOW
    driven.poll()
    assert driven.next_deadline() == NOW + 5
    driven.wait(5)
    driven.poll()
    assert isinstance(driven.role, Prospective)
    assert [node for node, _ in driven.sent(VoteRequest)] == [2, 3]


def test_s67_an_observer_whose_leader_is_silent_never_stands():
    driven = observer(follower(fetch_deadline=NOW), log_of(4))
    for _ in range(5):
        driven.settle()
        driven.wait(TIMEOUTS.fetch * 2)
    assert not isinstance(driven.role, Prospective | Candidate)
    assert driven.role.epoch == EPOCH


def test_a_follower_that_is_to_load_a_snapshot_fetches_that_and_no_records():
    driven = following(log_of(), asks=False, fetching_snapshot=at(3, 1))
    (effect,) = driven.poll()
    assert isinstance(effect.request, FetchSnapshotRequest)
    assert effect.destination == 2


def test_s63_records_from_who_is_not_the_leader_are_not_appended():
    driven = following(log_of(4), asks=False).asks(3)
    role = driven.role
    assert driven.answer(3, fetched([batch(1)], high_watermark=2)) == ()
    assert driven.role == role
    assert driven.state.log == log_of(4)
