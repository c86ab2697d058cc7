"""Configurations: impossible ones are refused, and each profile is what its name says."""

from __future__ import annotations

import pytest

from kraft.ids import uuid_bytes
from kraft.sim.lease.configuration import (
    PROFILES,
    Configuration,
    ConfigurationError,
    ProcessIdentity,
    broker_ids,
    kafka_4_1,
    processes,
    promises_no_overlap,
)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"processes": ()}, "processes: there is none"),
        ({"processes": processes(1, 1) * 2}, "processes: broker-1-process-1---A is listed twice"),
        ({"processes": (ProcessIdentity("p1", 1),)}, "processes: not a UUID.*'p1'"),
        ({"session_timeout_ms": 0}, "session_timeout_ms: 0 is not positive"),
        ({"heartbeat_interval_ms": -1}, "heartbeat_interval_ms: -1 is not positive"),
        ({"request_timeout_ms": 0}, "request_timeout_ms: 0 is not positive"),
        ({"broker_timeout_ms": 0}, "broker_timeout_ms: 0 is not positive"),
        ({"max_skew_ms": -1, "broker_timeout_ms": 5}, "max_skew_ms: -1 is negative"),
        ({"max_skew_ms": 1}, "max_skew_ms: 1, but brokers that do not fence themselves"),
    ],
)
def test_an_impossible_configuration_is_refused_with_the_field_and_its_value(fields, message):
    with pytest.raises(ConfigurationError, match=message):
        Configuration(**{"processes": processes(1, 1), **fields})


def test_ids_too_long_for_a_uuid_are_refused():
    with pytest.raises(ConfigurationError, match="not a UUID"):
        kafka_4_1(broker_count=1, processes_per_broker=100_000)


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_profile_has_as_many_processes_as_asked_for(profile):
    configuration = PROFILES[profile](2, 3)
    assert broker_ids(configuration) == (1, 2)
    assert len(configuration.processes) == 6


def test_only_the_profile_self_fencing_promises_that_no_fenced_broker_serves():
    keep = [name for name in sorted(PROFILES) if promises_no_overlap(PROFILES[name]())]
    assert keep == ["self-fencing"]


def test_incarnation_ids_are_readable_and_yet_uuids():
    ids = [identity.incarnation_id for identity in processes(12, 12)]
    assert ids[13] == "broker-2-process-2---A"
    assert len({uuid_bytes(incarnation_id) for incarnation_id in ids}) == 144
