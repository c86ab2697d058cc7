"""What each gauge reads, of a leader and of a follower in which no two numbers are equal."""

from dataclasses import replace

import pytest
from immutables import Map

from kraft.controller.configuration import Configuration as ControllerConfiguration
from kraft.controller.memory import Memory
from kraft.controller.operations.defaults import Defaults
from kraft.controller.operations.heartbeats import Heartbeats, HeartbeatState
from kraft.controller.operations.written import Written
from kraft.controller.state import ControllerState
from kraft.ids import ZERO_UUID, OffsetAndEpoch, ReplicaKey
from kraft.image.entries import BrokerRegistration
from kraft.image.metadata_image import MetadataImage
from kraft.log.image import EpochAt, LogImage, Snapshot
from kraft.node.metrics.gauges import GAUGES, current_state
from kraft.node.metrics.image_counts import ImageCounts
from kraft.node.metrics.reading import Reading, Tally
from kraft.raft.configuration import Configuration
from kraft.raft.controls import ControlHistory, VotersAt
from kraft.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    ReplicaProgress,
    Resigned,
    Unattached,
)
from kraft.raft.state import RaftState
from kraft.raft.voters import Voter, VoterSet

NOW_MS = 1_000_003
HERE, THERE = "H" * 22, "T" * 22
KEY, OTHER = ReplicaKey(3, HERE), ReplicaKey(7, THERE)
NONE = frozenset()
STATIC = VoterSet.of(Voter(ReplicaKey(one, None)) for one in (3, 7))
LATEST = VoterSet.of(Voter(ReplicaKey(one, HERE)) for one in (3, 5, 7, 11, 13))
# Two voters, and four observers: one of them is another disk of a voter.
FETCHING = [ReplicaKey(one, HERE) for one in (5, 11, 17, 19, 23)] + [OTHER]


def broker(**said):
    return BrokerRegistration(5, "x", **said)


IMAGE = MetadataImage(
    features=Map({"metadata.version": 29}),
    brokers=Map(
        {
            2: broker(fenced=False),
            5: broker(fenced=True, in_controlled_shutdown=True),
            7: broker(fenced=False, in_controlled_shutdown=True),
        }
    ),
)


def controller(claim_epoch, write_end, committed_end, stable_end, snapshot_ms, image):
    """Return a controller that shows `image`; what it has written since is another."""
    written = Memory(Written(MetadataImage(features=Map({"metadata.version": 1})), end=write_end))
    timeline = Map({stable_end: Memory(Written(image, end=stable_end)), write_end: written})
    configuration = ControllerConfiguration(Defaults(3), ())
    return ControllerState(
        configuration, claim_epoch, committed_end, stable_end, written, timeline, snapshot_ms
    )


LEADER = Reading(
    NOW_MS,
    RaftState(
        Configuration("cluster", 3, HERE, (), STATIC),
        Leader(31, 3, 0, 0, Map({key: ReplicaProgress(key) for key in FETCHING})),
        LogImage(
            101, 2, 151, (EpochAt(11, 101), EpochAt(17, 109)),
            (Snapshot(OffsetAndEpoch(97, 2), b"x" * 41),
             Snapshot(OffsetAndEpoch(103, 11), b"x" * 43)),
        ),
        ControlHistory(STATIC, (VotersAt(107, STATIC), VotersAt(137, LATEST))),
        high_watermark=137,
    ),
    replace(
        controller(31, 149, 131, 127, NOW_MS - 47, IMAGE),
        heartbeats=Heartbeats(
            9000,
            Map({
                2: HeartbeatState(NOW_MS - 53),
                5: HeartbeatState(),
                7: HeartbeatState(NOW_MS - 59),
            }),
        ),
    ),
    61,
    ImageCounts(211, 223, 227, 229, 233, 239, 241),
    Tally(0.67, NOW_MS - 71, 73, 79, 83, 89, {"ONE": 163, "TWO": 167}, 173),
)  # fmt: skip
FOLLOWER = Reading(
    NOW_MS,
    RaftState(
        Configuration("cluster", 3, HERE, (), STATIC),
        Follower(37, 5, (), OTHER, 0),
        LogImage(179, 13, 199),
        ControlHistory(STATIC),
        high_watermark=197,
    ),
    controller(-1, 191, 181, 179, NOW_MS - 97, MetadataImage()),
    None,
    ImageCounts(307, 311, 313, 317, 331, 337, 347),
    Tally(0.11, NOW_MS - 113, 127, 131, 137, 139, {"ONE": 149}, 151),
)

STATES = (
    "leader", "candidate", "prospective", "prospective-voted", "unattached", "unattached-voted",
    "follower", "observer",
)  # fmt: skip


def is_in(state):
    """Return what current-state shows in a state."""
    return {(one,): int(one == state) for one in STATES}


EXPECTED = {
    "KafkaController ActiveControllerCount": (1, 0),
    "KafkaController ActiveBrokerCount": (239, 337),
    "KafkaController FencedBrokerCount": (233, 331),
    "KafkaController ControlledShutdownBrokerCount": (241, 347),
    "KafkaController BrokerRegistrationState": ({("2",): 30, ("5",): 10, ("7",): 20}, {}),
    "KafkaController TimeSinceLastHeartbeatReceivedMs": ({("2",): 53, ("7",): 59}, {}),
    "KafkaController GlobalTopicCount": (211, 307),
    "KafkaController GlobalPartitionCount": (223, 311),
    "KafkaController OfflinePartitionsCount": (227, 313),
    "KafkaController PreferredReplicaImbalanceCount": (229, 317),
    "KafkaController LastAppliedRecordOffset": (148, 190),
    "KafkaController LastAppliedRecordTimestamp": (NOW_MS - 71, NOW_MS - 113),
    "KafkaController LastAppliedRecordLagMs": (71, 113),
    "KafkaController LastCommittedRecordOffset": (130, 180),
    # A leader has replayed more than is committed, a follower less.
    "KafkaController MetadataLag": (0, 197 - 191),
    "KafkaController MetadataSnapshotOffsetLag": (127 - 103, 179),
    "KafkaController NewActiveControllersCount": (73, 127),
    "KafkaController EventQueueOperationsStartedCount": (79, 131),
    "KafkaController EventQueueOperationsTimedOutCount": (83, 137),
    "KafkaController IgnoredStaticVoters": (1, 0),
    "raft-metrics current-state": (is_in("leader"), is_in("follower")),
    "raft-metrics current-leader": (3, 5),
    "raft-metrics current-epoch": (31, 37),
    "raft-metrics current-vote": (3, 7),
    "raft-metrics current-vote-directory-id": ({(HERE,): 1}, {(THERE,): 1}),
    "raft-metrics high-watermark": (137, 197),
    "raft-metrics log-end-offset": (151, 199),
    "raft-metrics log-end-epoch": (17, 13),
    "raft-metrics number-of-voters": (5, 2),
    "raft-metrics number-of-observers": (4, {}),
    "raft-metrics uncommitted-voter-change": (1, {}),
    "raft-metrics poll-idle-ratio-avg": (0.67, 0.11),
    "raft-channel-metrics connection-count": (173, 151),
    "socket-server-metrics connection-count": ({("ONE",): 163, ("TWO",): 167}, {("ONE",): 149}),
    "MetadataLoader CurrentControllerId": (61, -1),
    "MetadataLoader CurrentMetadataVersion": (29, {}),
    "MetadataLoader HandleLoadSnapshotCount": (89, 139),
    "SnapshotEmitter LatestSnapshotGeneratedAgeMs": (47, 97),
    "SnapshotEmitter LatestSnapshotGeneratedBytes": (43, 0),
    "Log LogStartOffset": (101, 179),
    "Log LogEndOffset": (151, 199),
}


def shown(reading):
    """Return the number of each gauge; of one with labels, or without a number, a dict."""
    found = {}
    for gauge in GAUGES:
        samples = dict(gauge.samples(reading))
        found[f"{gauge.metric.type} {gauge.metric.name}"] = samples.get((), samples)
    return found


@pytest.mark.parametrize(("index", "reading"), [(0, LEADER), (1, FOLLOWER)])
def test_every_gauge_reads_what_its_name_says(index, reading):
    assert shown(reading) == {name: each[index] for name, each in EXPECTED.items()}


def having(reading, **fields):
    return reading._replace(raft=replace(reading.raft, **fields))


@pytest.mark.parametrize(("offset", "expected"), [(None, 0), (-1, 0), (136, 0), (137, 1), (138, 1)])
def test_a_change_of_the_voters_is_uncommitted_from_the_high_watermark_on(offset, expected):
    voter_sets = () if offset is None else (VotersAt(offset, LATEST),)
    reading = having(LEADER, controls=ControlHistory(STATIC, voter_sets))

    assert shown(reading)["raft-metrics uncommitted-voter-change"] == expected


@pytest.mark.parametrize(
    ("static", "in_log", "expected"),
    [(STATIC, True, 1), (STATIC, False, 0), (VoterSet(), True, 0), (VoterSet(), False, 0)],
)
def test_static_voters_are_ignored_if_there_are_any_and_the_log_names_voters(
    static, in_log, expected
):
    voter_sets = (VotersAt(-1, LATEST),) if in_log else ()
    reading = having(LEADER, controls=ControlHistory(static, voter_sets))

    assert shown(reading)["KafkaController IgnoredStaticVoters"] == expected


@pytest.mark.parametrize(
    ("role", "state", "leader", "vote", "directory"),
    [
        (Unattached(2, None, None, 0), "unattached", -1, -1, ZERO_UUID),
        (Unattached(2, 11, OTHER, 0), "unattached-voted", 11, 7, THERE),
        (Prospective(2, None, (), None, NONE, NONE, 0), "prospective", -1, -1, ZERO_UUID),
        (Prospective(2, 11, (), OTHER, NONE, NONE, 0), "prospective-voted", 11, 7, THERE),
        (Candidate(2, KEY, NONE, NONE, 0), "candidate", -1, 3, HERE),
        (Resigned(2, 3, NONE, (), 0), "unattached", 3, -1, ZERO_UUID),
    ],
)  # fmt: skip
def test_each_other_role_shows_its_state_its_leader_and_its_vote(
    role, state, leader, vote, directory
):
    said = shown(having(FOLLOWER, role=role))

    assert said["raft-metrics current-state"] == is_in(state)
    assert said["raft-metrics current-leader"] == leader
    assert said["raft-metrics current-vote"] == vote
    assert said["raft-metrics current-vote-directory-id"] == {(directory,): 1}


@pytest.mark.parametrize(
    ("configuration", "state"),
    [
        (Configuration("cluster", 3, HERE, (), STATIC), "follower"),
        (Configuration("cluster", 3, THERE, (), STATIC), "observer"),
        (Configuration("cluster", 17, HERE, (), STATIC), "observer"),
        (Configuration("cluster", None, None, (), STATIC), "observer"),
    ],
)
def test_a_follower_is_a_voter_and_an_observer_is_none(configuration, state):
    controls = ControlHistory(STATIC, (VotersAt(2, LATEST),))
    raft = replace(FOLLOWER.raft, configuration=configuration, controls=controls)

    assert current_state(raft) == state


def test_before_anything_is_known_the_gauges_say_so():
    reading = having(FOLLOWER, high_watermark=None)

    said = shown(reading)

    assert said["raft-metrics high-watermark"] == -1
    assert said["KafkaController MetadataLag"] == 0
