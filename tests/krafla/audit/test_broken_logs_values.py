"""Logs whose configurations and quotas Kafka refuses, or would not write because they stay."""

from __future__ import annotations

import math

import pytest
from tests.krafla.audit.breaking import (
    OTHER,
    Broken,
    checkpoint,
    checkpoint_name,
    folded,
    partition,
    topic,
    written,
)
from tests.krafla.audit.editing import METADATA
from tests.krafla.audit.old_logs import OldLog, continued

from krafla.audit.config_values import CONFIG_RULES
from krafla.audit.run import audit
from kraft.controller.operations import config_definitions as kraft

SETUP = [topic(), partition()]
REMOVED = [(9, 0, {"topicId": SETUP[0][2]["topicId"]})]
PARTITIONS = {"resourceType": 2, "resourceName": "broken"}


def config(name, value, **fields):
    return (4, 0, {**PARTITIONS, "name": name, "value": value, **fields})


def node_config(name, value):
    return config(name, value, resourceType=4, resourceName="0")


def quota(value=1.0, *, remove=False, user="a", key="producer_byte_rate"):
    entity = ({"entityType": "user", "entityName": user},)
    return (14, 0, {"entity": entity, "key": key, "value": value, "remove": remove})


def found_in(folder, loading):
    found = audit([folder], loading=loading).clusters[0].all_findings()
    return [(one.kind, one.offset) for one in found]


RETENTION = config("retention.ms", "1000")
REMOVAL = config("retention.ms", None)
INVALID = {
    "no number": ("retention.ms", "abc"),
    "a number that is not whole": ("retention.ms", "1.5"),
    "a number below its bound": ("min.insync.replicas", "0"),
    "a number above its bound": ("compression.zstd.level", "23"),
    "a level that compresses nothing": ("compression.gzip.level", "0"),
    "replicas to throttle beside all": ("leader.replication.throttled.replicas", "0:1,*"),
    "more than 32 bits": ("max.message.bytes", "2147483648"),
    "more than 64 bits": ("retention.bytes", "9223372036854775808"),
    "an unknown name": ("no.such.config", "1"),
    "the name of a node's setting": ("log.retention.ms", "1"),
    "an unknown word": ("compression.type", "rar"),
    "a word in capitals": ("message.timestamp.type", "CREATETIME"),
    "an unknown word in a list": ("cleanup.policy", "compact,keep"),
    "neither true nor false": ("preallocate", "yes"),
    "a ratio above 1": ("min.cleanable.dirty.ratio", "1.5"),
    "a ratio below 0": ("min.cleanable.dirty.ratio", "-1e-3"),
    "no ratio": ("min.cleanable.dirty.ratio", "half"),
    "replicas to throttle without a broker": ("leader.replication.throttled.replicas", "0:1,2"),
}
VALID = {
    "blanks": ("retention.ms", " +1000 "),
    "the least": ("retention.ms", "-1"),
    "a list": ("cleanup.policy", "compact, delete"),
    "an empty list": ("cleanup.policy", ""),
    "truth in capitals": ("preallocate", "TRUE"),
    "a ratio": ("min.cleanable.dirty.ratio", ".5e0d"),
    "a ratio that is no number": ("min.cleanable.dirty.ratio", "NaN"),
    "a ratio in hexadecimal": ("min.cleanable.dirty.ratio", "0x1p-1"),
    "replicas to throttle": ("leader.replication.throttled.replicas", "0:1,1:2"),
    "all replicas": ("leader.replication.throttled.replicas", "*"),
    "no replicas": ("leader.replication.throttled.replicas", " "),
    "some levels": ("compression.gzip.level", "+09"),
    "the usual level": ("compression.gzip.level", "-1"),
    "a name of old releases": ("message.format.version", "3.0-IV1"),
}


@pytest.mark.parametrize("what", INVALID)
def test_a_configuration_that_kafka_refuses_is_refused(tmp_path, loading, what):
    log, offset = written(tmp_path, Broken([SETUP, [RETENTION, config(*INVALID[what])]], (1, 1)))
    assert found_in(log, loading) == [("W3", offset)]


def test_a_configuration_that_kafka_takes_is_held(tmp_path, loading):
    batches = [SETUP, [config(*one) for one in VALID.values()]]
    log, _ = written(tmp_path, Broken(batches, (0, 0)))
    assert found_in(log, loading) == []


def test_a_checkpoint_with_a_configuration_that_kafka_refuses_is_refused(tmp_path, loading):
    target = tmp_path / METADATA
    target.mkdir()
    records = folded((21, 0, {"zkMigrationState": 0}), *SETUP, config("retention.ms", "abc"))
    (target / checkpoint_name(50)).write_bytes(checkpoint(records))
    assert ("W3", 50) in found_in(tmp_path, loading)


def test_a_checkpoint_of_kafka_4_may_have_what_a_migration_copied(tmp_path, loading):
    target = tmp_path / METADATA
    target.mkdir()
    records = folded(*SETUP, config("retention.ms", "abc"))
    (target / checkpoint_name(50)).write_bytes(checkpoint(records))
    assert "W3" not in {kind for kind, _ in found_in(tmp_path, loading)}


UNCHANGED = {
    "a configuration that was not set": ("L9", [SETUP, [REMOVAL]]),
    "a configuration that was removed": ("L9", [SETUP, [RETENTION], [REMOVAL], [REMOVAL]]),
    "a configuration of a topic that was removed": (
        "L9", [SETUP, [RETENTION], REMOVED, [topic(topic_id=OTHER), partition(topicId=OTHER)],
               [REMOVAL]],
    ),
    "a configuration again": ("W4", [SETUP, [RETENTION], [RETENTION]]),
    "a quota that was not set": ("L9", [[quota(0.0, remove=True)]]),
    "a quota of another user": ("L9", [[quota(user="b")], [quota(0.0, remove=True)]]),
    "a quota that was removed": (
        "L9", [[quota()], [quota(0.0, remove=True)], [quota(0.0, remove=True)]]),
    "another quota": (
        "L9", [[quota()], [quota(0.0, remove=True, key="consumer_byte_rate")]]),
    "a quota again": ("W4", [[quota()], [quota()]]),
    "a quota of NaN again": ("W4", [[quota(math.nan)], [quota(math.nan)]]),
}  # fmt: skip
CHANGED = {
    "a configuration": [SETUP, [RETENTION], [config("retention.ms", "2000")], [REMOVAL]],
    "a configuration of a node": [
        [node_config("log.retention.ms", None)],
        [node_config("log.retention.ms", "1")],
        [node_config("log.retention.ms", "1")],
    ],
    "a quota": [[quota()], [quota(2.0)], [quota(0.0, remove=True)], [quota(2.0)]],
    "a quota of NaN": [[quota()], [quota(math.nan)], [quota()]],
}


@pytest.mark.parametrize("what", UNCHANGED)
def test_a_record_that_changes_nothing_is_refused(tmp_path, loading, what):
    kind, batches = UNCHANGED[what]
    log, offset = written(tmp_path, Broken(batches, (len(batches) - 1, 0)))
    assert (kind, offset) in found_in(log, loading)
    assert {one for one, _ in found_in(log, loading)} == {kind}


@pytest.mark.parametrize("what", CHANGED)
def test_a_record_that_kafka_writes_is_held(tmp_path, loading, what):
    log, _ = written(tmp_path, Broken(CHANGED[what], (0, 0)))
    assert found_in(log, loading) == []


@pytest.mark.parametrize(("states", "held"), [((0,), False), ((2, 1), True), ((2, 1, 3), False)])
def test_a_migration_copies_what_it_finds(tmp_path, loading, states, held):
    log = OldLog(14, 14)
    for state in states:
        log.add((21, 0, {"zkMigrationState": state}))
    offset = log.add(quota(), quota())
    log.write(tmp_path)
    assert found_in(tmp_path, loading) == ([] if held else [("W4", offset)])


def old_config(name="old"):
    return config("retention.ms", "1000", resourceName=name)


@pytest.mark.parametrize(("level", "held"), [(4, True), (7, True), (8, False), (14, False)])
@pytest.mark.parametrize("fails", [False, True])
def test_kafka_3_3_configures_a_topic_before_it_creates_it(tmp_path, loading, level, held, fails):
    log = OldLog(level, level)
    log.topic()
    made = log.batches.pop()
    offset = log.add(old_config(), *([] if fails else made)) - (0 if fails else len(made))
    log.write(tmp_path)
    assert found_in(tmp_path, loading) == ([] if held else [("O5", offset)])


def test_what_kafka_3_3_configured_stays_in_checkpoints(tmp_path, loading):
    log = OldLog(7, 8)
    log.add(old_config())
    raised = log.add((12, 0, {"name": "metadata.version", "featureLevel": 8})) + 1
    brokers = [log.register(b, epoch=e, fenced=False, version=2) for b, e in log.epochs.items()]
    described = [log.batches[-1][0], *brokers, old_config()]
    continued(tmp_path / "alone", described, start=raised)
    assert found_in(tmp_path / "alone", loading) == []
    name = checkpoint_name(raised)
    written = (tmp_path / "alone" / METADATA / name).read_bytes()
    (log.write(tmp_path / "log") / name).write_bytes(written)
    assert found_in(tmp_path / "log", loading) == []


@pytest.mark.parametrize(("value", "held"), [(-0.0, True), (0.0, False)])
def test_a_quota_changes_if_it_does_to_java(tmp_path, loading, value, held):
    log = OldLog(8, 8)
    log.add(quota(0.0))
    offset = log.add(quota(value))
    log.write(tmp_path)
    assert found_in(tmp_path, loading) == ([] if held else [("W4", offset)])


@pytest.mark.parametrize(("level", "held"), [(8, True), (9, False)])
def test_old_releases_write_a_quota_of_nothing(tmp_path, loading, level, held):
    log = OldLog(level, level)
    offset = log.add(quota(0.0))
    log.write(tmp_path)
    assert found_in(tmp_path, loading) == ([] if held else [("W3", offset)])


def test_the_audit_takes_each_configuration_that_the_controller_takes():
    ours = {2: kraft.TOPIC_CONFIGS, 16: kraft.CLIENT_METRICS_CONFIGS, 32: kraft.GROUP_CONFIGS}
    for kind, definitions in ours.items():
        for name, one in definitions.items():
            values = {one.default, *map(str, one.choices)} - {""}
            values |= {str(number) for number in (one.least, one.most) if number is not None}
            assert all(CONFIG_RULES[kind][name].admits(value) for value in values), name
