"""Any sequence of operations on brokers: partitions stay sound, and the index stays correct."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.kraft.controller.cluster_driver import SESSION_TIMEOUT_MS, ClusterDriver, incarnation
from tests.kraft.controller.partitions import TOPIC_ID

from kraft.controller.operations.alter_partition import alter_partition
from kraft.controller.operations.leader_eligibility import is_active, is_elr_enabled
from kraft.controller.operations.lease_view import WrittenLease
from kraft.errors import ErrorCode
from kraft.ids import PartitionId
from kraft.image.brokers_to_partitions import brokers_to_partitions
from kraft.records.topics import NO_LEADER, RECOVERED
from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionRequest, BrokerState

BROKERS = (1, 2, 3)
PARTITIONS = ((1, 2, 3), (2, 3), (3, 1), (1,))

OPERATIONS = st.one_of(
    st.tuples(st.just("register"), st.sampled_from(BROKERS), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("heartbeat"), st.sampled_from(BROKERS), st.booleans(), st.booleans()),
    st.tuples(st.just("late heartbeat"), st.sampled_from(BROKERS)),
    st.tuples(st.just("wait"), st.sampled_from([1, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS + 1])),
    st.tuples(st.just("fence")),
    st.tuples(st.just("unregister"), st.sampled_from(BROKERS)),
    st.tuples(st.just("fail over"), st.booleans()),
    st.tuples(st.just("expand"), st.integers(0, len(PARTITIONS) - 1)),
)


def do(driver, operation, *arguments):
    """Perform an operation."""
    driver.appended = ()
    match operation, arguments:
        case "register", (broker, process, is_clean):
            there = driver.written.image.brokers.get(broker)
            told = there.epoch if there is not None and is_clean else -1
            driver.register(broker, process, previous_broker_epoch=told)
        case "heartbeat", (broker, want_fence, want_shut_down):
            driver.heartbeat(broker, want_fence=want_fence, want_shut_down=want_shut_down)
        case "late heartbeat", (broker,):
            driver.heartbeat(broker, expired=True)
        case "wait", (duration_ms,):
            driver.now_ms += duration_ms
        case "fence", ():
            driver.fence_stale()
        case "unregister", (broker,):
            driver.unregister(broker)
        case "fail over", (from_snapshot,):
            driver.fail_over(from_snapshot=from_snapshot)
        case "expand", (index,):
            expand(driver, index)


def expand(driver, index):
    """Let a leader ask for every active replica in its ISR."""
    image, partition = driver.written.image, driver.partition(index)
    if partition.leader == NO_LEADER:
        return
    members = [one for one in partition.replicas if is_active(image, one)]
    asked = AlterPartitionData(
        TOPIC_ID, PartitionId(index), partition.leader_epoch, partition.partition_epoch,
        tuple(BrokerState(one, image.brokers[one].epoch) for one in members), RECOVERED,
    )  # fmt: skip
    epoch = image.brokers[partition.leader].epoch
    request = AlterPartitionRequest(partition.leader, epoch, (asked,))
    driver.write(*alter_partition(image, driver.defaults, request).records)
    assert set(driver.partition(index).isr) == set(members)


def assert_partitions_are_sound(driver):
    """Check P1 to P6 and P11 to P13 of the known invariants of Kafka's partitions."""
    image = driver.written.image
    for partition in image.partitions.values():
        isr, leader = partition.isr, partition.leader
        assert len(set(isr)) == len(isr)
        assert set(isr) <= set(partition.replicas)
        assert leader == NO_LEADER or leader in isr
        if is_elr_enabled(image):
            assert isr or leader == NO_LEADER
        else:
            assert isr
        assert not set(isr) & set(partition.eligible_leader_replicas)
        assert set(partition.eligible_leader_replicas) <= set(partition.replicas)
        assert leader == NO_LEADER or is_active(image, leader)
        assert len(isr) < 2 or all(is_active(image, one) for one in isr)
        assert len(isr) != 1 or is_active(image, isr[0]) or leader == NO_LEADER


def assert_brokers_are_sound(driver):
    """Check that the soft state and the index belong to the registered brokers."""
    written = driver.written
    index = brokers_to_partitions(written.image)
    assert written.index == index
    assert set(written.registration_offsets) == set(written.image.brokers)
    assert set(driver.heartbeats.brokers) == set(written.image.brokers)
    lease = WrittenLease(written)
    for broker in BROKERS:
        led = [one for one in written.image.partitions.values() if one.leader == broker]
        assert (broker in lease.leads) is bool(led)
    for broker, registration in lease.registrations.items():
        state = driver.soft(broker)
        assert registration.epoch <= registration.record_offset < written.end
        assert registration.fenced or state.contact_time_ms is not None
        if state.controlled_shutdown_offset >= 0:
            assert not registration.fenced
            assert broker not in lease.leads, "what was led moves with the record that begins it"
    leaderless = [key for key, one in written.image.partitions.items() if one.leader == NO_LEADER]
    assert sorted(index.leads.get(NO_LEADER, ())) == sorted(leaderless)


@given(
    st.sampled_from([None, 1, 2]),
    st.booleans(),
    st.lists(OPERATIONS, max_size=14),
)
def test_partitions_are_sound_after_each_operation_on_brokers(min_isr, unclean, operations):
    driver = ClusterDriver(min_isr=min_isr, unclean_leader_election_enable=unclean)
    driver.unfenced(*BROKERS)
    driver.create(*PARTITIONS)
    for operation in operations:
        do(driver, *operation)
        assert_partitions_are_sound(driver)
        assert_brokers_are_sound(driver)


@given(st.lists(OPERATIONS, max_size=10))
def test_each_new_epoch_is_greater_than_all_earlier_ones(operations):
    driver = ClusterDriver().unfenced(*BROKERS)
    driver.create(*PARTITIONS)
    seen: dict[int, tuple[int, str]] = {}
    for operation in operations:
        do(driver, *operation)
        for broker, registration in sorted(driver.written.image.brokers.items()):
            owner = broker, registration.incarnation_id
            if registration.epoch not in seen:
                assert registration.epoch > max(seen, default=-1) or operation[0] != "register"
                seen[registration.epoch] = owner
            assert seen[registration.epoch] == owner


def test_a_leader_adds_all_active_replicas_to_its_isr():
    driver = ClusterDriver().unfenced(*BROKERS)
    driver.create((1, 2, 3), isr=(2,))
    expand(driver, 0)
    assert set(driver.partition().isr) == set(BROKERS)
    assert driver.register(1, 1).error_code is ErrorCode.NONE
    assert driver.registration().incarnation_id == incarnation(1)
