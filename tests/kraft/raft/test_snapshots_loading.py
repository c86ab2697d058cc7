"""Loading a snapshot: which pieces are asked for, and what is done with each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.raft.replicas import (
    CLUSTER_ID,
    EPOCH,
    TIMEOUTS,
    begin,
    directory,
    follower,
    log_of,
    prospective,
    replica,
    unattached,
)
from tests.kraft.raft.replication import Driven, at, fetched, following, piece, snapshot

from kraft.errors import ErrorCode
from kraft.log.image import Snapshot
from kraft.raft.effects import (
    Fatal,
    FreezeSnapshot,
    HandleLoadSnapshot,
    TruncateToSnapshot,
    WriteQuorumState,
    WriteSnapshotPart,
)
from kraft.raft.roles import Follower, Unattached
from kraft.rpc.fetch_snapshot import FetchSnapshotRequest


def test_s81_a_follower_fetches_the_snapshot_from_its_start_then_from_where_it_is():
    taken = snapshot(9, 4)
    driven = following(log_of(1), high_watermark=1)
    assert driven.answer(2, fetched(snapshot_id=at(9, 4))) == ()
    (effect,) = driven.poll()
    assert effect.request == FetchSnapshotRequest(
        CLUSTER_ID, 1, directory(1), EPOCH, at(9, 4), 0, 8 * 1024 * 1024
    )
    assert driven.poll() == ()
    first = piece(taken, 0, 50)
    assert driven.answer(2, first) == (WriteSnapshotPart(at(9, 4), 0, first.data),)
    assert driven.state.log == log_of(1)
    (effect,) = driven.poll()
    assert effect.request.position == 50
    second = piece(taken, 50)
    assert driven.answer(2, second) == (
        WriteSnapshotPart(at(9, 4), 50, second.data),
        FreezeSnapshot(at(9, 4)),
        TruncateToSnapshot(at(9, 4)),
        HandleLoadSnapshot(at(9, 4)),
    )
    log = driven.state.log
    assert (log.start_offset, log.end, log.snapshots) == (9, at(9, 4), (taken,))
    assert driven.state.high_watermark == 9
    (effect,) = driven.poll()
    assert (effect.request.fetch_offset, effect.request.last_fetched_epoch) == (9, 4)


def test_s81_a_snapshot_that_says_no_more_than_the_log_ends_the_process():
    for taken in (snapshot(3, 4), snapshot(2, 4), snapshot(9, 3)):
        driven = following(log_of(1, 4, 4), fetching_snapshot=taken.snapshot_id)
        before = driven.state
        (effect,) = driven.answer(2, piece(taken))
        assert isinstance(effect, Fatal)
        assert "is not newer than the log" in effect.reason
        assert driven.state == before


@pytest.mark.parametrize(
    "answer",
    [
        piece(snapshot(8, 4), 10, 10),
        piece(snapshot(9, 4), 0, 10),
        piece(snapshot(9, 4), 20, 10),
        replace(piece(snapshot(9, 4), 10, 10), size=19),
        replace(piece(snapshot(9, 4), 10, 10), snapshot_id=None),
    ],
)
def test_s81_a_piece_that_was_not_asked_for_ends_the_process(answer):
    taken = snapshot(9, 4)
    driven = following(
        log_of(1), fetching_snapshot=taken.snapshot_id, snapshot_pieces=(taken.data[:10],)
    )
    before = driven.state
    (effect,) = driven.answer(2, answer)
    assert isinstance(effect, Fatal)
    assert driven.state == before


def test_s81_a_damaged_snapshot_is_not_loaded_but_fetched_again_from_its_start():
    taken = snapshot(9, 4)
    damaged = Snapshot(taken.snapshot_id, taken.data[:-1] + bytes([taken.data[-1] ^ 1]))
    driven = following(log_of(1), fetching_snapshot=taken.snapshot_id)
    driven.answer(2, piece(damaged, 0, 10))
    driven.asks(2)
    assert driven.answer(2, piece(damaged, 10)) == ()
    assert driven.state.log == log_of(1)
    assert driven.role.fetching_snapshot == taken.snapshot_id
    assert driven.poll() == ()
    driven.wait(TIMEOUTS.retry_backoff)
    assert driven.poll()[0].request.position == 0


@pytest.mark.parametrize(
    "answer",
    [
        piece(snapshot(9, 4), error=ErrorCode.SNAPSHOT_NOT_FOUND),
        replace(piece(snapshot(9, 4)), snapshot_id=at(-1, 4)),
        replace(piece(snapshot(9, 4)), snapshot_id=at(9, -1)),
    ],
)
def test_s82_a_snapshot_that_is_gone_is_abandoned_and_the_log_is_fetched_again(answer):
    driven = following(
        log_of(1), fetching_snapshot=at(9, 4), snapshot_pieces=(b"abc",), has_fetched=True
    )
    driven.wait(7)
    assert driven.answer(2, answer) == ()
    assert driven.role.fetching_snapshot is None
    assert driven.role.snapshot_pieces == ()
    assert driven.role.fetch_deadline == driven.now + TIMEOUTS.fetch
    (effect,) = driven.poll()
    assert effect.request.fetch_offset == 1


def test_s83_a_new_leader_ends_the_download():
    driven = following(log_of(1), fetching_snapshot=at(9, 4), snapshot_pieces=(b"abc",))
    driven.answer(2, replace(piece(snapshot(9, 4)), epoch=EPOCH + 1, leader_id=3))
    assert driven.effects[0] == WriteQuorumState(EPOCH + 1, 3, None, 0)
    assert isinstance(driven.role, Follower)
    assert (driven.role.leader_id, driven.role.fetching_snapshot) == (3, None)
    assert driven.role.snapshot_pieces == ()
    driven = following(log_of(1), fetching_snapshot=at(9, 4))
    driven.answer(2, replace(piece(snapshot(9, 4)), epoch=EPOCH + 1, leader_id=None))
    assert isinstance(driven.role, Unattached)


@pytest.mark.parametrize(
    "answer",
    [
        piece(snapshot(9, 4), epoch=EPOCH - 1),
        piece(snapshot(9, 4), error=ErrorCode.UNKNOWN_LEADER_EPOCH),
        piece(snapshot(9, 4), error=ErrorCode.POSITION_OUT_OF_RANGE),
        piece(snapshot(9, 4), error=ErrorCode.BROKER_NOT_AVAILABLE),
    ],
)
def test_s83_an_answer_that_helps_nobody_lets_the_same_piece_be_asked_for_again(answer):
    driven = following(log_of(1), fetching_snapshot=at(9, 4), snapshot_pieces=(b"abc",))
    role = driven.role
    assert driven.answer(2, answer) == ()
    assert driven.role == role
    driven.wait(TIMEOUTS.retry_backoff)
    (effect,) = driven.poll()
    assert (effect.request.snapshot_id, effect.request.position) == (at(9, 4), 3)


def test_s84_a_piece_for_who_follows_no_more_is_ignored():
    for role in (unattached(), prospective(leader=2), follower(leader=3)):
        driven = Driven(replica(role, log=log_of(1))).asks(2)
        leader_id = role.leader_id
        driven.answer(2, replace(piece(snapshot(9, 4)), leader_id=leader_id))
        assert driven.role == role
        assert driven.state.log == log_of(1)
    driven = following(log_of(1), fetching_snapshot=at(9, 4))
    waiting = driven.state.connections[2].correlation_id
    driven.request(begin(EPOCH + 1, leader=3), sender=3)
    before = driven.state
    assert driven.answer(2, piece(snapshot(9, 4)), correlation_id=waiting) == ()
    assert driven.state is before
