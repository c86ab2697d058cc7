"""The voters and the kraft.version that a log is read to have, against a list of its records."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.raft.majorities import overlap

from kraft.errors import CorruptRecordError
from kraft.ids import OffsetAndEpoch, ReplicaKey
from kraft.log.batches import controls_batch, data_batch
from kraft.log.image import LogImage, Snapshot
from kraft.raft.controls import ControlHistory, VersionAt, VotersAt
from kraft.raft.snapshot_file import snapshot_bytes
from kraft.raft.voter_records import leader_change_record, version_record, voters_record
from kraft.raft.voters import Voter, VoterSet
from kraft.records.control_schemas import KRAFT_VERSION, KRAFT_VOTERS

DISK = "disk-of-one-AAAAAAAAAA"
# A real record's value: a NoOpRecord.
NO_OP = b"\x01\x14\x00\x00"


def voter_set(*nodes):
    return VoterSet.of(Voter(ReplicaKey(node, DISK)) for node in nodes)


STATIC = voter_set(9)
A, B, C = voter_set(1), voter_set(1, 2), voter_set(1, 2, 3)


def snapshot(end_offset, voters, version, epoch=1):
    snapshot_id = OffsetAndEpoch(end_offset, epoch)
    return Snapshot(snapshot_id, snapshot_bytes(snapshot_id, (), voters, version, 0))


def log_of(*batches, start=None):
    log = LogImage() if start is None else LogImage().begin_at(start)
    for records in batches:
        if records == "data":
            log = log.append((data_batch(log.end_offset, 1, 0, [NO_OP]),))
        else:
            log = log.append((controls_batch(log.end_offset, 1, 0, records),))
    return log


def test_without_a_record_the_static_voters_count_and_kraft_version_is_zero():
    history = ControlHistory.of_log(STATIC, log_of("data", [leader_change_record(1, (1,), (1,))]))
    assert (history.voters, history.version) == (STATIC, 0)
    assert history.last_voters_offset is None


def test_the_last_record_counts_and_each_stands_at_its_own_offset():
    history = ControlHistory.of_log(
        STATIC,
        log_of(
            [leader_change_record(1, (1,), (1,)), version_record(1), voters_record(A)],
            "data",
            [voters_record(B)],
        ),
    )
    assert history.voter_sets == (VotersAt(2, A), VotersAt(4, B))
    assert history.versions == (VersionAt(1, 1),)
    assert (history.voters, history.version, history.last_voters_offset) == (B, 1, 4)


def test_what_counts_at_an_offset_is_by_the_records_up_to_it():
    history = ControlHistory.of_log(
        STATIC, log_of("data", [version_record(1), voters_record(A)], "data", [voters_record(B)])
    )
    assert history.at(0) == (STATIC, 0)
    assert history.at(1) == (STATIC, 1)
    assert history.at(2) == (A, 1)
    assert history.at(3) == (A, 1)
    assert history.at(4) == (B, 1)


def test_s102_a_truncation_takes_the_voters_back_that_it_cuts_off():
    history = ControlHistory.of_log(
        STATIC, log_of([version_record(1), voters_record(A)], "data", [voters_record(B)])
    )
    assert history.truncated(4) == history
    assert history.truncated(3).voters == A
    assert history.truncated(2).voters == A
    assert history.truncated(1).voters == STATIC
    assert (history.truncated(1).version, history.truncated(0).version) == (1, 0)


def test_s90_a_bootstrap_snapshot_has_its_voters_at_offset_minus_one_before_the_whole_log():
    log = LogImage().with_snapshot(snapshot(0, A, 1, epoch=0))
    history = ControlHistory.of_log(STATIC, log)
    assert history.voter_sets == (VotersAt(-1, A),)
    assert (history.voters, history.version, history.last_voters_offset) == (A, 1, -1)
    log = log.append((controls_batch(0, 1, 0, [voters_record(B)]),))
    history = ControlHistory.of_log(STATIC, log)
    assert history.voters == B
    assert history.truncated(0).voters == A


def test_s88_a_snapshot_in_front_of_the_log_brings_what_was_said_before_it():
    log = log_of("data", [voters_record(C)], start=snapshot(7, B, 1))
    history = ControlHistory.of_log(STATIC, log)
    assert history.voter_sets == (VotersAt(6, B), VotersAt(8, C))
    assert history.versions == (VersionAt(6, 1),)
    assert history.truncated(7).voters == B
    assert history.at(7) == (B, 1)


@pytest.mark.parametrize(("end_offset", "voters"), [(3, A), (4, B)])
def test_a_snapshot_within_the_log_or_at_its_end_adds_nothing_to_it(end_offset, voters):
    log = log_of([version_record(1), voters_record(A)], "data", [voters_record(B)])
    taken = log.with_snapshot(snapshot(end_offset, voters, 1))
    assert ControlHistory.of_log(STATIC, taken) == ControlHistory.of_log(STATIC, log)


def test_s86_a_snapshot_beyond_the_log_counts_and_nothing_of_the_log():
    log = log_of([version_record(1), voters_record(A)]).with_snapshot(snapshot(9, C, 1, epoch=2))
    history = ControlHistory.of_log(STATIC, log)
    assert history.voter_sets == (VotersAt(8, C),)


def test_a_snapshot_of_kraft_version_zero_leaves_the_static_voters():
    history = ControlHistory.from_snapshot(STATIC, snapshot(5, A, 0))
    assert history == ControlHistory(STATIC)


def test_s98_a_set_whose_majorities_do_not_meet_the_last_ones_is_taken_as_the_log_has_it():
    history = ControlHistory.of_log(
        STATIC, log_of([version_record(1), voters_record(voter_set(1))], [voters_record(C)])
    )
    assert history.voters == C
    assert not overlap(A, C)


def test_a_record_with_two_voters_of_one_node_is_refused():
    kind, fields = voters_record(A)
    twice = (kind, {**fields, "voters": fields["voters"] * 2})
    with pytest.raises(CorruptRecordError, match="KRaftVoters: two voters have the same node id"):
        ControlHistory.of_log(STATIC, log_of([twice]))


RECORDS = st.one_of(
    st.sets(st.integers(1, 4), min_size=1).map(lambda nodes: voters_record(voter_set(*nodes))),
    st.integers(0, 1).map(version_record),
    st.just(leader_change_record(1, (1, 2), (1,))),
)
BATCHES = st.lists(st.one_of(st.just("data"), st.lists(RECORDS, min_size=1, max_size=3)))


def last_of(log, before, kind, otherwise):
    """Say it again without any history: look at every record of the log, the last one counts."""
    found = otherwise
    for batch in log.batches():
        for offset, (record_kind, fields) in enumerate(batch.controls, batch.base_offset):
            if offset < before and record_kind == kind:
                found = fields
    return found


def expected(log, before):
    voters = last_of(log, before, KRAFT_VOTERS.api_key, None)
    version = last_of(log, before, KRAFT_VERSION.api_key, {"kRaftVersion": 0})
    nodes = STATIC.node_ids if voters is None else tuple(v["voterId"] for v in voters["voters"])
    return nodes, version["kRaftVersion"]


@given(BATCHES)
def test_a_history_says_at_each_offset_what_a_look_through_all_records_says(batches):
    log = log_of(*batches)
    history = ControlHistory.of_log(STATIC, log)
    for offset in range(log.end_offset):
        voters, version = history.at(offset)
        assert (voters.node_ids, version) == expected(log, offset + 1)
    assert (history.voters.node_ids, history.version) == expected(log, log.end_offset)


@given(BATCHES, BATCHES, st.data())
def test_appends_and_truncations_end_where_reading_the_whole_log_again_does(first, second, data):
    log = log_of(*first)
    history = ControlHistory.of_log(STATIC, log)
    cut = data.draw(st.sampled_from([*(b.base_offset for b in log.batches()), log.end_offset]))
    log, history = log.truncate(cut), history.truncated(cut)
    assert history == ControlHistory.of_log(STATIC, log)
    start = log.end_offset
    for records in second:
        batch = (
            data_batch(log.end_offset, 2, 0, [NO_OP])
            if records == "data"
            else controls_batch(log.end_offset, 2, 0, records)
        )
        log = log.append((batch,))
    history = history.with_batches(log.read(start, 2**20) if second else ())
    assert history == ControlHistory.of_log(STATIC, log)


@given(BATCHES, st.data())
def test_a_snapshot_and_what_follows_it_say_what_the_whole_log_says(batches, data):
    log = log_of([version_record(1), voters_record(C)], *batches)
    history = ControlHistory.of_log(STATIC, log)
    ends = [batch.end_offset for batch in log.batches()]
    end = data.draw(st.sampled_from(ends))
    voters, version = history.at(end - 1)
    if version == 0:
        return
    taken = snapshot(end, voters, version)
    cleaned = log.with_snapshot(taken).clean_to(taken.snapshot_id)
    again = ControlHistory.of_log(STATIC, cleaned)
    for offset in range(end - 1, log.end_offset):
        assert again.at(offset) == history.at(offset)
