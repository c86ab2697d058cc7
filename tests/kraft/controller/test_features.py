"""Features and controller registrations: scenarios 25, 26 and 138 of Kafka's controller."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.kraft.controller.partitions import image_of
from tests.kraft.controller.test_broker_registration import INVALID_LISTENERS

from kraft.controller.activation import activation_records
from kraft.controller.configuration import Configuration
from kraft.controller.memory import EMPTY
from kraft.controller.operations import features
from kraft.controller.operations.controller_registration import register_controller
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.errors import ControllerFaultError
from kraft.controller.operations.features import (
    GROUP_VERSION,
    SUPPORTED_FEATURES,
    TRANSACTION_VERSION,
    update_features,
)
from kraft.controller.operations.leader_eligibility import ELIGIBLE_LEADER_REPLICAS
from kraft.errors import ErrorCode
from kraft.ids import ControllerId, IncarnationId, NodeId
from kraft.image.metadata_image import EMPTY_IMAGE, METADATA_VERSION
from kraft.image.replay import replay
from kraft.image.snapshot import snapshot_records
from kraft.image.versions import IBP_4_1_IV1, is_metadata_lost
from kraft.log.segment import iter_batches
from kraft.records.cluster import BeginTransactionRecord, EndTransactionRecord, FeatureLevelRecord
from kraft.records.lease import Endpoint, FeatureRange, NoOpRecord
from kraft.records.topics import BROKER_RESOURCE, ConfigRecord
from kraft.rpc.controller_registration import ControllerRegistrationRequest
from kraft.rpc.node_description import Listener, SupportedFeature
from kraft.rpc.update_features import FeatureUpdate, UpdateFeaturesRequest, UpgradeType

RECORDED = Path(__file__).parents[3] / "traces" / "kafka-4.1"
DEFAULTS = Defaults(node_id=NodeId(3000), quorum_node_ids=(NodeId(3000), NodeId(3001)))
ALL = tuple(FeatureRange(name, *levels) for name, levels in sorted(SUPPORTED_FEATURES.items()))
BOOTSTRAP = (
    FeatureLevelRecord(METADATA_VERSION, IBP_4_1_IV1),
    FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1),
    FeatureLevelRecord(GROUP_VERSION, 1),
    FeatureLevelRecord(TRANSACTION_VERSION, 2),
)
SAFE, UNSAFE = UpgradeType.SAFE_DOWNGRADE, UpgradeType.UNSAFE_DOWNGRADE


def supported(ranges):
    """Return the features of a controller's request."""
    return tuple(SupportedFeature(one.name, one.minimum, one.maximum) for one in ranges)


def registered(image, controller_id=3001, ranges=ALL, incarnation="C"):
    """Return the image after a controller has registered."""
    request = ControllerRegistrationRequest(
        ControllerId(controller_id), IncarnationId(incarnation * 21 + "A"),
        listeners=(Listener("CONTROLLER", "host", 9093),), features=supported(ranges),
    )  # fmt: skip
    result = register_controller(image, request)
    assert result.response.error_code is ErrorCode.NONE
    return replay(image, result.records)


def cluster(metadata_version=27, levels=(), brokers=ALL, controller=ALL):
    """Return an image with a broker and a controller that support features."""
    image = image_of((0,), brokers=(0,), metadata_version=metadata_version)
    image = replace(
        image, brokers=image.brokers.set(0, replace(image.brokers[0], features=brokers))
    )
    if metadata_version >= 15 and controller is not None:
        image = registered(image, ranges=controller)
    return replay(image, [FeatureLevelRecord(*one) for one in levels])


def updated(image, *updates, defaults=DEFAULTS, kraft_version=0, **options):
    """Return the error of an update, and the records."""
    request = UpdateFeaturesRequest(tuple(FeatureUpdate(*one) for one in updates), **options)
    result = update_features(image, defaults, request, kraft_version)
    replay(image, result.records)
    assert (result.response.error_message is None) == (result.response.error_code == 0)
    return result.response.error_code, result.records


@pytest.mark.parametrize("present", [0, 1])
def test_the_kraft_version_can_be_given_only_the_level_that_it_has(present):
    image = cluster()

    def given(level):
        update = ("kraft.version", level, UpgradeType.UPGRADE)
        return updated(image, (GROUP_VERSION, 1), update, kraft_version=present)

    code, records = given(present)
    other, nothing = given(1 - present)

    assert (code, records) == (
        ErrorCode.NONE, (FeatureLevelRecord(GROUP_VERSION, 1), NoOpRecord())
    )  # fmt: skip
    assert (other, nothing) == (ErrorCode.INVALID_UPDATE_VERSION, ())


def test_feature_levels_can_be_raised_lowered_and_removed():
    image = cluster()
    code, records = updated(image, (GROUP_VERSION, 1), (TRANSACTION_VERSION, 2))
    assert code is ErrorCode.NONE
    image = replay(image, records)
    assert (image.features[GROUP_VERSION], image.features[TRANSACTION_VERSION]) == (1, 2)
    assert updated(image, (GROUP_VERSION, 1))[1] == (FeatureLevelRecord(GROUP_VERSION, 1),)
    for way in (SAFE, UNSAFE):
        _, records = updated(image, (TRANSACTION_VERSION, 1, way), (GROUP_VERSION, 0, way))
        after = replay(image, records)
        assert after.features[TRANSACTION_VERSION] == 1
        assert GROUP_VERSION not in after.features


@pytest.mark.parametrize(
    "update",
    [
        (GROUP_VERSION, 1, UpgradeType.UNKNOWN),
        (GROUP_VERSION, -1),
        (GROUP_VERSION, 2),
        (GROUP_VERSION, 1, SAFE),
        (GROUP_VERSION, 1, UNSAFE),
        (TRANSACTION_VERSION, 1),
        ("no.such", 1),
        ("no.such", 0),
        ("streams.version", 1),
        ("unit.test.feature.version.8", 0),
        ("kraft.version", 1),
        (METADATA_VERSION, 6, SAFE),
        (METADATA_VERSION, 28),
        (METADATA_VERSION, 26),
        (METADATA_VERSION, 22, SAFE),
        (METADATA_VERSION, 22, UNSAFE),
    ],
)
def test_an_invalid_level_refuses_the_whole_request(update):
    image = cluster(levels=[(TRANSACTION_VERSION, 2)])
    code, records = updated(image, (ELIGIBLE_LEADER_REPLICAS, 1), update)
    assert (code, records) == (ErrorCode.INVALID_UPDATE_VERSION, ())


@pytest.mark.parametrize(
    "name", ["streams.version", "test.feature.version", "unit.test.feature.version.7"]
)
def test_a_feature_that_kafka_only_knows_can_be_set_to_level_0(name):
    # Feature.featureFromName of Kafka 4.1.0 finds these; no node says that it supports them.
    code, records = updated(cluster(), (name, 0))
    assert (code, records) == (ErrorCode.NONE, (FeatureLevelRecord(name, 0),))
    assert name not in replay(cluster(), records).features
    old = cluster(metadata_version=14)
    dependent = name == "unit.test.feature.version.7"
    code, records = updated(old, (name, 0))
    assert (code is ErrorCode.INVALID_UPDATE_VERSION, records == ()) == (dependent, dependent)


def test_the_metadata_version_can_change_where_no_metadata_is_lost():
    image = cluster(metadata_version=22)
    code, records = updated(image, (METADATA_VERSION, 27))
    assert code is ErrorCode.NONE
    image = replay(image, records)
    code, records = updated(image, (METADATA_VERSION, 23, SAFE))
    assert (code, replay(image, records).metadata_version) == (ErrorCode.NONE, 23)
    assert not is_metadata_lost(27, 23)
    assert is_metadata_lost(23, 22)


def test_eligible_leader_replicas_need_a_metadata_version_that_has_them():
    image = cluster(metadata_version=22)
    refused = ErrorCode.INVALID_UPDATE_VERSION, ()
    assert updated(image, (ELIGIBLE_LEADER_REPLICAS, 1)) == refused
    code, _ = updated(image, (ELIGIBLE_LEADER_REPLICAS, 1), (METADATA_VERSION, 23))
    assert code is ErrorCode.NONE


@pytest.mark.parametrize("name", ["group.version", "share.version", "transaction.version"])
def test_other_features_need_a_metadata_version_that_kafka_can_start_with(name):
    image = cluster(metadata_version=6)
    assert updated(image, (name, 1)) == (ErrorCode.INVALID_UPDATE_VERSION, ())
    for updates in (((name, 0),), ((name, 1), (METADATA_VERSION, 7))):
        assert updated(image, *updates)[0] is ErrorCode.NONE


@pytest.mark.parametrize("where", ["brokers", "controller"])
@pytest.mark.parametrize("ranges", [(), (FeatureRange(GROUP_VERSION, 0, 0),)])
def test_every_registered_node_must_support_a_level(where, ranges):
    image = cluster(**{where: ranges})
    assert updated(image, (GROUP_VERSION, 1)) == (ErrorCode.INVALID_UPDATE_VERSION, ())
    assert updated(image, (GROUP_VERSION, 0))[0] is ErrorCode.NONE


def test_ignoring_a_node_is_detected(monkeypatch):
    # As in KAFKA-17305: a node that does not name a feature does not support it.
    monkeypatch.setattr(features, "_NOT_SUPPORTED", (0, 99))
    with pytest.raises(AssertionError):
        test_every_registered_node_must_support_a_level("brokers", ())


def test_every_voter_must_have_registered_where_controllers_register():
    image = cluster(controller=None)
    refused = ErrorCode.INVALID_UPDATE_VERSION, ()
    assert updated(image, (GROUP_VERSION, 1)) == refused
    assert updated(registered(image), (GROUP_VERSION, 1))[0] is ErrorCode.NONE
    # This controller's registration does not count: it knows its own features.
    assert updated(registered(image, 3000, ()), (GROUP_VERSION, 1)) == refused
    both = registered(registered(image, 3000, ()))
    assert updated(both, (GROUP_VERSION, 1))[0] is ErrorCode.NONE
    assert updated(cluster(metadata_version=14), (METADATA_VERSION, 15))[0] is ErrorCode.NONE


def test_enabling_eligible_leader_replicas_sets_one_minimum_isr_for_all_brokers():
    name = "min.insync.replicas"
    image = replay(
        cluster(), [ConfigRecord(BROKER_RESOURCE, one, name, "3") for one in ("10", "2")]
    )
    defaults = Defaults(node_id=NodeId(3001), min_insync_replicas=2)
    code, records = updated(image, (ELIGIBLE_LEADER_REPLICAS, 1), defaults=defaults)
    assert code is ErrorCode.NONE
    assert records == (
        ConfigRecord(BROKER_RESOURCE, "", name, "2"),
        ConfigRecord(BROKER_RESOURCE, "2", name, None),
        ConfigRecord(BROKER_RESOURCE, "10", name, None),
        FeatureLevelRecord(ELIGIBLE_LEADER_REPLICAS, 1),
    )
    after = replay(image, records)
    assert list(after.configurations) == [(BROKER_RESOURCE, "")]
    assert len(updated(after, (ELIGIBLE_LEADER_REPLICAS, 1))[1]) == 1
    assert len(updated(after, (ELIGIBLE_LEADER_REPLICAS, 0, SAFE))[1]) == 1


def test_a_request_to_validate_only_writes_nothing():
    image = cluster()
    update = ELIGIBLE_LEADER_REPLICAS, 1
    assert updated(image, update, validate_only=True) == (ErrorCode.NONE, ())
    assert updated(image, (GROUP_VERSION, 2), validate_only=True)[0] is (
        ErrorCode.INVALID_UPDATE_VERSION
    )


def written_into_an_empty_log():
    begin, *records, end = activation_records(EMPTY, Configuration(bootstrap=BOOTSTRAP)).records
    assert (type(begin), type(end)) == (BeginTransactionRecord, EndTransactionRecord)
    return tuple(records)


def test_a_fresh_log_begins_as_kafka_4_1_begins_it():
    records = written_into_an_empty_log()
    assert records == (
        *BOOTSTRAP,
        ConfigRecord(BROKER_RESOURCE, "", "min.insync.replicas", "1"),
    )
    assert replay(EMPTY_IMAGE, records).metadata_version == 27


def test_recorded_clusters_of_kafka_4_1_begin_with_these_records():
    first = written_into_an_empty_log()
    met = 0
    for path in sorted(RECORDED.rglob("00000000000000000000.log")):
        records = [
            record
            for batch in iter_batches(path)
            for record in batch.typed_records()
            if batch.base_offset < len(first) + 3
        ]
        begin, *written = records[: len(first) + 1]
        assert isinstance(begin, BeginTransactionRecord)
        assert tuple(written) == first
        met += 1
    assert met


def test_a_controller_registers_from_3_7_on():
    request = ControllerRegistrationRequest(ControllerId(3001), IncarnationId("C" * 21 + "A"))
    result = register_controller(image_of((0,), metadata_version=14), request)
    assert (result.response.error_code, result.records) == (ErrorCode.UNSUPPORTED_VERSION, ())
    assert list(registered(image_of((0,), metadata_version=15)).controllers) == [3001]


def test_the_last_incarnation_of_a_controller_replaces_earlier_ones():
    image = image_of((0,))
    first = registered(image, ranges=ALL[:1], incarnation="A")
    second = registered(first, incarnation="B")
    registration = second.controllers[3001]
    assert registration.incarnation_id == "B" * 21 + "A"
    assert registration.features == ALL
    assert registration.endpoints == (Endpoint("CONTROLLER", "host", 9093),)
    assert registered(second, ranges=ALL[:1], incarnation="A") == first
    # KAFKA-15860: a snapshot has it too.
    assert replay(EMPTY_IMAGE, snapshot_records(second)) == second


def test_no_controller_registers_as_migrating_from_zookeeper():
    request = ControllerRegistrationRequest(
        ControllerId(3001), IncarnationId("C" * 21 + "A"), zk_migration_ready=True
    )
    (record,) = register_controller(image_of((0,)), request).records
    assert not record.zk_migration_ready


def test_of_two_listeners_of_a_controller_with_one_name_the_last_counts():
    listeners = Listener("A", "one", 1), Listener("B", "two", 2, 1), Listener("A", "three", 3)
    request = ControllerRegistrationRequest(
        ControllerId(3001), IncarnationId("C" * 21 + "A"), listeners=listeners
    )
    (record,) = register_controller(image_of((0,)), request).records
    assert record.endpoints == (Endpoint("A", "three", 3), Endpoint("B", "two", 2, 1))


@pytest.mark.parametrize("listener", INVALID_LISTENERS)
def test_an_invalid_listener_of_a_controller_is_a_fault_of_the_active_one(listener):
    request = ControllerRegistrationRequest(
        ControllerId(3001), IncarnationId("C" * 21 + "A"), listeners=(listener,)
    )
    with pytest.raises(ControllerFaultError):
        register_controller(image_of((0,)), request)
    # Too low a metadata version is a reason before it.
    old = register_controller(image_of((0,), metadata_version=14), request)
    assert old.response.error_code is ErrorCode.UNSUPPORTED_VERSION
