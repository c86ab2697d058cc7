"""What a leader's state machine wants to append, and what the log gets of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.raft.replicas import (
    EPOCH,
    NOW,
    TIMEOUTS,
    begin,
    candidate,
    log_of,
    replica,
    voted_answer,
)
from tests.kraft.raft.replication import Driven, batch, fetch, following, leading

from kraft.log.batches import data_batch
from kraft.raft.appends import drain_deadline
from kraft.raft.configuration import MILLISECOND
from kraft.raft.effects import AppendLog, AppendRefused, FlushLog, HandleCommit
from kraft.raft.events import PrepareAppend, ScheduleAppend
from kraft.raft.leader_log import append_batches, append_controls
from kraft.raft.roles import NEVER, Leader
from kraft.raft.turn import Turn
from kraft.records.control_schemas import LEADER_CHANGE

LINGER = TIMEOUTS.append_linger


def prepare(driven, *values, epoch=EPOCH):
    return driven.event(PrepareAppend, epoch=epoch, values=values)


def schedule(driven):
    return driven.event(ScheduleAppend)


def drained(driven):
    """Return the batches of the next drain, which is due once the linger is over."""
    driven.now = max(driven.now, drain_deadline(driven.role))
    (effect,) = driven.poll()
    assert isinstance(effect, AppendLog)
    assert driven.poll() == (FlushLog(),)
    return effect.batches


def quiet(**fields):
    """Return a leader with nothing else to do for as long as it lingers."""
    return leading(log_of(EPOCH), high_watermark=1, **fields)


def test_s68_what_is_prepared_is_appended_once_it_is_scheduled_and_has_lingered():
    driven = quiet()
    assert prepare(driven, b"a", b"b") == ()
    driven.wait(LINGER)
    assert driven.poll() == ()
    assert driven.next_deadline() > driven.now
    assert schedule(driven) == ()
    assert driven.next_deadline() == NOW + LINGER
    expected = data_batch(1, EPOCH, driven.now // MILLISECOND, [b"a", b"b"])
    assert driven.poll() == (AppendLog((expected,)),)
    assert driven.role.must_flush
    assert driven.poll() == (FlushLog(),)
    assert not driven.role.must_flush
    assert driven.state.log.end_offset == 3


def test_s68_what_is_scheduled_lingers_from_when_the_first_of_it_was_prepared():
    driven = quiet()
    prepare(driven, b"a")
    driven.wait(LINGER // 2)
    prepare(driven, b"b")
    schedule(driven)
    assert drain_deadline(driven.role) == NOW + LINGER
    driven.now = NOW + LINGER - 1
    assert driven.poll() == ()
    assert [each.values for each in drained(driven)] == [(b"a", b"b")]


def test_s68_values_that_come_together_are_one_batch():
    driven = quiet()
    for values in ((b"a", b"b"), (b"c",)):
        prepare(driven, *values)
        schedule(driven)
    assert [each.values for each in drained(driven)] == [(b"a", b"b", b"c")]
    assert drain_deadline(driven.role) == NEVER


def test_s68_what_is_only_prepared_stays_out_of_the_batch_of_what_is_scheduled():
    driven = quiet()
    prepare(driven, b"a")
    schedule(driven)
    prepare(driven, b"b")
    assert [each.values for each in drained(driven)] == [(b"a",)]
    assert drain_deadline(driven.role) == NEVER
    assert driven.next_deadline() > driven.now
    schedule(driven)
    (second,) = drained(driven)
    assert (second.base_offset, second.values) == (2, (b"b",))


def test_s68_a_batch_that_has_no_room_left_is_followed_by_another():
    driven = quiet(maximum_batch_bytes=61 + 3 * 109)
    for value in (b"a", b"b", b"c", b"d"):
        prepare(driven, value * 100)
    schedule(driven)
    batches = drained(driven)
    assert [len(each.values) for each in batches] == [3, 1]
    assert [each.base_offset for each in batches] == [1, 4]
    assert all(len(each.raw) <= 61 + 3 * 109 for each in batches)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=80))
def test_s68_a_batch_is_too_large_exactly_if_its_bytes_are_more_than_the_limit(values):
    size = len(data_batch(1, EPOCH, 0, values).raw)
    driven = quiet(maximum_batch_bytes=size)
    assert prepare(driven, *values) == ()
    driven = quiet(maximum_batch_bytes=size - 1)
    before = driven.state
    (refused,) = prepare(driven, *values)
    assert refused == AppendRefused(f"the batch is larger than {size - 1} bytes")
    assert driven.state == before


def test_s68_an_append_of_another_epoch_is_refused():
    driven = quiet()
    before = driven.state
    stale = prepare(driven, b"a", epoch=EPOCH - 1)
    assert stale == (AppendRefused(f"not the leader of epoch {EPOCH - 1}, which is over"),)
    future = prepare(driven, b"a", epoch=EPOCH + 1)
    reason = f"epoch {EPOCH + 1} is to come, this is epoch {EPOCH}"
    assert future == (AppendRefused(reason),)
    assert driven.state == before


def test_s68_nothing_to_append_is_appended_at_once():
    driven = quiet()
    before = driven.state
    assert prepare(driven) == ()
    assert driven.state is before


def test_s68_more_than_ten_batches_at_once_are_refused():
    driven = quiet(maximum_batch_bytes=200)
    for number in range(11):
        assert prepare(driven, bytes([number]) * 100) == ()
    before = driven.state
    assert prepare(driven, b"x" * 100) == (AppendRefused("10 batches are waiting already"),)
    assert driven.state == before
    schedule(driven)
    assert len(drained(driven)) == 11
    assert prepare(driven, b"x" * 100) == ()


@pytest.mark.parametrize("driven", [following(log_of(EPOCH))])
def test_s48_who_does_not_lead_takes_no_appends(driven):
    assert prepare(driven, b"a") == (AppendRefused("not the leader"),)
    assert schedule(driven) == (AppendRefused("not the leader"),)


def test_s48_what_was_gathered_is_dropped_with_the_leadership():
    driven = quiet()
    prepare(driven, b"a")
    schedule(driven)
    driven.request(begin(EPOCH + 1))
    driven.wait(LINGER)
    driven.settle()
    assert not driven.of(AppendLog)
    assert schedule(driven) == (AppendRefused("not the leader"),)
    assert driven.state.log.end_offset == 1


def test_s69_the_first_batch_of_an_epoch_names_the_leader_the_voters_and_who_voted():
    driven = Driven(replica(candidate(), log=log_of(1, 4)), NOW).asks(3)
    driven.answer(3, voted_answer())
    (appended,) = driven.of(AppendLog)
    (first,) = appended.batches
    assert (first.base_offset, first.epoch) == (2, EPOCH)
    ((kind, fields),) = first.controls
    assert kind == LEADER_CHANGE.api_key
    assert fields["leaderId"] == 1
    assert [each["voterId"] for each in fields["voters"]] == [1, 2, 3]
    assert [each["voterId"] for each in fields["grantingVoters"]] == [1, 3]
    assert driven.order()[:4] == ["WriteQuorumState", "AppendLog", "SendRequest", "SendRequest"]
    assert isinstance(driven.role, Leader)
    assert driven.role.epoch_start == 2
    assert driven.poll() == (FlushLog(),)


def test_a_leader_appends_after_its_first_batch_and_in_its_epoch_only():
    driven = Driven(replica(candidate(), log=log_of(1, 4)), NOW).asks(3)
    driven.answer(3, voted_answer())
    prepare(driven, b"a")
    schedule(driven)
    driven.poll()
    (first,) = drained(driven)
    assert (first.base_offset, first.epoch, first.values) == (3, EPOCH, (b"a",))


def test_a_control_record_comes_after_what_was_prepared_which_keeps_its_offsets():
    driven = quiet()
    prepare(driven, b"a", b"b")
    fields = {"version": 0, "leaderId": 1, "voters": (), "grantingVoters": ()}
    turn = Turn.begin(driven.state, driven.now, 0)
    append_controls(turn, [(LEADER_CHANGE.api_key, fields)])
    step = turn.step()
    assert [type(one) for one in step.effects] == [AppendLog, FlushLog, AppendLog]
    data, control = step.effects[0].batches[0], step.effects[2].batches[0]
    assert (data.base_offset, data.values) == (1, (b"a", b"b"))
    assert (control.base_offset, len(control.controls)) == (3, 1)
    driven.state = step.state
    assert driven.poll() == (FlushLog(),)
    prepare(driven, b"c")
    schedule(driven)
    (after,) = drained(driven)
    assert (after.base_offset, after.values) == (4, (b"c",))


def test_a_sole_voter_tells_what_it_appended_at_once_and_others_when_a_majority_has_it():
    driven = quiet(voters=(1,))
    prepare(driven, b"a")
    schedule(driven)
    driven.wait(LINGER)
    names = [type(each).__name__ for each in driven.poll()]
    assert names == ["AppendLog", "HandleCommit"]
    driven = quiet()
    prepare(driven, b"a")
    schedule(driven)
    (appended,) = drained(driven)
    driven.request(fetch(2, wait=0))
    assert driven.order() == ["SendResponse", "HandleCommit"]
    assert driven.of(HandleCommit) == [HandleCommit((appended,))]


def test_a_batch_is_appended_where_the_log_ends():
    driven = quiet()
    with pytest.raises(ValueError, match="the log ends at 1"):
        append_batches(Turn.begin(driven.state, NOW, 0), (batch(2),))
