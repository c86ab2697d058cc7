"""Configurations: scenario 139 of Kafka's controller, and 116 for new topics."""

from __future__ import annotations

import pytest
from tests.kraft.controller.partitions import DEFAULTS, TOPIC, image_of

from kraft.controller.operations import configurations
from kraft.controller.operations.config_definitions import (
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_CONFIGS,
    validate_values,
)
from kraft.controller.operations.configurations import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.errors import ControllerError, ControllerFaultError
from kraft.controller.operations.topics import create_topics
from kraft.errors import ErrorCode
from kraft.ids import TopicId
from kraft.image.replay import replay
from kraft.records.topics import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    ClearElrRecord,
    ConfigRecord,
    TopicRecord,
)
from kraft.rpc.configurations import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
    ReplacedConfigs,
)
from kraft.rpc.topics import CreatableTopic, CreateTopicsRequest

SET, DELETE, APPEND, SUBTRACT = ConfigOperation
OF_TOPIC = TOPIC_RESOURCE, TOPIC
# Kafka: ConfigResource.Type.BROKER_LOGGER.
_BROKER_LOGGER_RESOURCE = 8


def asked(resource, *changes):
    """Return a resource with its changes, each a name, a value and an operation."""
    return AlterConfigsResource(*resource, tuple(AlterableConfig(*one) for one in changes))


def altered(image, *resources, defaults=DEFAULTS, **options):
    """Return the errors of an incremental change, and the records."""
    request = IncrementalAlterConfigsRequest(resources, **options)
    result = incremental_alter_configs(image, defaults, request)
    assert result.is_atomic
    replay(image, result.records)
    assert all(one.error_message for one in result.response.responses if one.error_code)
    return [one.error_code for one in result.response.responses], result.records


def error_of(image, resource, *changes, defaults=DEFAULTS):
    """Return why the changes of one resource are refused; they write nothing."""
    (code,), records = altered(image, asked(resource, *changes), defaults=defaults)
    assert records == ()
    return code


def replaced(image, resource, *configs, defaults=DEFAULTS, **options):
    """Return the error of a legacy change, and its records."""
    request = AlterConfigsRequest((ReplacedConfigs(*resource, configs),), **options)
    result = legacy_alter_configs(image, defaults, request)
    return result.response.responses[0].error_code, result.records


def values_of(records):
    """Return the values that records set, by name."""
    return {one.name: one.value for one in records}


def test_a_new_value_is_written_once_and_a_present_value_is_not_written():
    image = image_of((0,))
    codes, records = altered(image, asked(OF_TOPIC, ("retention.ms", "5")))
    assert (codes, records) == (
        [ErrorCode.NONE], (ConfigRecord(*OF_TOPIC, "retention.ms", "5"),),
    )  # fmt: skip
    image = replay(image, records)
    assert altered(image, asked(OF_TOPIC, ("retention.ms", "5")))[1] == ()
    _, records = altered(image, asked(OF_TOPIC, ("retention.ms", None, DELETE)))
    assert not replay(image, records).configurations
    assert altered(image_of((0,)), asked(OF_TOPIC, ("retention.ms", None, DELETE)))[1] == ()


def test_an_unchanged_value_of_a_broker_is_written():
    image = replay(image_of((0,)), [ConfigRecord(BROKER_RESOURCE, "1", "ssl.keystore", "a")])
    same = asked((BROKER_RESOURCE, "1"), ("ssl.keystore", "a"))
    assert values_of(altered(image, same)[1]) == {"ssl.keystore": "a"}
    assert values_of(replaced(image, (BROKER_RESOURCE, "1"), ("ssl.keystore", "a"))[1]) == {
        "ssl.keystore": "a"
    }


@pytest.mark.parametrize(
    ("present", "operation", "value", "becomes"),
    [
        (None, APPEND, "compact", "delete,compact"),
        ("compact", APPEND, "delete", "compact,delete"),
        ("compact", APPEND, "compact", None),
        ("compact,delete", SUBTRACT, "delete", "compact"),
        ("compact", SUBTRACT, "delete", None),
        ("compact", SUBTRACT, "compact", ""),
    ],
)
def test_a_list_is_appended_to_and_subtracted_from(present, operation, value, becomes):
    image = image_of((0,), configs={} if present is None else {"cleanup.policy": present})
    codes, records = altered(image, asked(OF_TOPIC, ("cleanup.policy", value, operation)))
    assert codes == [ErrorCode.NONE]
    assert values_of(records) == ({} if becomes is None else {"cleanup.policy": becomes})


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
def test_a_list_that_is_to_be_changed_by_no_value_is_a_fault_of_the_controller(operation):
    image = image_of((0,), configs={"cleanup.policy": "compact"})
    good = asked((BROKER_RESOURCE, ""), ("a", "5"))
    for resource in (OF_TOPIC, (TOPIC_RESOURCE, "bar")):
        with pytest.raises(ControllerFaultError, match=r"cleanup\.policy has no value"):
            altered(image, good, asked(resource, ("cleanup.policy", None, operation)))


def test_appending_to_an_unset_list_starts_from_its_default():
    _, records = altered(
        image_of((0,)), asked((BROKER_RESOURCE, ""), ("log.cleanup.policy", "compact", APPEND))
    )
    assert values_of(records) == {"log.cleanup.policy": "delete,compact"}


def test_appending_to_an_unset_list_without_a_default_starts_from_nothing():
    codes, records = altered(
        image_of((0,)), asked((BROKER_RESOURCE, "0"), ("process.roles", "broker", APPEND))
    )
    assert codes == [ErrorCode.NONE]
    assert values_of(records) == {"process.roles": "broker"}


@pytest.mark.parametrize(
    ("resource", "change", "code"),
    [
        (OF_TOPIC, ("retention.ms", "5", APPEND), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("retention.ms", None, APPEND), ErrorCode.INVALID_CONFIG),
        ((GROUP_RESOURCE, "g"), ("share.isolation.level", "x", SUBTRACT), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("no.such", "5"), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("retention.ms", "long"), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("retention.ms", "9" * 5000), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("retention.ms", "-2"), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("cleanup.policy", "x" * 32_768), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("remote.storage.enable", "true"), ErrorCode.INVALID_CONFIG),
        (OF_TOPIC, ("max.compaction.lag.ms", "3"), ErrorCode.NONE),
        ((TOPIC_RESOURCE, "bar"), ("retention.ms", "5"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ((TOPIC_RESOURCE, ""), ("retention.ms", "5"), ErrorCode.INVALID_REQUEST),
        ((TOPIC_RESOURCE, "a b"), ("retention.ms", "5"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        ((BROKER_RESOURCE, "9"), ("a", "5"), ErrorCode.BROKER_ID_NOT_REGISTERED),
        ((BROKER_RESOURCE, "one"), ("a", "5"), ErrorCode.INVALID_REQUEST),
        ((BROKER_RESOURCE, "9" * 12), ("a", "5"), ErrorCode.INVALID_REQUEST),
        ((BROKER_RESOURCE, "-1"), ("a", "5"), ErrorCode.INVALID_REQUEST),
        ((_BROKER_LOGGER_RESOURCE, "1"), ("a", "5"), ErrorCode.INVALID_REQUEST),
        ((GROUP_RESOURCE, ""), ("share.isolation.level", "x"), ErrorCode.INVALID_REQUEST),
        ((GROUP_RESOURCE, "g"), ("share.isolation.level", "x"), ErrorCode.INVALID_CONFIG),
        ((CLIENT_METRICS_RESOURCE, ""), ("metrics", "a"), ErrorCode.INVALID_REQUEST),
        ((CLIENT_METRICS_RESOURCE, "m"), ("no.such", "a"), ErrorCode.INVALID_REQUEST),
        ((CLIENT_METRICS_RESOURCE, "m"), ("interval.ms", "99"), ErrorCode.INVALID_REQUEST),
        ((CLIENT_METRICS_RESOURCE, "m"), ("match", "client_id"), ErrorCode.INVALID_CONFIG),
        ((CLIENT_METRICS_RESOURCE, "m"), ("match", "client_id=("), ErrorCode.INVALID_CONFIG),
        ((CLIENT_METRICS_RESOURCE, "m"), ("match", "rack=a"), ErrorCode.INVALID_CONFIG),
    ],
)
def test_an_invalid_change_of_a_resource_has_its_error(resource, change, code):
    image = image_of((0,), configs={"min.compaction.lag.ms": "2"})
    if code is ErrorCode.NONE:
        assert altered(image, asked(resource, change))[0] == [code]
    else:
        assert error_of(image, resource, change) is code


@pytest.mark.parametrize("broker", ["", "1"])
@pytest.mark.parametrize(
    ("name", "value"), [("min.insync.replicas", "none"), ("unclean.leader.election.enable", "si")]
)
def test_the_broker_settings_that_the_controller_reads_must_be_valid(broker, name, value):
    # Found by `krafla fuzz cluster --seed 100`: each active controller ended in turn.
    image = image_of((1, 2))
    change = name, value, SET
    assert error_of(image, (BROKER_RESOURCE, broker), change) is ErrorCode.INVALID_CONFIG


def test_a_topics_minimum_compaction_lag_cannot_exceed_its_maximum():
    image = image_of((0,), configs={"min.compaction.lag.ms": "9"})
    assert error_of(image, OF_TOPIC, ("max.compaction.lag.ms", "8")) is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("preallocate", ["true", " FALSE "], ["yes", ""]),
        ("compression.type", ["zstd"], ["brotli"]),
        ("compression.gzip.level", ["-1", "1", "9"], ["0", "10", "-2"]),
        ("min.cleanable.dirty.ratio", ["0", ".5", "1e0", "1f"], ["1.1", "half", "-0.1", "NaN"]),
        (
            "min.insync.replicas",
            ["+1", "007", "\u0662", str(2**31 - 1)],
            ["0", str(2**31), "1.0", ""],
        ),
        ("leader.replication.throttled.replicas", ["*", "", "0:1,2:3"], ["0", "*,0:1", "a:b"]),
        ("cleanup.policy", ["compact, delete", ""], ["compact,", "archive"]),
        ("internal.segment.bytes", ["-5"], ["x"]),
    ],
)
def test_a_value_must_match_its_type_and_its_bounds(name, good, bad):
    for value in good:
        validate_values(TOPIC_CONFIGS, {name: value})
    for value in bad:
        with pytest.raises(ControllerError, match="INVALID_CONFIG"):
            validate_values(TOPIC_CONFIGS, {name: value})


def test_every_default_of_a_topic_is_a_valid_value():
    defaults = {name: one.default for name, one in TOPIC_CONFIGS.items()}
    del defaults["internal.segment.bytes"]
    validate_values(TOPIC_CONFIGS, defaults)
    assert len(TOPIC_CONFIGS) == 34


def test_groups_and_metrics_subscriptions_need_not_exist():
    _, records = altered(
        image_of((0,)),
        asked((GROUP_RESOURCE, "g"), ("consumer.session.timeout.ms", "50000")),
        asked(
            (CLIENT_METRICS_RESOURCE, "m"),
            ("interval.ms", "100"), ("match", "client_id=a.*, client_source_port=1"),
        ),
    )  # fmt: skip
    assert len(records) == 3


def test_a_controller_of_the_quorum_is_a_node_with_a_configuration():
    change = asked((BROKER_RESOURCE, "3000"), ("a", "5"))
    assert altered(image_of((0,)), change)[0] == [ErrorCode.BROKER_ID_NOT_REGISTERED]
    defaults = Defaults(quorum_node_ids=(3000,))
    assert altered(image_of((0,)), change, defaults=defaults)[0] == [ErrorCode.NONE]


def test_the_changes_of_one_resource_are_atomic_and_do_not_affect_others():
    codes, records = altered(
        image_of((0,)),
        asked(OF_TOPIC, ("retention.ms", "5"), ("segment.ms", "0")),
        asked((BROKER_RESOURCE, "1"), ("a", "b")),
    )
    assert codes == [ErrorCode.INVALID_CONFIG, ErrorCode.NONE]
    assert values_of(records) == {"a": "b"}


def test_a_repeated_resource_is_refused_and_of_two_changes_of_a_setting_the_last_counts():
    image = image_of((0,), configs={"flush.ms": "7"})
    twice = asked(OF_TOPIC, ("retention.ms", "5"))
    assert altered(image, twice, twice) == ([ErrorCode.INVALID_REQUEST], ())
    both = ("retention.ms", None, DELETE), ("flush.ms", "5"), ("retention.ms", "6")
    codes, records = altered(image, asked(OF_TOPIC, *both, ("flush.ms", None, DELETE)))
    assert codes == [ErrorCode.NONE]
    assert values_of(records) == {"retention.ms": "6", "flush.ms": None}


def test_the_operators_policy_can_refuse_and_sees_only_requested_changes():
    seen = []

    def policy(resource_type, name, configs):
        seen.append((resource_type, name, dict(configs)))
        return "not on Fridays" if "segment.ms" in configs else None

    defaults = Defaults(alter_config_policy=policy)
    image = image_of((0,), configs={"flush.ms": "1"})
    assert error_of(image, OF_TOPIC, ("segment.ms", "5"), defaults=defaults) is (
        ErrorCode.POLICY_VIOLATION
    )
    code, records = replaced(image, OF_TOPIC, ("retention.ms", "5"), defaults=defaults)
    assert code is ErrorCode.NONE
    assert values_of(records) == {"retention.ms": "5", "flush.ms": None}
    # The policy does not see deletions of unnamed configurations (KAFKA-14195).
    assert seen[-1] == (*OF_TOPIC, {"retention.ms": "5"})


def test_a_legacy_change_replaces_the_whole_configuration():
    image = image_of((0,), configs={"flush.ms": "1", "retention.ms": "5"})
    code, records = replaced(image, OF_TOPIC, ("retention.ms", "5"), ("segment.ms", "9"))
    assert code is ErrorCode.NONE
    assert dict(replay(image, records).configurations[OF_TOPIC]) == {
        "retention.ms": "5", "segment.ms": "9",
    }  # fmt: skip
    assert replaced(image, OF_TOPIC, ("segment.ms", "0")) == (ErrorCode.INVALID_CONFIG, ())
    assert replaced(image, OF_TOPIC, ("segment.ms", "9"), validate_only=True)[1] == ()


def test_a_request_to_validate_only_writes_nothing():
    change = asked(OF_TOPIC, ("retention.ms", "5"))
    assert altered(image_of((0,)), change, validate_only=True) == ([ErrorCode.NONE], ())


def test_a_request_with_more_records_than_fit_into_a_batch_is_refused():
    many = [(f"name.{number}", "x") for number in range(10_001)]
    with pytest.raises(ControllerError, match="POLICY_VIOLATION"):
        altered(image_of((0,)), asked((BROKER_RESOURCE, ""), *many))


def test_another_minimum_isr_clears_the_eligible_leader_replicas():
    image = image_of((1, 2, 3), (1,), min_isr=2, eligible_leader_replicas=(2,))
    _, records = altered(image, asked(OF_TOPIC, ("min.insync.replicas", "1")))
    assert records[-1] == ClearElrRecord(TOPIC)
    assert not any(p.eligible_leader_replicas for p in replay(image, records).partitions.values())
    _, records = altered(image, asked((BROKER_RESOURCE, ""), ("min.insync.replicas", "1")))
    assert records[-1] == ClearElrRecord("")
    code, records = replaced(image, OF_TOPIC)
    assert (code, records[-1]) == (ErrorCode.NONE, ClearElrRecord(TOPIC))
    plain = image_of((1, 2, 3), configs={"min.insync.replicas": "2"})
    assert len(altered(plain, asked(OF_TOPIC, ("min.insync.replicas", "1")))[1]) == 1


def test_with_eligible_leader_replicas_all_brokers_have_one_minimum_isr():
    image, name = image_of((1, 2, 3), min_isr=2), "min.insync.replicas"
    assert error_of(image, (BROKER_RESOURCE, "1"), (name, "1")) is ErrorCode.INVALID_CONFIG
    assert error_of(image, (BROKER_RESOURCE, ""), (name, None, DELETE)) is ErrorCode.INVALID_CONFIG
    own = replay(image, [ConfigRecord(BROKER_RESOURCE, "", name, "2")])
    assert replaced(own, (BROKER_RESOURCE, "")) == (ErrorCode.INVALID_CONFIG, ())
    assert altered(image_of((0,)), asked((BROKER_RESOURCE, "1"), (name, "1")))[0] == [0]


def created(image, *configs, defaults=DEFAULTS):
    """Return the error of a new topic with a configuration, and the records."""
    request = CreateTopicsRequest((CreatableTopic("bar", 1, 1, configs=configs),))
    result = create_topics(image, defaults, request, (TopicId("N" * 21 + "A"),))
    replay(image, result.records)
    return result.response.topics[0].error_code, result.records


def test_a_new_topic_needs_a_valid_configuration():
    image = image_of((1, 2, 3), min_isr=2)
    for bad in (("no.such", "1"), ("retention.ms", "long"), ("segment.ms", None)):
        assert created(image, bad) == (ErrorCode.INVALID_CONFIG, ())
    code, records = created(image, ("retention.ms", "5"), ("min.insync.replicas", "2"))
    assert code is ErrorCode.NONE
    assert [type(one) for one in records[:4]] == [
        TopicRecord, ConfigRecord, ConfigRecord, ClearElrRecord,
    ]  # fmt: skip
    code, records = created(image, ("segment.ms", "5"), ("segment.ms", "6"))
    assert values_of(one for one in records if isinstance(one, ConfigRecord)) == {"segment.ms": "6"}
    refusing = Defaults(alter_config_policy=lambda *_: "no")
    assert created(image, ("segment.ms", "5"), defaults=refusing)[0] is ErrorCode.POLICY_VIOLATION


def test_a_validation_that_writes_is_seen(monkeypatch):
    # KAFKA-13324: the same test of an operation that ignores the flag.
    def forgetful(image, resources, changes, *, validate_only):
        assert validate_only
        return original(image, resources, changes, validate_only=False)

    original = configurations._alter
    monkeypatch.setattr(configurations, "_alter", forgetful)
    with pytest.raises(AssertionError):
        test_a_request_to_validate_only_writes_nothing()
