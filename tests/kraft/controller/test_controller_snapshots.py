"""Snapshots, periodic tasks, and records as bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.kraft.controller.controller_runs import (
    CONFIGURATION,
    LATEST,
    VERSION,
    Player,
    active,
    config,
    put,
    reason,
    value_of,
)
from tests.kraft.controller.partitions import TOPIC, image_of

from kraft.controller import events
from kraft.controller.effects import Append, CreateSnapshot, Resign
from kraft.controller.machine import next_deadline, on_event
from kraft.controller.operation_table import OPERATIONS, Operations, Task
from kraft.controller.operations.errors import ControllerError
from kraft.controller.operations.result import Result
from kraft.controller.record_bytes import decode_records, encode_records
from kraft.controller.snapshots import snapshot_deadline
from kraft.controller.state import NEVER, first_state
from kraft.errors import CorruptRecordError, ErrorCode, UnsupportedVersionError
from kraft.ids import BrokerEpoch, BrokerId, IncarnationId, Offset, OffsetAndEpoch, TopicId
from kraft.image.metadata_image import METADATA_VERSION
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.records.cluster import BeginTransactionRecord, EndTransactionRecord, FeatureLevelRecord
from kraft.records.lease import NoOpRecord, RegisterBrokerRecord
from kraft.records.topics import TOPIC_RESOURCE, ConfigRecord, TopicRecord

if TYPE_CHECKING:
    from collections.abc import Callable

_BROKER = RegisterBrokerRecord(BrokerId(4), IncarnationId("I" * 21 + "A"), BrokerEpoch(3))
_SNAPSHOT = events.SnapshotRequested(0)
_TOPIC = TopicRecord("t", TopicId("T" * 21 + "A"))


def test_a_snapshot_has_the_fewest_records_and_ends_before_the_next_batch() -> None:
    player = active()
    for value in "12":
        player.ask(put(a=value))
    player.commit()
    (snapshot,) = player.handle(_SNAPSHOT)
    assert isinstance(snapshot, CreateSnapshot)
    assert snapshot.snapshot_id == OffsetAndEpoch(player.log[-1].base_offset, 1)
    assert snapshot.records == (VERSION, config("a", "1"))


def test_the_same_state_gets_no_second_snapshot() -> None:
    player = active()
    assert len(player.handle(_SNAPSHOT)) == 1
    assert player.handle(_SNAPSHOT) == ()


def test_a_snapshot_contains_no_part_of_an_open_transaction() -> None:
    player = active()
    player.follow(2)
    begins = player.log_end
    player.write(2, (BeginTransactionRecord(), config("a", "1")))
    player.commit_all()
    (snapshot,) = player.handle(_SNAPSHOT)
    assert isinstance(snapshot, CreateSnapshot)
    assert snapshot.snapshot_id == OffsetAndEpoch(begins, 1)
    assert snapshot.records == (VERSION,)


def test_no_snapshot_ends_in_the_middle_of_a_batch() -> None:
    player = active()
    player.follow(2)
    player.handle(_SNAPSHOT)
    player.write(2, (config("a", "1"), BeginTransactionRecord(), config("b", "1")))
    player.commit_all()
    assert value_of(player.image, "a") == "1"
    assert value_of(player.image, "b") is None
    assert player.handle(_SNAPSHOT) == ()
    player.write(2, (EndTransactionRecord(),))
    player.commit_all()
    (snapshot,) = player.handle(_SNAPSHOT)
    assert isinstance(snapshot, CreateSnapshot)
    assert snapshot.snapshot_id == OffsetAndEpoch(player.log_end, 2)


def test_an_active_controller_shows_the_records_before_a_transaction_in_the_same_batch() -> None:
    begin, end = BeginTransactionRecord(), EndTransactionRecord()
    operations = Operations(
        {int: lambda asked: Result((config("a", "1"), begin) if asked.request else (end,), None)},
        {},
    )
    player = active()
    player.operations = operations
    player.ask(1)
    player.commit_all()
    assert value_of(player.image, "a") == "1"
    player.ask(0)
    player.commit_all()
    assert player.state.stable_end == player.log_end


def test_a_snapshot_is_due_after_so_many_bytes_also_across_a_failover() -> None:
    small = replace(CONFIGURATION, max_record_bytes_between_snapshots=1_000)
    player = Player(first_state(small, 0))
    player.lead()
    player.commit_all()
    for _ in range(4):
        player.ask(put(a="1"))
    player.commit_all()
    assert next_deadline(player.state) > 0
    player.follow(2)
    player.write(2, (config("a", "2"), config("b", "2")))
    player.commit_all()
    assert next_deadline(player.state) == 0
    (snapshot,) = player.handle(events.Poll(0))
    assert isinstance(snapshot, CreateSnapshot)
    assert player.state.bytes_since_snapshot == 0
    assert next_deadline(player.state) == NEVER


def test_a_snapshot_is_due_after_some_time_if_there_is_news() -> None:
    player = active()
    assert next_deadline(player.state) == 3_600_000
    player.handle(events.Poll(3_600_000))
    assert next_deadline(player.state) == NEVER


def test_the_time_to_the_first_snapshot_counts_from_the_start_of_the_process() -> None:
    start_ms = 1_700_000_000_000
    player = Player(first_state(CONFIGURATION, start_ms))
    player.now_ms = start_ms
    player.lead()
    player.commit_all()
    assert snapshot_deadline(player.state) == start_ms + 3_600_000


@pytest.mark.parametrize("loads", [False, True])
def test_there_is_no_snapshot_before_the_first_metadata_record(loads: bool) -> None:
    """Neither Raft's own records nor a checkpoint of the first voters are one (KAFKA-15375)."""
    greedy = replace(CONFIGURATION, max_record_bytes_between_snapshots=1)
    state = first_state(greedy, 0)
    if loads:
        state = on_event(state, events.SnapshotLoaded(0, OffsetAndEpoch(0, 0), ())).state
    control = events.CommittedBatch(Offset(0), 1, (), 1, 100)
    state = on_event(state, events.BatchesCommitted(0, (control,))).state
    assert (state.stable_end, state.bytes_since_snapshot) == (1, 100)
    assert snapshot_deadline(state) == NEVER
    assert on_event(state, events.SnapshotRequested(0)).effects == ()
    first = events.CommittedBatch(Offset(1), 1, (VERSION,), 1, 100)
    state = on_event(state, events.BatchesCommitted(0, (first,))).state
    assert snapshot_deadline(state) <= 0
    (snapshot,) = on_event(state, events.SnapshotRequested(0)).effects
    assert isinstance(snapshot, CreateSnapshot)
    assert snapshot.snapshot_id == OffsetAndEpoch(2, 1)


def test_there_is_no_snapshot_while_the_bootstrap_transaction_is_open() -> None:
    state = first_state(replace(CONFIGURATION, max_record_bytes_between_snapshots=1), 0)
    control = events.CommittedBatch(Offset(0), 1, (), 1, 100)
    begun = events.CommittedBatch(
        Offset(1),
        1,
        (
            BeginTransactionRecord(
                "",
            ),
            VERSION,
        ),
        2,
        100,
    )
    state = on_event(state, events.BatchesCommitted(0, (control, begun))).state
    assert snapshot_deadline(state) == NEVER
    ended = events.CommittedBatch(Offset(3), 1, (EndTransactionRecord(),), 1, 100)
    state = on_event(state, events.BatchesCommitted(0, (ended,))).state
    assert snapshot_deadline(state) <= 0


def test_no_snapshot_is_due_by_time_if_its_interval_is_0() -> None:
    player = Player(first_state(replace(CONFIGURATION, max_snapshot_interval_ms=0), 0))
    player.lead()
    player.commit_all()
    assert next_deadline(player.state) == NEVER


def test_a_snapshot_replaces_all_state() -> None:
    player = active()
    player.follow(2)
    player.write(2, (_TOPIC, config("a", "1"), _BROKER))
    player.commit_all()
    assert player.load(40, VERSION, config("b", "1"), epoch=3) == ()
    assert dict(player.image.topics) == {}
    assert dict(player.image.brokers) == {}
    assert value_of(player.image, "a") is None
    assert value_of(player.image, "b") == "1"
    state = player.state
    assert state.committed_end == state.stable_end == state.write_end == state.snapshot_end == 40


def test_a_broker_in_a_snapshot_counts_as_registered_at_its_last_offset() -> None:
    player = Player()
    player.load(40, VERSION, _BROKER)
    assert dict(player.state.written.written.registration_offsets) == {BrokerId(4): 39}


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ((VERSION, BeginTransactionRecord()), "has a BeginTransactionRecord"),
        ((EndTransactionRecord(),), "has a EndTransactionRecord"),
        ((_TOPIC, _TOPIC), "TopicRecord: "),
    ],
)
def test_an_invalid_snapshot_is_fatal(records: tuple[TopicRecord, ...], said: str) -> None:
    assert said in reason(Player().load(40, *records))


def test_a_snapshot_is_fatal_for_the_active_controller() -> None:
    assert "active in epoch 1" in reason(active().load(40, VERSION))


def test_a_snapshot_older_than_the_committed_log_is_fatal() -> None:
    player = active()
    player.follow(2)
    assert "is older than" in reason(player.load(1, VERSION))


def test_a_controller_that_loaded_a_snapshot_can_follow_and_lead() -> None:
    player = active()
    player.ask(put(a="1"))
    player.commit_all()
    (snapshot,) = player.handle(_SNAPSHOT)
    assert isinstance(snapshot, CreateSnapshot)
    other = Player(log=list(player.log), committed=len(player.log))
    other.handle(events.SnapshotLoaded(0, snapshot.snapshot_id, snapshot.records))
    assert other.image == player.image
    assert other.lead(2) == ()
    other.ask(put(a="2"))
    other.commit_all()
    assert value_of(other.image, "a") == "2"


def _with_tasks() -> Player:
    player = active()
    player.follow(2)
    player.operations = OPERATIONS
    player.lead(3)
    return player


def test_an_idle_controller_writes_a_no_op_record() -> None:
    player = _with_tasks()
    assert next_deadline(player.state) == 500
    assert player.handle(events.Poll(499)) == ()
    (append,) = player.handle(events.Poll(500))
    assert isinstance(append, Append)
    assert append.records == (NoOpRecord(),)
    assert next_deadline(player.state) == 1_000


def test_under_an_old_metadata_version_nothing_is_written_by_an_idle_controller() -> None:
    old = FeatureLevelRecord(METADATA_VERSION, 4)
    player = Player(first_state(replace(CONFIGURATION, bootstrap=(old,)), 0), OPERATIONS)
    player.lead()
    assert player.handle(events.Poll(500)) == ()
    assert next_deadline(player.state) == 1_000


def test_a_task_with_more_to_do_runs_again_soon_and_other_tasks_run_in_between() -> None:
    tasks = (
        Task("slow", lambda _: Result((), response=True), lambda _: 100),
        Task("fast", lambda _: Result((NoOpRecord(),), response=False), lambda _: 100),
        Task("off", lambda _: Result((), response=True), lambda _: 0),
    )
    player = active()
    player.follow(2)
    player.operations = Operations({}, {}, tasks)
    player.lead(3)
    assert dict(player.state.tasks) == {"slow": 100, "fast": 100}
    assert len(player.handle(events.Poll(100))) == 1
    assert player.handle(events.Poll(100)) == ()
    assert dict(player.state.tasks) == {"slow": 110, "fast": 200}
    assert player.handle(events.Poll(100)) == ()


def _with_failing_task(fails: Callable[[object], Result[bool]]) -> Player:
    player = active()
    player.follow(2)
    player.operations = Operations({}, {}, (Task("fails", fails, lambda _: 10),))
    player.lead(3)
    return player


@pytest.mark.parametrize(
    "error", [ZeroDivisionError(), ControllerError(ErrorCode.INVALID_REQUEST, "no")]
)
def test_a_task_that_fails_runs_again_after_five_minutes_under_the_same_controller(
    error: Exception,
) -> None:
    def fails(_: object) -> Result[bool]:
        raise error

    player = _with_failing_task(fails)
    assert player.handle(events.Poll(10)) == ()
    assert player.state.claim_epoch == 3
    assert dict(player.state.tasks) == {"fails": 10 + 300_000}
    assert next_deadline(player.state) == 300_010


def test_a_task_of_too_many_records_for_an_atomic_batch_makes_the_controller_step_back() -> None:
    player = _with_failing_task(lambda _: Result((NoOpRecord(),) * 10_001, response=False))
    (resign,) = player.handle(events.Poll(10))
    assert isinstance(resign, Resign)
    assert player.state.claim_epoch == -1
    assert dict(player.state.tasks) == {}


def test_a_minimum_isr_that_is_no_number_fails_a_task_and_not_the_controller() -> None:
    player = active()
    player.follow(2)
    wrong = ConfigRecord(TOPIC_RESOURCE, TOPIC, "min.insync.replicas", "abc")
    image = replay(image_of((1, 2), min_isr=1), [wrong])
    player.load(10, *snapshot_records(image), epoch=2)
    player.log[-1] = replace(player.log[-1], base_offset=Offset(9), count=1)
    player.operations = OPERATIONS
    player.lead(3)
    while next_deadline(player.state) < 11_000:
        player.handle(events.Poll(next_deadline(player.state)))
    assert player.state.claim_epoch == 3
    fences_next = player.state.tasks["maybeFenceStaleBroker"]
    assert 300_000 < fences_next <= 11_000 + 300_000


def test_records_survive_their_encoding() -> None:
    player = active()
    player.ask(put(a="1"))
    for batch in player.log:
        values = encode_records(batch.records, LATEST)
        assert decode_records(values, batch.base_offset) == batch.records
    values = encode_records(snapshot_records(player.state.written.image), LATEST)
    assert len(values) == 2


def test_bytes_that_are_no_record_are_refused_with_their_offset() -> None:
    good = encode_records((VERSION,), LATEST)
    with pytest.raises(CorruptRecordError, match="offset 8"):
        decode_records((*good, b""), 7)
    with pytest.raises(UnsupportedVersionError, match="offset 7"):
        decode_records((b"\x01\x7f\x00",), 7)


def test_a_record_that_the_metadata_version_lacks_is_not_written() -> None:
    with pytest.raises(ValueError, match="version 0"):
        encode_records((_shutting_down(),), 1)


def _shutting_down() -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        BrokerId(4), IncarnationId("I" * 21 + "A"), BrokerEpoch(3), in_controlled_shutdown=True
    )
