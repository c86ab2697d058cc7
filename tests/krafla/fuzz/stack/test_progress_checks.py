"""Histories by hand in which a controller does not do what it owes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec.structs
import pytest
from immutables import Map
from tests.krafla.fuzz.stack.test_stack_checks import (
    END,
    EPOCH,
    KEY,
    ONE,
    TOKEN,
    TOPIC,
    WITH_TWO,
    process,
)

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.progress_checks import _PATIENCE, ProgressChecks, _check_index
from krafla.fuzz.stack.soft_state_checks import _check_registration, _Tenure
from kraft.controller import effects as does
from kraft.controller import events
from kraft.controller.memory import Memory
from kraft.controller.operations.written import Written
from kraft.errors import ErrorCode
from kraft.ids import IncarnationId, Offset, OffsetAndEpoch
from kraft.image.metadata_image import EMPTY_IMAGE
from kraft.rpc import BrokerRegistrationRequest, BrokerRegistrationResponse
from kraft.sim.raft.steps import ListenerStep

NEW = IncarnationId("another")
TIMEOUT_MS, INTERVAL_MS = 9000, 60_000


def indexed(**changed: Any) -> Any:
    image = msgspec.structs.replace(WITH_TWO, **changed)
    # The index is derived from the partitions that were there before.
    index = Written(WITH_TWO).index
    return SimpleNamespace(written=Memory(Written(image, end=END, index=index)))


def test_the_index_and_the_names_of_topics_are_those_of_the_image() -> None:
    _check_index(indexed())
    led_by_none = msgspec.structs.replace(WITH_TWO.partitions[KEY], leader=-1)
    wrong = [
        indexed(partitions=WITH_TWO.partitions.set(KEY, led_by_none)),
        indexed(topic_ids=Map()),
        indexed(topic_ids=Map({"another": TOPIC})),
        indexed(topic_ids=Map({"t": TOPIC, "deleted": TOPIC})),
    ]
    for state in wrong:
        with pytest.raises(Violated, match="IndexIsRecomputedInv"):
            _check_index(state)


def waiting(snapshot_end: int) -> Any:
    """Return a state that keeps so much of its log in a snapshot."""
    return SimpleNamespace(
        stable_end=END,
        snapshot_end=Offset(snapshot_end),
        timeline={END: Memory(Written(WITH_TWO, end=END))},
        configuration=SimpleNamespace(
            max_record_bytes_between_snapshots=100, max_snapshot_interval_ms=INTERVAL_MS
        ),
    )


def committed(state: Any, size: int, effects: tuple[Any, ...] = ()) -> ListenerStep:
    batch = events.CommittedBatch(Offset(0), 1, (), 1, size)
    return ListenerStep("controller", state, events.BatchesCommitted(0, (batch,)), state, effects)


def late(checks: ProgressChecks, step: ListenerStep, most: int) -> int:
    """Return in which of so many equal steps a snapshot was missed; 0 if in none."""
    for number in range(1, most + 1):
        try:
            checks._check_snapshots(process(), step)
        except Violated as violated:
            return number if violated.name == "SnapshotsAreMadeProp" else -1
    return 0


def test_a_snapshot_is_made_soon_after_enough_bytes_are_committed() -> None:
    assert late(ProgressChecks(), committed(waiting(0), 100), 2 * _PATIENCE) == _PATIENCE + 1
    assert late(ProgressChecks(), committed(waiting(0), 0), 2 * _PATIENCE) == 0
    # Nothing is there that the last snapshot lacks.
    assert late(ProgressChecks(), committed(waiting(END), 100), 2 * _PATIENCE) == 0


def test_a_snapshot_that_is_made_starts_the_count_again() -> None:
    checks = ProgressChecks()
    assert late(checks, committed(waiting(0), 100), _PATIENCE) == 0
    made = committed(waiting(0), 100, (does.CreateSnapshot(OffsetAndEpoch(END, 1), (), 1),))
    assert late(checks, made, 1) == 0
    assert late(checks, committed(waiting(0), 100), _PATIENCE) == 0


def too_soon(size: int, made_ms: int, interval_ms: int = INTERVAL_MS) -> bool:
    """Return whether a snapshot is one too many, after so many bytes and at this time."""
    checks, state = ProgressChecks(), waiting(0)
    state.configuration.max_snapshot_interval_ms = interval_ms
    start = 10**9
    batch = events.CommittedBatch(Offset(0), 1, (), 1, size)
    heard = events.BatchesCommitted(start, (batch,))
    checks._check_snapshots(process(), ListenerStep("controller", state, heard, state))
    made = (does.CreateSnapshot(OffsetAndEpoch(END, 1), (), 1),)
    poll = events.Poll(start + made_ms)
    try:
        checks._check_snapshots(process(), ListenerStep("controller", state, poll, state, made))
    except Violated as violated:
        return violated.name == "SnapshotsAreSpacedProp"
    return False


def test_a_snapshot_needs_enough_bytes_or_enough_time_since_the_start() -> None:
    assert not too_soon(100, 0)
    assert too_soon(99, 0)
    assert too_soon(99, INTERVAL_MS - 1)
    assert not too_soon(99, INTERVAL_MS)
    assert too_soon(99, INTERVAL_MS, interval_ms=0)


def test_no_snapshot_of_nothing_is_awaited() -> None:
    state = waiting(0)
    state.timeline = {END: Memory(Written(EMPTY_IMAGE, end=END))}
    assert late(ProgressChecks(), committed(state, 100), 2 * _PATIENCE) == 0


def registers(code: ErrorCode, contact_ms: int | None) -> None:
    """Check the answer to a new process of broker 1, whose other one was heard of at this time."""
    contacts = {} if contact_ms is None else {(ONE, EPOCH): contact_ms}
    defaults = SimpleNamespace(broker_session_timeout_ms=TIMEOUT_MS)
    state: Any = SimpleNamespace(
        written=Memory(Written(WITH_TWO, end=END)),
        deferred=(),
        configuration=SimpleNamespace(defaults=defaults),
    )
    answer = BrokerRegistrationResponse(code)
    request = BrokerRegistrationRequest(ONE, NEW, previous_broker_epoch=EPOCH)
    event = events.RequestReceived(2 * TIMEOUT_MS, TOKEN, request, kraft_version=1)
    step = ListenerStep("controller", state, event, state, (does.Reply(TOKEN, answer),))
    _check_registration(_Tenure(contacts=contacts), step, event)


@pytest.mark.parametrize("contact_ms", [TIMEOUT_MS, 2 * TIMEOUT_MS])
def test_another_process_is_refused_while_the_session_is_valid(contact_ms: int) -> None:
    registers(ErrorCode.DUPLICATE_BROKER_REGISTRATION, contact_ms)
    registers(ErrorCode.INVALID_REGISTRATION, contact_ms)
    with pytest.raises(Violated, match="DuplicateHasSessionProp"):
        registers(ErrorCode.NONE, contact_ms)


@pytest.mark.parametrize("contact_ms", [None, TIMEOUT_MS - 1])
def test_another_process_is_not_refused_without_a_valid_session(contact_ms: int | None) -> None:
    registers(ErrorCode.NONE, contact_ms)
    with pytest.raises(Violated, match="DuplicateHasSessionProp"):
        registers(ErrorCode.DUPLICATE_BROKER_REGISTRATION, contact_ms)
