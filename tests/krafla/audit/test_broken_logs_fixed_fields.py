"""Logs in which fields change that never do, or have values that no node has."""

from __future__ import annotations

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    OTHER,
    Broken,
    broker_change,
    first_refusal,
    prefix,
    register,
    written,
)
from tests.krafla.audit.old_logs import OldLog, continued
from tests.krafla.audit.test_broken_logs_written import token

from krafla.audit.run import audit

METADATA_TOPIC = "__cluster_metadata"


def kinds(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


@pytest.mark.parametrize(
    ("name", "value"),
    [("owner", "User:b"), ("requester", "User:b"), ("issueTimestamp", 2), ("maxTimestamp", 8),
     ("renewers", ("User:b",))],
)  # fmt: skip
def test_a_token_changes_only_the_time_when_it_expires(tmp_path, loading, name, value):
    batches = [[token()], [token(expirationTimestamp=7)], [token(**{name: value})]]
    log, blame = written(tmp_path, Broken(batches, (2, 0)))
    found = first_refusal(audit([log], loading=loading).clusters[0].all_findings(), "W3")
    assert (found.kind, found.offset) == ("W3", blame)
    assert "User:" not in found.detail


@pytest.mark.parametrize(
    "batches",
    [
        [[token()], [token(expirationTimestamp=4)], [token(expirationTimestamp=9)]],
        [[token(renewers=("User:b", "User:c"))], [token(renewers=("User:c", "User:b"))]],
        [[token()], [(26, 0, {"tokenId": OTHER})], [token()]],
    ],
    ids=["another end", "renewers in another order", "one that was removed"],
)
def test_a_token_may_be_renewed(tmp_path, loading, batches):
    log, _ = written(tmp_path, Broken([*batches, [NOTHING]], (0, 0)))
    assert kinds(log, loading) == []


def broker(number):
    more = {"incarnationId": OTHER, "brokerEpoch": prefix()[1], "logDirs": (OTHER,)}
    return register(number, brokerId=number, **more)


def node(number):
    real = next(r for r in prefix()[2] if r[0] == 27)
    return (*real[:2], {**real[2], "controllerId": number})


@pytest.mark.parametrize("registered", [broker, node])
@pytest.mark.parametrize(("number", "held"), [(7, True), (-1, False)])
def test_no_node_has_a_number_below_0(tmp_path, loading, registered, number, held):
    log, blame = written(tmp_path, Broken([[registered(number)]], (0, 0)))
    assert kinds(log, loading) == ([] if held else [("W3", blame)])


@pytest.mark.parametrize("registered", [broker, node])
@pytest.mark.parametrize(("host", "held"), [(" h", True), ("\u2003", True), ("\t ", False)])
def test_a_host_is_blank_as_java_trims_it(tmp_path, loading, registered, host, held):
    number, version, fields = registered(7)
    endpoints = tuple({**one, "host": host} for one in fields["endPoints"])
    named = (number, version, {**fields, "endPoints": endpoints})
    log, blame = written(tmp_path, Broken([[named]], (0, 0)))
    assert kinds(log, loading) == ([] if held else [("W3", blame)])


def named(level, most, name, *states):
    log = OldLog(level, most)
    for state in states:
        log.add((21, 0, {"zkMigrationState": state}))
    log.topic()
    (number, version, fields), partition = log.batches.pop()
    return log, log.add((number, version, {**fields, "name": name}), partition)


@pytest.mark.parametrize(
    ("level", "name", "states", "held"),
    [
        (27, METADATA_TOPIC, (), False), (9, METADATA_TOPIC, (), False),
        (8, METADATA_TOPIC, (), True), (7, METADATA_TOPIC, (), True),
        (14, METADATA_TOPIC, (2,), True),
        (14, METADATA_TOPIC, (2, 1), False), (27, "__cluster-metadata", (), True),
    ],
)  # fmt: skip
def test_no_topic_has_the_name_of_the_metadata_log_since_kafka_3_5(
    tmp_path, loading, level, name, states, held
):
    log, offset = named(level, level, name, *states)
    log.write(tmp_path)
    assert kinds(tmp_path, loading) == ([] if held else [("T2", offset - 1)])


def test_a_checkpoint_may_have_a_topic_of_that_name_from_kafka_3_3(tmp_path, loading):
    log, _ = named(14, 14, METADATA_TOPIC)
    brokers = [log.register(b, epoch=e, fenced=False) for b, e in sorted(log.epochs.items())]
    continued(tmp_path, [*log.batches[0], *brokers, *log.batches[-1]], [NOTHING])
    assert kinds(tmp_path, loading) == []


@pytest.mark.parametrize(
    ("version", "fields", "held"),
    [
        (0, {"fenced": 1}, True), (1, {"fenced": 1}, False), (2, {"fenced": 1}, False),
        (0, {"fenced": -1}, True), (2, {"fenced": -1}, False),
        (1, {"inControlledShutdown": 1}, True), (2, {"inControlledShutdown": 1}, False),
        (2, {}, True),
    ],
)  # fmt: skip
def test_a_change_of_a_broker_has_the_least_version_with_its_field(
    tmp_path, loading, version, fields, held
):
    before = [] if fields.get("fenced") != -1 else [[broker_change(0, fenced=1)]]
    batches = [*before, [broker_change(0, version, **fields)]]
    log, blame = written(tmp_path, Broken(batches, (len(before), 0)))
    assert kinds(log, loading) == ([] if held else [("L1", blame)])
