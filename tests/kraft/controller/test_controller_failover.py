"""A controller steps back, and follows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kraft.controller.controller_runs import (
    CONFIGURATION,
    VERSION,
    Player,
    active,
    config,
    put,
    reason,
    replies,
    value_of,
)

from kraft.controller import events
from kraft.controller.effects import Reply, Resign
from kraft.controller.machine import on_event
from kraft.controller.operations.heartbeats import heartbeat_state
from kraft.controller.state import first_state, is_active
from kraft.errors import ErrorCode
from kraft.ids import BrokerEpoch, BrokerId, IncarnationId, Offset, TopicId
from kraft.records.cluster import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from kraft.records.lease import RegisterBrokerRecord, UnregisterBrokerRecord
from kraft.records.topics import RemoveTopicRecord

_BROKER = RegisterBrokerRecord(
    BrokerId(4), IncarnationId("I" * 21 + "A"), BrokerEpoch(3), fenced=False
)


def test_waiting_requests_get_not_controller_in_order_and_uncommitted_state_is_dropped() -> None:
    player = active()
    stable = player.state.stable_end
    player.ask(put(a="1"), "first")
    player.ask(put(b="1"), "second")
    effects = player.follow(2)
    assert effects[0] == Resign(1)
    assert replies(effects) == [
        ("first", ErrorCode.NOT_CONTROLLER),
        ("second", ErrorCode.NOT_CONTROLLER),
    ]
    state = player.state
    assert state.deferred == ()
    assert state.heartbeats is None
    assert dict(state.tasks) == {}
    assert state.write_end == state.stable_end == state.committed_end == stable
    assert value_of(state.written.image, "a") is None


def test_a_refused_append_makes_the_controller_step_back() -> None:
    player = active()
    player.ask(put(a="1"))
    effects = player.handle(events.AppendRefused(0, 1))
    assert replies(effects) == [("t", ErrorCode.NOT_CONTROLLER)]
    assert not is_active(player.state)


def test_a_refused_append_of_another_epoch_is_ignored() -> None:
    player = active()
    before = player.state
    assert player.handle(events.AppendRefused(0, 0)) == ()
    assert player.state == before


def test_a_controller_steps_back_when_asked_to_and_once() -> None:
    player = active()
    assert player.handle(events.RenounceRequested(0)) == (Resign(1),)
    assert player.handle(events.RenounceRequested(0)) == ()


def test_a_committed_prefix_stays_when_the_rest_is_dropped() -> None:
    player = active()
    player.ask(put(a="1"), "first")
    player.ask(put(a="2"), "second")
    player.commit()
    assert replies(player.follow(2)) == [("second", ErrorCode.NOT_CONTROLLER)]
    assert value_of(player.state.written.image, "a") == "1"


def test_a_batch_can_be_committed_after_its_request_got_not_controller() -> None:
    player = active()
    player.ask(put(a="1"))
    player.follow(2)
    player.commit()
    assert value_of(player.image, "a") == "1"


def test_a_control_batch_moves_nothing_of_an_active_controller_that_can_still_go_back() -> None:
    player = active()
    before = player.state
    player.write(1, (), 1)
    player.commit_all()
    assert player.state == replace(before, bytes_since_snapshot=before.bytes_since_snapshot + 100)
    player.follow(2)
    assert player.state.written == before.written


def test_a_control_batch_changes_nothing_visible_on_a_standby() -> None:
    player = active()
    player.follow(2)
    image = player.image
    player.write(2, (), 1)
    player.commit_all()
    assert player.image == image
    player.lead(3)
    player.handle(events.RenounceRequested(0))
    assert player.image == image


def test_a_standby_hides_a_transaction_until_it_ends() -> None:
    player = active()
    player.follow(2)
    stable = player.log_end
    player.write(2, (BeginTransactionRecord(),))
    player.write(2, (config("a", "1"),))
    player.commit_all()
    assert player.state.stable_end == stable
    assert value_of(player.image, "a") is None
    player.write(2, (EndTransactionRecord(),))
    player.commit_all()
    assert player.state.stable_end == player.log_end
    assert value_of(player.image, "a") == "1"


def test_an_aborted_transaction_leaves_nothing_even_if_records_follow_it() -> None:
    player = active()
    player.follow(2)
    player.write(2, (BeginTransactionRecord(), _BROKER))
    player.write(2, (config("a", "1"), AbortTransactionRecord(), config("b", "1")))
    player.commit_all()
    assert value_of(player.image, "a") is None
    assert value_of(player.image, "b") == "1"
    assert dict(player.image.brokers) == {}
    assert dict(player.state.written.written.registration_offsets) == {}


def test_a_controller_that_steps_back_in_a_transaction_can_read_on_to_its_end() -> None:
    player = active()
    player.handle(events.TransactionMarked(0, BeginTransactionRecord()))
    player.ask(put(a="1"))
    player.commit_all()
    assert value_of(player.image, "a") is None
    player.follow(2)
    player.write(2, (AbortTransactionRecord(),))
    player.commit_all()
    assert value_of(player.image, "a") is None
    assert player.state.stable_end == player.log_end


def test_an_answer_in_a_transaction_waits_for_its_end() -> None:
    player = active()
    player.handle(events.TransactionMarked(0, BeginTransactionRecord()))
    player.ask(put(a="1"))
    assert replies(player.commit_all()) == []
    player.handle(events.TransactionMarked(0, EndTransactionRecord()))
    assert replies(player.commit_all()) == [("t", "done")]


def test_a_transaction_does_not_begin_twice_nor_end_without_a_beginning() -> None:
    player = active()
    assert player.handle(events.TransactionMarked(0, EndTransactionRecord())) == ()
    player.handle(events.TransactionMarked(0, BeginTransactionRecord()))
    assert player.handle(events.TransactionMarked(0, BeginTransactionRecord())) == ()


@pytest.mark.parametrize(
    "record",
    [
        RemoveTopicRecord(TopicId("T" * 21 + "A")),
        UnregisterBrokerRecord(BrokerId(1), BrokerEpoch(0)),
    ],
)
def test_a_record_that_a_standby_cannot_replay_is_fatal(record: RemoveTopicRecord) -> None:
    player = active()
    player.follow(2)
    before = player.state
    player.write(2, (config("a", "1"), record))
    offset = player.log_end - 1
    assert reason(player.commit_all()).startswith(f"offset {offset}: {type(record).__name__}: ")
    assert player.state == before


def test_a_transaction_in_a_transaction_is_fatal() -> None:
    player = Player()
    player.write(1, (VERSION, BeginTransactionRecord()))
    player.write(1, (BeginTransactionRecord(),))
    assert "in the transaction begun at 1" in reason(player.commit_all())


def test_a_batch_that_was_already_handed_over_is_fatal() -> None:
    player = active()
    player.follow(2)
    player.committed = 0
    assert "are replayed" in reason(player.commit())


def test_the_soft_state_follows_the_records_and_ends_with_the_claim() -> None:
    player = Player(first_state(replace(CONFIGURATION, bootstrap=(VERSION, _BROKER)), 0))
    player.now_ms = 5
    player.lead()
    player.commit_all()
    assert player.state.heartbeats is not None
    assert heartbeat_state(player.state.heartbeats, BrokerId(4)).contact_time_ms is None
    player.follow(2)
    player.now_ms = 9
    player.lead(3)
    assert player.state.heartbeats is not None
    assert heartbeat_state(player.state.heartbeats, BrokerId(4)).contact_time_ms == 9


def test_several_batches_at_once_equal_the_same_batches_one_by_one() -> None:
    player, other = active(), active()
    for one in (player, other):
        for value in "123":
            one.ask(put(a=value), value)
    together = player.commit_all()
    apart = other.commit() + other.commit() + other.commit()
    assert together == apart
    assert player.state == other.state


def test_an_earlier_state_never_changes() -> None:
    player = active()
    before = player.state
    first = on_event(
        before, events.RequestReceived(0, "t", put(a="1"), kraft_version=0), player.operations
    )
    second = on_event(
        before, events.RequestReceived(0, "t", put(a="1"), kraft_version=0), player.operations
    )
    assert first == second
    assert first.state != before


def test_a_deposed_controller_goes_back_to_each_batch_that_is_committed() -> None:
    player = active()
    for value in "123":
        player.ask(put(a=value), value)
    for value in "123":
        player.commit()
        left = on_event(player.state, events.LeaderChanged(0, 2, None), player.operations).state
        assert value_of(left.written.image, "a") == value
        assert list(left.timeline) == [left.stable_end]


def test_a_committed_end_without_kept_state_is_fatal() -> None:
    player = active()
    player.ask(put(a="1"))
    player.state = replace(player.state, committed_end=Offset(player.log_end + 1))
    assert "no state is kept" in reason(player.follow(2))
    assert not any(isinstance(one, Reply) for one in player.effects)
