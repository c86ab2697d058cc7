"""Replay alone changes an image, and it refuses impossible records."""

from __future__ import annotations

import pytest
from tests.kraft.sim.lease.lease_driver import FIRST

from kraft.controller.operations.lease_view import BrokerRegistration
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    NoOpRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.sim.lease.image import EMPTY_IMAGE
from kraft.sim.lease.replay import FatalReplayError, replay, replay_log
from kraft.sim.lease.stand_ins import LeaderChangeMessage, LeadershipChange

REGISTER = RegisterBrokerRecord(1, FIRST, 0)
UNFENCE_AND_ELECT = (UnfenceBrokerRecord(1, 0), LeadershipChange(1))


@pytest.mark.parametrize(
    "record",
    [
        BrokerRegistrationChangeRecord(2, 0, fenced=1),
        BrokerRegistrationChangeRecord(1, 5, fenced=1),
        FenceBrokerRecord(2, 0),
        UnfenceBrokerRecord(1, 5),
        UnregisterBrokerRecord(2, 0),
        UnregisterBrokerRecord(1, 5),
    ],
)
def test_a_record_of_an_unknown_broker_or_another_epoch_is_fatal(record):
    image = replay_log([REGISTER])
    with pytest.raises(FatalReplayError, match=r"registered.*at offset 1\)") as caught:
        replay(image, record, 1)
    assert caught.value.record == record


@pytest.mark.parametrize("field", ["fenced", "in_controlled_shutdown"])
def test_a_change_to_a_value_without_meaning_is_fatal(field):
    record = BrokerRegistrationChangeRecord(1, 0, **{field: 5})
    with pytest.raises(FatalReplayError, match=f"no meaning for {field} 5"):
        replay(replay_log([REGISTER]), record, 1)


def test_a_controlled_shutdown_cannot_be_taken_back_by_a_record():
    record = BrokerRegistrationChangeRecord(1, 0, in_controlled_shutdown=-1)
    with pytest.raises(FatalReplayError, match="in_controlled_shutdown -1"):
        replay(replay_log([REGISTER]), record, 1)


def test_an_offset_is_not_replayed_twice():
    with pytest.raises(FatalReplayError, match="had reached offset 1"):
        replay(replay_log([REGISTER]), NoOpRecord(), 0)


def test_offsets_may_be_missing():
    assert replay(EMPTY_IMAGE, NoOpRecord(), 7).log_end == 8


def test_a_change_that_changes_nothing_is_tolerated():
    image = replay_log([REGISTER, BrokerRegistrationChangeRecord(1, 0), FenceBrokerRecord(1, 0)])
    assert image.registrations[1] == BrokerRegistration(FIRST, 0, 0)
    assert image.log_end == 3


def test_replaying_a_registration_again_changes_only_its_offset():
    once, twice = replay_log([REGISTER]), replay_log([REGISTER, REGISTER])
    assert twice.registrations[1].record_offset == 1
    assert twice.registrations[1].epoch == once.registrations[1].epoch


@pytest.mark.parametrize(
    "record",
    [
        FenceBrokerRecord(1, 0),
        BrokerRegistrationChangeRecord(1, 0, fenced=1),
        BrokerRegistrationChangeRecord(1, 0, in_controlled_shutdown=1),
        UnregisterBrokerRecord(1, 0),
        RegisterBrokerRecord(1, "another-process-of-1-A", 3),
    ],
)
def test_a_broker_that_may_not_lead_leads_nothing(record):
    image = replay_log([REGISTER, *UNFENCE_AND_ELECT])
    assert image.leads == {1}
    assert replay(image, record, 3).leads == frozenset()


@pytest.mark.parametrize("record", [NoOpRecord(), LeaderChangeMessage()])
def test_a_record_about_no_broker_changes_only_the_end_of_the_log(record):
    before = replay_log([REGISTER, *UNFENCE_AND_ELECT])
    after = replay(before, record, 3)
    assert after.log_end == 4
    assert (after.registrations, after.leads) == (before.registrations, before.leads)
