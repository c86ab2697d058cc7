"""A controller above Raft, run by `kraft.hosting` alone: what a real node does."""

from __future__ import annotations

import pytest
from tests.kraft.hosting.hosted import (
    BOOTSTRAP,
    DIRECTORY,
    NODE,
    Arrived,
    run_for,
    run_until_idle,
    sole_controller,
)

from kraft.controller import events
from kraft.controller.effects import Append, CreateSnapshot, Failure
from kraft.controller.state import is_active, visible
from kraft.errors import ErrorCode
from kraft.hosting.controller_host import ControllerFaultError, records_of
from kraft.hosting.order import take_turn
from kraft.hosting.own_requests import Prepare, Resign, Schedule
from kraft.ids import OffsetAndEpoch
from kraft.raft import effects as does
from kraft.raft.configuration import MILLISECOND
from kraft.raft.snapshot_file import read_snapshot
from kraft.rpc.configurations import AlterableConfig, AlterConfigsResource
from kraft.rpc.configurations import IncrementalAlterConfigsRequest as AlterConfigs
from kraft.rpc.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

BROKER = 4
SET = AlterConfigs((AlterConfigsResource(BROKER, "", (AlterableConfig("a", "1"),)),))


def led(**options):
    """Return a process whose controller is active and has committed its bootstrap records."""
    stored = []
    process = sole_controller(**options)
    run_for(process, 100, stored)
    assert is_active(process.listener.state)
    assert visible(process.listener.state).image.metadata_version is not None
    return process, stored


def said(process, kind):
    return [one for one in process.outside.said if one[0] == kind]


def test_a_sole_controller_activates_answers_and_registers_itself():
    process, stored = led()
    process.inbox.append(Arrived(77, -1, 5, SET))
    run_until_idle(process, stored)
    assert said(process, "reply") == []
    run_for(process, 100, stored)
    ((_, token, response),) = said(process, "reply")
    assert (token, response.responses[0].error_code) == (77, ErrorCode.NONE)
    ((_, destination, number, request),) = said(process, "send")
    assert (destination, type(request)) == (NODE, ControllerRegistrationRequest)
    process.inbox.append(Arrived(78, NODE, number, request))
    run_for(process, 100, stored)
    answered = said(process, "reply")[-1]
    assert answered == ("reply", 78, ControllerRegistrationResponse(ErrorCode.NONE))
    registered = visible(process.listener.state).image.controllers[NODE]
    assert registered.incarnation_id == DIRECTORY
    process.inbox.append(Arrived(79, NODE, number, answered[2], is_request=False))
    run_until_idle(process, stored)
    assert process.listener.sender.pending is None


def test_a_registration_that_is_due_without_a_leader_is_sent_to_the_next_one():
    process, stored = led()
    ((_, destination, number, _),) = said(process, "send")
    failure = Failure(ErrorCode.NOT_CONTROLLER, "not the active controller")
    process.inbox.append(Arrived(5, destination, number, failure, is_request=False))
    process.listener.leader_changed(does.HandleLeaderChange(7, None))
    run_for(process, 1_000, stored)
    assert len(said(process, "send")) == 1

    process.listener.leader_changed(does.HandleLeaderChange(8, 2))
    run_for(process, 1, stored)

    _, (_, destination, _, request) = said(process, "send")
    assert (destination, type(request)) == (2, ControllerRegistrationRequest)


def test_a_response_that_is_no_answer_to_the_registration_ends_the_wait_for_it():
    process, stored = led()
    ((_, destination, number, _),) = said(process, "send")
    failure = Failure(ErrorCode.NOT_CONTROLLER, "not the active controller")
    process.inbox.append(Arrived(5, destination, number, failure, is_request=False))
    run_until_idle(process, stored)
    assert process.listener.sender.pending is None
    assert process.listener.sender.failed_rpcs == 1


def test_an_append_is_prepared_at_once_and_scheduled_before_the_next_message():
    process, stored = led()
    process.inbox.extend((Arrived(1, -1, 1, SET), Arrived(2, -1, 2, SET)))
    assert take_turn(process).message.message_id == 1
    assert [type(one) for one in process.urgent] == [Prepare, Schedule]
    first = process.listener.state.write_end
    assert type(take_turn(process).event).__name__ == "PrepareAppend"
    assert type(take_turn(process).event).__name__ == "ScheduleAppend"
    assert process.state.role.accumulator.next_offset == first
    run_for(process, 100, stored)
    assert len(said(process, "reply")) == 2


def test_batches_of_one_step_get_the_offsets_after_each_other():
    """Prepared records that Raft has not seen yet count for the place of the next ones."""
    steps = []
    process = sole_controller(lambda *step: steps.append(step), max_records_per_batch=2)
    run_for(process, 100, [])
    appends = [effect for step in steps for effect in step[4] if isinstance(effect, Append)]
    assert len(appends) > 1
    ends = [one.base_offset + len(one.records) for one in appends]
    assert [one.base_offset for one in appends[1:]] == ends[:-1]


def test_a_refused_append_makes_the_controller_step_back_and_raft_resign():
    process, _ = led()
    process.listener.append_refused()
    assert not is_active(process.listener.state)
    assert list(process.urgent) == [Resign(1)]


def test_a_snapshot_that_is_not_there_cannot_be_loaded():
    process, _ = led()
    with pytest.raises(ValueError, match="is to be loaded and is not there"):
        process.listener.load(does.HandleLoadSnapshot(OffsetAndEpoch(9, 9)))


def test_a_controller_that_cannot_go_on_ends_its_process():
    process, _ = led()
    with pytest.raises(ControllerFaultError, match="the controller cannot go on: "):
        process.listener._do(events.SnapshotLoaded(0, OffsetAndEpoch(1, 1), ()))


def test_an_observer_sees_the_steps_of_controller_and_registration_with_their_messages():
    steps = []
    process, stored = led(observe=lambda *step: steps.append(step))
    process.inbox.append(Arrived(77, -1, 5, SET))
    run_until_idle(process, stored)
    kinds = {step[0] for step in steps}
    assert kinds == {"controller", "registration"}
    (with_message,) = [step for step in steps if step[5] is not None]
    kind, before, event, after, effects, message = with_message
    assert (kind, event.request, message.message_id) == ("controller", SET, 77)
    assert after is process.listener.state is not before
    assert [type(effect) for effect in effects] == [Append]


def test_a_fresh_controller_makes_no_snapshot_before_its_interval_is_over():
    process, stored = led(max_snapshot_interval_ms=60_000)
    run_for(process, 59_000, stored)
    assert [one for one in stored if isinstance(one, does.WriteSnapshot)] == []
    run_for(process, 2_000, stored)
    (written,) = [one for one in stored if isinstance(one, does.WriteSnapshot)]
    assert written.snapshot_id.end_offset > len(BOOTSTRAP)


def test_a_snapshot_goes_to_the_inbox_with_its_content_and_can_be_loaded():
    steps = []
    process, stored = led(observe=lambda *step: steps.append(step), max_snapshot_interval_ms=200)
    run_for(process, 150, stored)
    (written,) = [one for one in stored if isinstance(one, does.WriteSnapshot)]
    (asked,) = [one for step in steps for one in step[4] if isinstance(one, CreateSnapshot)]
    assert written.snapshot_id == asked.snapshot_id
    appended = [
        one for effect in stored if isinstance(effect, does.AppendLog) for one in effect.batches
    ]
    (last,) = (one for one in appended if one.end_offset == asked.snapshot_id.end_offset)
    assert read_snapshot(written.data).last_timestamp == last.max_timestamp
    assert last.max_timestamp < process.outside.time // MILLISECOND
    standby = sole_controller()
    standby.become(process.state)
    standby.listener.load(does.HandleLoadSnapshot(asked.snapshot_id))
    image = visible(process.listener.state).image
    assert visible(standby.listener.state).image == image


def test_a_batch_of_raft_itself_has_no_records():
    process, _ = led()
    first, second, *_ = process.state.log.batches()
    assert first.controls
    assert records_of(first) == ()
    assert [type(record).__name__ for record in records_of(second)] == [
        "BeginTransactionRecord", "FeatureLevelRecord", "EndTransactionRecord",
    ]  # fmt: skip
