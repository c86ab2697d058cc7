"""Brokers register and are unregistered: scenarios 1 to 24 of Kafka's controller."""

from __future__ import annotations

import pytest
from tests.kraft.controller.cluster_driver import (
    FEATURES,
    SESSION_TIMEOUT_MS,
    ClusterDriver,
    incarnation,
)
from tests.kraft.controller.controller_runs import CONFIGURATION, Player
from tests.kraft.controller.partitions import LATEST, TOPIC_ID, directory

from kraft.controller.effects import Append
from kraft.controller.operations.errors import ControllerFaultError
from kraft.controller.record_bytes import encode_records
from kraft.errors import ErrorCode
from kraft.ids import DirectoryId, PartitionId, uuid_text
from kraft.image.entries import LOST, MIGRATING, UNASSIGNED
from kraft.image.metadata_image import METADATA_VERSION
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.lease import (
    BrokerRegistrationChangeRecord,
    Endpoint,
    FeatureRange,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
)
from kraft.records.topics import NO_LEADER, PartitionChangeRecord
from kraft.records.value import decode_value
from kraft.rpc import BrokerRegistrationRequest
from kraft.rpc.node_description import Listener, SupportedFeature

FEATURE = "a.feature"
LAST_RESERVED = DirectoryId(uuid_text((99).to_bytes(16, "big")))
FIRST_FREE = DirectoryId(uuid_text((100).to_bytes(16, "big")))
INVALID_LISTENERS = [
    pytest.param(Listener("L", "host", 9092, security_protocol=4), id="protocol"),
    pytest.param(Listener("L", "host", 0), id="port 0"),
    pytest.param(Listener("L", "host", 65_536), id="port too large"),
    pytest.param(Listener("L", "  ", 9092), id="no host"),
]


def code_of(driver, broker=1, process=1, **fields):
    """Return the error code of a registration; an error writes nothing."""
    end = driver.written.end
    response = driver.register(broker, process, **fields)
    assert (response.error_code is ErrorCode.NONE) is (driver.written.end > end)
    return response.error_code


def test_a_registration_says_all_of_the_request_and_is_fenced():
    driver = ClusterDriver()
    end = driver.written.end
    response = driver.register(1, rack="a-rack")
    assert (response.error_code, response.broker_epoch) == (ErrorCode.NONE, end)
    assert driver.appended == (
        RegisterBrokerRecord(
            1, incarnation(1), end,
            endpoints=(Endpoint("PLAINTEXT", "host-1", 9092),),
            features=tuple(
                FeatureRange(*one)
                for one in FEATURES
            ),
            rack="a-rack", log_dirs=(directory(1),),
        ),
    )  # fmt: skip
    assert driver.registration().fenced
    assert driver.written.registration_offsets[1] == end


def test_a_broker_of_another_cluster_is_refused():
    driver = ClusterDriver()
    assert code_of(driver, cluster_id="another") is ErrorCode.INCONSISTENT_CLUSTER_ID


def test_the_cluster_id_is_checked_before_the_session():
    driver = ClusterDriver().unfenced(1)
    assert code_of(driver, 1, 2, cluster_id="another") is ErrorCode.INCONSISTENT_CLUSTER_ID
    assert code_of(driver, 1, 2, log_dirs=()) is ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_a_session_protects_the_broker_id_until_its_last_millisecond():
    driver = ClusterDriver().unfenced(1)
    driver.now_ms += SESSION_TIMEOUT_MS
    assert code_of(driver, 1, 2) is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    driver.now_ms += 1
    epoch = driver.registration().epoch
    assert code_of(driver, 1, 2) is ErrorCode.NONE
    assert driver.registration().epoch > epoch


@pytest.mark.parametrize("wish", ["want_fence", "want_shut_down"])
def test_a_fenced_broker_has_a_session_too(wish):
    driver = ClusterDriver().unfenced(1)
    driver.heartbeat(1, **{wish: True})
    assert driver.registration().fenced
    assert code_of(driver, 1, 2) is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    assert code_of(driver, 1, 2) is ErrorCode.NONE


def test_a_broker_in_controlled_shutdown_has_a_session_too():
    driver = ClusterDriver().unfenced(1, 2)
    driver.create((1, 2))
    driver.heartbeat(1, want_shut_down=True)
    assert driver.registration().in_controlled_shutdown
    assert code_of(driver, 1, 2) is ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_a_broker_without_a_session_is_displaced_at_once():
    driver = ClusterDriver()
    driver.register(1)
    assert code_of(driver, 1, 2) is ErrorCode.NONE


def test_a_process_that_registers_again_keeps_its_state():
    driver = ClusterDriver().unfenced(1, 2)
    driver.create((1, 2))
    epoch, end = driver.registration().epoch, driver.written.end
    assert driver.register(1, rack="moved").broker_epoch == epoch
    assert len(driver.appended) == 1
    registration = driver.registration()
    assert (registration.epoch, registration.fenced, registration.rack) == (epoch, False, "moved")
    assert driver.written.registration_offsets[1] == end
    assert driver.partition().leader == 1


def test_a_process_that_registers_again_in_controlled_shutdown_stays_in_it():
    driver = ClusterDriver().unfenced(1, 2)
    driver.create((1, 2))
    driver.heartbeat(1, want_shut_down=True)
    driver.register(1)
    registration = driver.registration()
    assert (registration.in_controlled_shutdown, registration.fenced) == (True, False)


@pytest.mark.parametrize(
    "log_dirs",
    [(), (LAST_RESERVED,), (LOST,), (MIGRATING,), (UNASSIGNED,), (directory(1),) * 2],
    ids=["none", "reserved", "lost", "migrating", "unassigned", "twice"],
)
def test_directories_must_be_named_and_neither_reserved_nor_repeated(log_dirs):
    driver = ClusterDriver()
    assert code_of(driver, log_dirs=log_dirs) is ErrorCode.INVALID_REGISTRATION
    assert code_of(driver, log_dirs=(FIRST_FREE,)) is ErrorCode.NONE
    old = ClusterDriver(metadata_version=16)
    assert code_of(old, log_dirs=log_dirs) is ErrorCode.NONE
    assert old.registration().directories == ()


def test_a_directory_has_one_owner_until_the_owner_is_unregistered():
    driver = ClusterDriver()
    driver.register(1)
    assert code_of(driver, 2, log_dirs=(directory(1),)) is ErrorCode.INVALID_REGISTRATION
    assert code_of(driver, 1, 2) is ErrorCode.NONE
    driver.unregister(1)
    assert code_of(driver, 2, log_dirs=(directory(1),)) is ErrorCode.NONE


@pytest.mark.parametrize(
    ("level", "supported", "code"),
    [
        (2, (0, 1), ErrorCode.UNSUPPORTED_VERSION),
        (2, (0, 2), ErrorCode.NONE),
        (1, (2, 3), ErrorCode.UNSUPPORTED_VERSION),
        (0, (1, 2), ErrorCode.UNSUPPORTED_VERSION),
        (0, (0, 2), ErrorCode.NONE),
        (1, None, ErrorCode.UNSUPPORTED_VERSION),
        (0, None, ErrorCode.NONE),
    ],
)
def test_a_broker_must_support_each_feature_at_its_finalized_level(level, supported, code):
    driver = ClusterDriver()
    driver.write(FeatureLevelRecord(FEATURE, level))
    named = () if supported is None else (SupportedFeature(FEATURE, *supported),)
    assert code_of(driver, features=FEATURES + named) is code


def test_the_metadata_version_must_be_named_and_supported():
    driver = ClusterDriver()
    unnamed = tuple(one for one in FEATURES if one.name != METADATA_VERSION)
    assert code_of(driver, features=unnamed) is ErrorCode.INVALID_REGISTRATION
    old = (SupportedFeature(METADATA_VERSION, 1, LATEST - 1), *FEATURES[1:])
    assert code_of(driver, features=old) is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("kraft_version", [0, 1])
@pytest.mark.parametrize("supported", [(0, 0), (0, 1), (1, 1), None])
def test_a_broker_must_support_the_kraft_version_of_raft(kraft_version, supported):
    player = Player(kraft_version=kraft_version)
    player.lead()
    player.commit_all()
    ranges = () if supported is None else (SupportedFeature("kraft.version", *supported),)
    player.ask(
        BrokerRegistrationRequest(
            1, incarnation(1), CONFIGURATION.defaults.cluster_id, features=(*FEATURES, *ranges),
            log_dirs=(directory(1),),
        )
    )  # fmt: skip
    registers = any(isinstance(one, Append) for one in player.effects)
    lowest, highest = supported or (0, 0)
    assert registers == (lowest <= kraft_version <= highest)
    if not registers:
        (reply,) = player.effects
        assert reply.response.error_code is ErrorCode.UNSUPPORTED_VERSION


def test_a_broker_that_migrates_from_zookeeper_is_refused():
    driver = ClusterDriver()
    code = code_of(driver, is_migrating_zk_broker=True, log_dirs=())
    assert code is ErrorCode.BROKER_ID_NOT_REGISTERED


@pytest.mark.parametrize("listener", INVALID_LISTENERS)
def test_an_invalid_listener_is_a_fault_of_the_controller(listener):
    driver = ClusterDriver()
    with pytest.raises(ControllerFaultError):
        driver.register(1, listeners=(listener,))


@pytest.mark.parametrize(
    ("metadata_version", "register", "partition", "change"),
    [
        (6, 0, 0, {0}),
        (7, 1, 0, {0, 1}),
        (8, 2, 0, {0, 1}),
        (17, 3, 1, {0, 1, 2}),
        (23, 3, 2, {0, 1, 2}),
    ],
)
def test_the_metadata_version_determines_the_version_of_each_record(
    metadata_version, register, partition, change
):
    driver = ClusterDriver(metadata_version=metadata_version).unfenced(1, 2)
    driver.create((1, 2))
    driver.register(1)
    written = list(driver.appended)
    driver.heartbeat(1, want_shut_down=True, offline_log_dirs=(directory(1),))
    written += driver.appended
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    driver.fence_stale()
    written += driver.appended
    found = {}
    for record in written:
        (value,) = encode_records((record,), metadata_version)
        _, version, fields = decode_value(value)
        assert type(record).from_fields(fields) == record
        found.setdefault(type(record), set()).add(version)
    assert found == {
        RegisterBrokerRecord: {register},
        PartitionChangeRecord: {partition},
        BrokerRegistrationChangeRecord: change,
    }


@pytest.mark.parametrize("min_isr", [None, 2], ids=["no elr", "elr"])
def test_partitions_change_before_a_new_process_is_registered(min_isr):
    driver = ClusterDriver(min_isr=min_isr).unfenced(1, 2, 3)
    driver.create((1, 2, 3), (2, 1), (3,))
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    end = driver.written.end
    epoch = driver.register(1, 2).broker_epoch
    first, second, registration = driver.appended
    assert [type(one) for one in (first, second)] == [PartitionChangeRecord] * 2
    assert isinstance(registration, RegisterBrokerRecord)
    assert epoch == end < driver.written.registration_offsets[1]
    assert (driver.partition().leader, driver.partition().isr) == (2, (2, 3))
    assert driver.partition(1).eligible_leader_replicas == ()


@pytest.mark.parametrize(
    ("told", "eligible"), [(0, (1,)), (1, ()), (None, ())], ids=["right", "wrong", "not said"]
)
def test_the_previous_epoch_shows_a_clean_shutdown_which_keeps_the_broker_eligible(told, eligible):
    driver = ClusterDriver(min_isr=2).unfenced(1, 2)
    driver.create((1, 2))
    driver.heartbeat(1, want_fence=True)
    assert driver.partition().eligible_leader_replicas == (1,)
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    fields = {} if told is None else {"previous_broker_epoch": driver.registration().epoch + told}
    driver.register(1, 2, **fields)
    assert driver.partition().eligible_leader_replicas == eligible


def test_a_clean_process_still_in_the_isr_leaves_it_and_is_eligible():
    driver = ClusterDriver(min_isr=2).unfenced(1, 2)
    driver.create((1, 2))
    driver.now_ms += SESSION_TIMEOUT_MS + 1
    driver.register(1, 2, previous_broker_epoch=driver.registration().epoch)
    partition = driver.partition()
    assert (partition.leader, partition.isr) == (2, (2,))
    assert partition.eligible_leader_replicas == (1,)


def test_an_unregistered_broker_cannot_be_unregistered():
    assert ClusterDriver().unregister(1) is ErrorCode.BROKER_ID_NOT_REGISTERED


def test_an_unregistered_broker_leads_nothing_and_its_heartbeats_are_refused():
    driver = ClusterDriver().unfenced(1, 2)
    driver.create((1, 2))
    epoch = driver.registration().epoch
    assert driver.unregister(1) is ErrorCode.NONE
    change, end = driver.appended
    assert (change.leader, change.isr) == (2, (2,))
    assert end == UnregisterBrokerRecord(1, epoch)
    assert driver.partition().replicas == (1, 2)
    response = driver.heartbeat(1, broker_epoch=epoch)
    assert response.error_code is ErrorCode.STALE_BROKER_EPOCH
    assert 1 not in driver.written.registration_offsets
    assert 1 not in driver.heartbeats.brokers


def test_a_partition_where_the_unregistered_broker_was_eligible_gets_an_election():
    driver = ClusterDriver(min_isr=2).unfenced(1, 2, 3)
    driver.create((1, 2), (2, 1))
    driver.heartbeat(1, want_fence=True)
    assert driver.partition(0).eligible_leader_replicas == (1,)
    driver.write(PartitionChangeRecord(PartitionId(0), TOPIC_ID, leader=NO_LEADER))
    driver.unregister(1)
    change, end = driver.appended
    assert (change.partition_id, change.leader) == (0, 2)
    assert isinstance(end, UnregisterBrokerRecord)
    # As in Kafka: the id stays among the eligible replicas.
    assert driver.partition(0).eligible_leader_replicas == (1,)


def test_a_broker_with_too_many_partitions_for_one_request_is_not_unregistered():
    driver = ClusterDriver().unfenced(1, 2)
    driver.create(*[(1, 2)] * 10_000)
    end = driver.written.end
    assert driver.unregister(1) is ErrorCode.POLICY_VIOLATION
    assert driver.written.end == end
    driver.register(3)
    assert driver.unregister(3) is ErrorCode.NONE


def test_a_repeated_registration_changes_only_its_offset():
    driver = ClusterDriver()
    driver.register(1)
    image, (record,) = driver.written.image, driver.appended
    driver.write(record)
    assert driver.written.image == image
    assert driver.written.registration_offsets[1] == driver.written.end - 1
