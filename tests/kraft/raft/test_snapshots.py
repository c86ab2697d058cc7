"""Snapshots: who gets one, in which pieces, what it replaces, and when one is made."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.raft.replicas import EPOCH, NOW, TIMEOUTS, log_of, voter_set
from tests.kraft.raft.replication import (
    at,
    batch,
    fetch,
    fetch_snapshot,
    fetched,
    following,
    leading,
    log_from,
    piece,
    snapshot,
)

from kraft.errors import ErrorCode
from kraft.log.batches import controls_batch, read_batches
from kraft.log.image import Snapshot
from kraft.raft.accumulator import AccumulatedBatch, Accumulator
from kraft.raft.configuration import MILLISECOND
from kraft.raft.controls import ControlHistory
from kraft.raft.effects import CleanLog, FlushLog, SendResponse, SnapshotRefused, WriteSnapshot
from kraft.raft.events import CleanRequested, SnapshotCreated
from kraft.raft.snapshot_file import read_snapshot
from kraft.raft.voter_records import version_record, voters_record
from kraft.rpc.fetch_snapshot import FetchSnapshotResponse

VALUE = b"\x01\x1b\x00\x00"
LAST_MS = 12
BOOTSTRAP = snapshot(0, 0, values=(), version=1)


def create(driven, end_offset, epoch):
    snapshot_id = at(end_offset, epoch)
    return driven.event(
        SnapshotCreated, snapshot_id=snapshot_id, values=(VALUE,), last_timestamp=LAST_MS
    )


def test_a_follower_that_loads_a_snapshot_makes_that_one_no_second_time():
    driven = following(log_of(1, 4, 4), high_watermark=3)
    driven.answer(2, fetched(snapshot_id=at(3, 4)))
    assert create(driven, 3, 4) == ()
    (effect,) = create(driven, 2, 4)
    assert isinstance(effect, WriteSnapshot)


def test_s74_a_snapshot_of_what_is_committed_is_written_with_the_voters_at_its_end():
    driven = leading(log_of(1, 3, 3), high_watermark=2)
    (effect,) = create(driven, 2, 3)
    assert effect == WriteSnapshot(at(2, 3), effect.data)
    assert driven.state.log.latest_snapshot == Snapshot(at(2, 3), effect.data)
    content = read_snapshot(effect.data)
    assert (content.values, content.last_timestamp) == ((VALUE,), LAST_MS)
    written = {batch.max_timestamp for batch in read_batches(effect.data)}
    assert written == {driven.now // MILLISECOND}
    assert driven.state.log.start_offset == 0


@pytest.mark.parametrize(
    ("end", "epoch", "high_watermark", "reason"),
    [
        (3, 3, 2, "offset 3 is not known to be committed"),
        (1, 1, None, "offset 1 is not known to be committed"),
        (2, 1, 3, "the record before offset 2 is not of epoch 1"),
        (1, 3, 3, "the record before offset 1 is not of epoch 3"),
        (9, 3, 3, "offset 9 is not known to be committed"),
    ],
)
@pytest.mark.parametrize("role", [leading, following])
def test_s74_a_snapshot_of_what_is_not_committed_or_not_so_is_refused(
    role, end, epoch, high_watermark, reason
):
    driven = role(log_of(1, 3, 3), high_watermark=high_watermark)
    before = driven.state
    assert create(driven, end, epoch) == (SnapshotRefused(reason),)
    assert driven.state == before


@pytest.mark.parametrize("end", [(2, 1), (3, 1), (4, 3), (5, 3)])
def test_s74_a_snapshot_that_is_older_than_the_log_or_than_another_is_dropped(end):
    log = log_from(snapshot(3, 1), 3, 3, 3).with_snapshot(snapshot(5, 3))
    driven = following(log, high_watermark=6)
    before = driven.state
    assert create(driven, *end) == ()
    assert driven.state == before


def test_s74_a_snapshot_ends_where_a_batch_ends():
    log = log_of(1).append((batch(1, 3, b"a", b"b"),))
    driven = following(log, high_watermark=3)
    assert create(driven, 2, 3) == (SnapshotRefused("no batch ends at offset 2"),)
    assert isinstance(create(driven, 3, 3)[0], WriteSnapshot)


def test_s75_an_empty_log_gets_the_latest_snapshot_but_never_a_bootstrap_snapshot():
    log = log_of(1, 3, 3).with_snapshot(snapshot(1, 1)).with_snapshot(snapshot(2, 3))
    answer = leading(log).request(fetch(0, 0))
    assert (answer.snapshot_id, answer.records, answer.high_watermark) == (at(2, 3), b"", -1)
    answer = leading(log_of(1, 3).with_snapshot(BOOTSTRAP)).request(fetch(0, 0))
    assert answer.snapshot_id is None
    assert answer.records


@pytest.mark.parametrize(
    ("offset", "last_epoch", "snapshot_id"),
    [
        (2, 2, at(5, 3)),
        (3, 2, None),
        (3, 1, at(5, 3)),
        (3, 3, at(5, 3)),
        (4, 1, at(5, 3)),
        (4, 3, None),
        (6, EPOCH, None),
        (0, 0, at(5, 3)),
    ],
)
def test_s76_who_lacks_what_the_log_lacks_gets_a_snapshot(offset, last_epoch, snapshot_id):
    log = log_from(snapshot(3, 2), 3, 3, EPOCH).with_snapshot(snapshot(5, 3))
    answer = leading(log).request(fetch(offset, last_epoch, wait=0))
    assert answer.snapshot_id == snapshot_id
    assert answer.diverging is None


def test_s76_a_bootstrap_snapshot_does_not_hide_what_the_next_one_says():
    log = log_of(1, 3, 3).with_snapshot(BOOTSTRAP).with_snapshot(snapshot(2, 3))
    assert leading(log).request(fetch(1, 1)).snapshot_id == at(2, 3)


def test_s77_a_log_that_begins_at_zero_says_where_an_epoch_ends_beside_its_snapshot():
    log = log_of(1, 1, 2, 4).with_snapshot(snapshot(3, 2))
    answer = leading(log).request(fetch(4, 3))
    assert (answer.diverging, answer.snapshot_id) == (at(3, 2), None)


@pytest.mark.parametrize(
    ("request_of", "error"),
    [
        (fetch_snapshot(at(9, 1)), ErrorCode.SNAPSHOT_NOT_FOUND),
        (fetch_snapshot(at(3, 2)), ErrorCode.SNAPSHOT_NOT_FOUND),
        (fetch_snapshot(at(0, 0)), ErrorCode.SNAPSHOT_NOT_FOUND),
        (fetch_snapshot(at(3, 1), -1), ErrorCode.POSITION_OUT_OF_RANGE),
        (fetch_snapshot(at(3, 1), 2**31), ErrorCode.POSITION_OUT_OF_RANGE),
        (fetch_snapshot(at(3, 1), cluster_id="x"), ErrorCode.INCONSISTENT_CLUSTER_ID),
        (fetch_snapshot(at(3, 1), epoch=EPOCH - 1), ErrorCode.FENCED_LEADER_EPOCH),
        (fetch_snapshot(at(3, 1), epoch=EPOCH + 1), ErrorCode.UNKNOWN_LEADER_EPOCH),
        (fetch_snapshot(at(3, 1), sender=1), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_s78_a_piece_that_is_not_there_or_not_asked_of_this_epoch_is_refused(request_of, error):
    log = log_from(snapshot(3, 1), EPOCH)
    driven = leading(replace(log, snapshots=(BOOTSTRAP, *log.snapshots)), high_watermark=4)
    before = driven.state
    answer = driven.request(request_of)
    assert (answer.error_code, answer.epoch, answer.leader_id, answer.data) == (
        error,
        EPOCH,
        1,
        b"",
    )
    assert driven.state == before


def test_s78_the_position_after_the_last_byte_is_out_of_range():
    taken = snapshot(3, 1)
    driven = leading(log_from(taken, EPOCH))
    answer = driven.request(fetch_snapshot(at(3, 1), len(taken.data)))
    assert answer.error_code == ErrorCode.POSITION_OUT_OF_RANGE
    assert driven.request(fetch_snapshot(at(3, 1), len(taken.data) - 1)).data == taken.data[-1:]


def test_s79_who_does_not_lead_gives_no_pieces_and_names_the_leader():
    driven = following(log_from(snapshot(3, 1)))
    refused = FetchSnapshotResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, EPOCH, 2, at(3, 1))
    assert driven.request(fetch_snapshot(at(3, 1))) == refused


@given(st.integers(1, 400), st.integers(1, 400))
def test_s80_the_pieces_of_a_snapshot_are_the_snapshot(asked, given_at_most):
    taken = snapshot(3, 1, values=(VALUE,) * 20)
    driven = leading(log_from(taken, EPOCH), maximum_snapshot_bytes=given_at_most)
    received = b""
    while len(received) < len(taken.data):
        request = fetch_snapshot(at(3, 1), len(received), maximum_bytes=asked)
        answer = driven.request(request)
        assert (answer.position, answer.size) == (len(received), len(taken.data))
        assert 0 < len(answer.data) <= min(asked, given_at_most)
        received += answer.data
    assert received == taken.data


def test_s46_a_voter_that_fetches_a_snapshot_is_heard_and_its_position_is_not_noted():
    driven = leading(log_from(snapshot(3, 1), EPOCH), check_quorum_deadline=NOW + 9)
    progress = driven.role.progress
    driven.request(fetch_snapshot(at(3, 1), sender=7), sender=7)
    assert driven.role.check_quorum_deadline == NOW + 9
    driven.request(fetch_snapshot(at(3, 1)))
    assert driven.role.check_quorum_deadline == NOW + TIMEOUTS.check_quorum
    assert driven.role.progress == progress


def test_s87_cleaning_goes_from_snapshot_to_snapshot_and_keeps_the_newest():
    log = log_of(1, 3, 3, 3).with_snapshot(BOOTSTRAP)
    driven = following(log, high_watermark=4)
    assert driven.event(CleanRequested) == ()
    driven.state = replace(
        driven.state, log=log.with_snapshot(snapshot(1, 1)).with_snapshot(snapshot(3, 3))
    )
    for end in (at(1, 1), at(3, 3)):
        assert driven.event(CleanRequested) == (CleanLog(end),)
        cleaned = driven.state.log
        assert (cleaned.start_offset, cleaned.start_epoch) == end
        assert cleaned.earliest_snapshot.snapshot_id == end
        assert cleaned.end_offset == 4
    before = driven.state
    assert driven.event(CleanRequested) == ()
    assert driven.state is before


def test_s87_a_fetch_that_waited_while_the_log_was_cleaned_gets_a_snapshot_after_the_flush():
    driven = leading(log_of(EPOCH), high_watermark=1, voters=(1,), ends={})
    driven.request(fetch(1, sender=4), sender=4)
    gathered = Accumulator(EPOCH, 2, (AccumulatedBatch(1, (b"x",), 70),), driven.now, 2)
    driven.state = replace(driven.state, role=replace(driven.role, accumulator=gathered))
    driven.poll()
    assert driven.state.high_watermark == 2
    create(driven, 2, EPOCH)
    driven.event(CleanRequested)
    assert driven.poll() == (FlushLog(),)
    (answer,) = driven.poll()
    assert isinstance(answer, SendResponse)
    assert answer.response.snapshot_id == at(2, EPOCH)
    assert not driven.role.parked


def controls_log():
    """Return a log in which the voters are 1 and 2 from offset 1 on, and 1, 2, 3 from 3 on."""
    log = log_of(1)
    for offset, nodes in ((1, (1, 2)), (3, (1, 2, 3))):
        records = [voters_record(voter_set(*nodes)), version_record(1)]
        log = log.append((controls_batch(offset, 3, 0, records),))
    return log


def test_s88_a_snapshot_has_the_voters_and_the_version_of_its_end():
    driven = following(controls_log(), high_watermark=5, voters=(1, 7))
    assert driven.state.controls.voters == voter_set(1, 2, 3)
    (effect,) = create(driven, 3, 3)
    content = read_snapshot(effect.data)
    assert (content.voters, content.version) == (voter_set(1, 2), 1)


def test_s88_voters_are_those_of_the_snapshot_that_was_loaded_and_of_the_log_after_it():
    taken = snapshot(9, 4, voters=(1, 2), version=1)
    driven = following(log_of(1), fetching_snapshot=taken.snapshot_id)
    driven.answer(2, piece(taken))
    assert driven.state.controls.voters == voter_set(1, 2)
    assert driven.state.controls.version == 1
    records = [voters_record(voter_set(1, 2, 3))]
    added = controls_batch(9, EPOCH, 0, records)
    driven.asks(2).answer(2, fetched([added]))
    assert driven.state.controls.voters == voter_set(1, 2, 3)
    static = driven.state.controls.static_voters
    assert driven.state.controls == ControlHistory.of_log(static, driven.state.log)


def test_s88_voters_whose_record_is_cut_off_are_voters_no_more():
    driven = following(controls_log(), voters=(1, 7))
    driven.answer(2, fetched(diverging=at(3, 3)))
    assert driven.state.controls.voters == voter_set(1, 2)
    driven.asks(2).answer(2, fetched(diverging=at(1, 1)))
    assert driven.state.controls.voters == voter_set(1, 7)
    assert driven.state.controls.version == 0
