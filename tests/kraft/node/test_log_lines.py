"""What a node logs of its own steps: each event once, in Kafka's words."""

import logging
from dataclasses import replace

import pytest
from tests.kraft.hosting.hosted import do_effects, sole_controller

from kraft.controller import events
from kraft.controller.configuration import Configuration as ControllerConfiguration
from kraft.controller.effects import Append, CreateSnapshot, Failure, Reply, Resign
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.written import NOTHING_WRITTEN
from kraft.controller.state import first_state
from kraft.errors import ErrorCode
from kraft.hosting.order import next_deadline, take_turn
from kraft.ids import OffsetAndEpoch
from kraft.image.entries import Partition, Topic
from kraft.image.metadata_image import EMPTY_IMAGE, MetadataImage
from kraft.log.image import LogImage, Snapshot
from kraft.node.log_lines import NodeLog
from kraft.node.loop import Arrived
from kraft.raft.controls import VersionAt, VotersAt
from kraft.records.cluster import FeatureLevelRecord
from kraft.records.lease import BrokerRegistrationChangeRecord, UnregisterBrokerRecord
from kraft.records.topics import (
    NO_LEADER,
    RECOVERING,
    PartitionChangeRecord,
    RemoveTopicRecord,
    TopicRecord,
)


@pytest.fixture(name="told")
def told_lines(caplog, monkeypatch):
    """Return what was logged, without the node's name."""
    monkeypatch.setattr(logging.getLogger("kraft"), "propagate", True)
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage().partition("] ")[2] for record in caplog.records]


def image_with(**fields):
    return MetadataImage(
        topics=EMPTY_IMAGE.topics.set("t-id", Topic("calm", "t-id")),
        partitions=EMPTY_IMAGE.partitions.update(
            {("t-id", number): Partition((1, 2), (), (1, 2), leader=1) for number in range(20)}
        ),
        **fields,
    )


STANDBY = first_state(ControllerConfiguration(Defaults(1), ()), 5000)
WITH_TOPIC = first_state(
    ControllerConfiguration(Defaults(1), ()),
    5000,
    Memory(replace(NOTHING_WRITTEN, image=image_with())),
)


def step(event, *effects, before=STANDBY, after=STANDBY):
    NodeLog(1).controller_step("controller", before, event, after, effects, None)


def test_the_fault_that_deposes_a_controller_is_told(told):
    active = replace(STANDBY, claim_epoch=4)
    request = events.RequestReceived(5000, 7, "request", 0, None, kraft_version=0)
    message = Arrived(True, 7, 1, 7, "request")
    failure = Failure(ErrorCode.UNKNOWN_SERVER_ERROR, "KeyError: \n'a'")
    effects = Resign(4), Reply(6, Failure(ErrorCode.NOT_CONTROLLER, "no")), Reply(7, failure)
    NodeLog(1).controller_step("controller", active, request, STANDBY, effects, message)

    assert told() == [
        "str: event failed with KeyError: \\n'a'.",
        "Renouncing leadership and reverting to the last committed offset.",
    ]


def committed(*records):
    return events.BatchesCommitted(5000, (events.CommittedBatch(0, 1, records, len(records)),))


def test_leaders_are_told(told):
    active = replace(STANDBY, claim_epoch=4)
    step(events.LeaderChanged(5000, 3, 2))
    step(events.LeaderChanged(5000, 4, None))
    step(events.LeaderChanged(5000, 4, 1), after=active)
    step(events.LeaderChanged(5000, 5, 2), before=active)

    assert told() == [
        "In the new epoch 3, the leader is 2.",
        "In the new epoch 4, the leader is (none).",
        "Becoming the active controller at epoch 4.",
        "In the new epoch 5, the leader is 2.",
        "Renouncing leadership and reverting to the last committed offset.",
    ]


def test_features_and_brokers_are_told_by_every_controller(told):
    step(
        committed(
            FeatureLevelRecord("metadata.version", 27),
            BrokerRegistrationChangeRecord(7, 12, fenced=1),
            UnregisterBrokerRecord(7, 12),
        )
    )

    assert told() == [
        "Replayed a FeatureLevelRecord setting feature metadata.version to 27",
        "Replayed BrokerRegistrationChangeRecord modifying the registration for broker 7: "
        "BrokerRegistrationChangeRecord(brokerId=7, brokerEpoch=12, fenced=1, "
        "inControlledShutdown=0)",
        "Replayed UnregisterBrokerRecord(brokerId=7, brokerEpoch=12)",
    ]


def test_topics_are_told_and_of_many_at_once_ten_and_the_number(told):
    created = [TopicRecord(f"t{number}", f"id-{number}") for number in range(12)]
    step(
        committed(*created, RemoveTopicRecord("t-id"), RemoveTopicRecord("id-3")), before=WITH_TOPIC
    )

    assert told() == [
        *(f"Replayed TopicRecord for topic t{n} with topic ID id-{n}" for n in range(10)),
        "Replayed TopicRecord for 2 more",
        "Replayed RemoveTopicRecord for topic calm with ID t-id",
        "Replayed RemoveTopicRecord for topic (new) with ID id-3",
    ]


def test_a_silent_broker_is_fenced_with_the_reason(told):
    fenced = (BrokerRegistrationChangeRecord(7, 12, fenced=1),)
    unfenced = (BrokerRegistrationChangeRecord(7, 12, fenced=-1),)
    step(events.Poll(5000), Append(1, 20, fenced, 27))
    step(events.Poll(5000), Append(1, 20, unfenced, 27))
    # It asked for it.
    step(events.RequestReceived(5000, 1, None, kraft_version=0), Append(1, 20, fenced, 27))

    assert told() == ["Fencing broker 7 at epoch 12 because its session has timed out."]


def test_snapshots_are_told_with_the_reason(told):
    snapshot = OffsetAndEpoch(40, 3)
    most = STANDBY.configuration.max_record_bytes_between_snapshots
    full = replace(STANDBY, bytes_since_snapshot=most)
    step(events.Poll(5000), CreateSnapshot(snapshot, (), 27), before=full)
    step(events.Poll(5000), CreateSnapshot(snapshot, (), 27))
    step(events.SnapshotLoaded(5000, snapshot, (None, None)))

    file = "Creating new KRaft snapshot file snapshot 40-3 because we have"
    assert told() == [
        f"{file} replayed at least {most} bytes.",
        f"{file} waited at least 3600000 ms.",
        "Loaded snapshot 40-3 with 2 records.",
    ]


def test_offline_partitions_and_unclean_elections_are_told(told):
    step(
        committed(
            PartitionChangeRecord(0, "t-id", isr=(), leader=NO_LEADER),
            PartitionChangeRecord(1, "t-id", isr=(2,), leader=2, leader_recovery_state=RECOVERING),
            PartitionChangeRecord(2, "t-id", isr=(2,), leader=2),
            PartitionChangeRecord(3, "t-id", leader=NO_LEADER),
            PartitionChangeRecord(4, "new", isr=(), leader=NO_LEADER),
        ),
        before=WITH_TOPIC,
    )

    words = "partition change for calm-{} with topic ID t-id: isr: [1, 2] -> {}"
    assert told() == [
        words.format(0, "[], leader: 1 -> -1"),
        words.format(3, "[1, 2], leader: 1 -> -1"),
        "partition change for (new)-4 with topic ID new: isr: ? -> [], leader: ? -> -1",
        "UNCLEAN " + words.format(1, "[2], leader: 1 -> 2"),
    ]


def test_of_many_partitions_that_fail_at_once_ten_are_told_and_the_number(told):
    lost = [PartitionChangeRecord(number, "t-id", leader=NO_LEADER) for number in range(17)]
    step(committed(*lost), before=WITH_TOPIC)

    assert len(told()) == 11
    assert told()[-1] == "partition change for 7 more"


def test_elections_are_told_and_what_leaves_the_log(told):
    steps, stored = [], []
    process = sole_controller(max_record_bytes_between_snapshots=1)
    log = NodeLog(1)
    for _ in range(100):
        taken = take_turn(process)
        if taken is None:
            process.outside.time = max(process.outside.time, next_deadline(process))
        elif taken.step is not None:
            log.replica_step(taken.before, taken.step.state)
            steps.append(taken.step.state)
            do_effects(process, taken.step.effects, stored)
    lines = told()

    assert [line for line in lines if "transition" in line] == [
        "Completed transition to Leader(epoch=1, leaderId=1) from Unattached(epoch=0)"
    ]
    starts = sorted({state.log.start_offset for state in steps} - {0})
    assert starts
    assert [line for line in lines if "log start" in line] == [
        f"Incremented log start offset to {start} due to snapshot generated" for start in starts
    ]


def test_a_log_that_is_cut_or_replaced_is_told(told):
    before = sole_controller().state
    long = replace(before, log=LogImage(end_offset=30))
    short = replace(before, log=LogImage(end_offset=20))
    fetched = replace(before, log=LogImage().begin_at(Snapshot(OffsetAndEpoch(50, 2), b"")))
    log = NodeLog(1)
    log.replica_step(long, short)
    log.replica_step(long, fetched)
    log.replica_step(short, long)

    assert told() == [
        "Truncated to offset 20 from Fetch response from leader None",
        "Fully truncated the log at (OffsetAndEpoch(end_offset=50, epoch=2)) after downloading "
        "snapshot OffsetAndEpoch(end_offset=50, epoch=2) from leader None",
    ]


def test_voters_and_their_version_are_told_when_they_change(told):
    state = sole_controller().state
    controls = replace(
        state.controls,
        voter_sets=(VotersAt(9, state.controls.voters),),
        versions=(VersionAt(8, 1),),
    )
    NodeLog(1).replica_step(state, replace(state, controls=controls))
    NodeLog(1).replica_step(state, replace(state, controls=replace(state.controls)))

    assert told() == [
        "Latest set of voters is [1] at offset 9",
        "Latest kraft.version is 1",
    ]
