"""The gauges of a node: each is read from its state when somebody asks.

Kafka: QuorumControllerMetrics, ControllerMetadataMetrics, KafkaRaftMetrics, MetadataLoaderMetrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.controller.state import is_active
from kraft.ids import ZERO_UUID
from kraft.node.metrics.metric import Kind, Metric
from kraft.raft.roles import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Unattached,
    leader_of,
    voted_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from kraft.ids import ReplicaKey
    from kraft.image.entries import BrokerRegistration
    from kraft.node.metrics.reading import Reading
    from kraft.raft.state import RaftState

    _Samples: TypeAlias = Iterable[tuple[tuple[str, ...], float]]

_UNKNOWN: Final = -1
"""What Kafka's gauges say of an id or an offset that is not known."""

_STATES: Final = (
    "leader",
    "candidate",
    "prospective",
    "prospective-voted",
    "unattached",
    "unattached-voted",
    "follower",
    "observer",
)
"""The values of current-state. Kafka: KafkaRaftMetrics.initialize."""

_FENCED, _CONTROLLED_SHUTDOWN, _ACTIVE = 10, 20, 30
"""Kafka: BrokerRegistrationState."""


class Gauge(NamedTuple):
    """A metric and what it reads: a number, None if there is none, or one for each label."""

    metric: Metric
    read: Callable[[Reading], Any]

    def samples(self, reading: Reading) -> _Samples:
        """Return the values of the labels, and the number of each."""
        value = self.read(reading)
        if value is None:
            return ()
        return value if self.metric.labels else (((), value),)


def _gauge(domain: str, type_: str) -> Callable[..., Gauge]:
    def gauge(
        name: str, meaning: str, read: Callable[[Reading], Any], labels: tuple[str, ...] = ()
    ) -> Gauge:
        return Gauge(Metric(Kind.GAUGE, domain, type_, name, meaning, labels), read)

    return gauge


def current_state(raft: RaftState) -> str:
    """Return the state of a replica in Kafka's words. Kafka: KafkaRaftMetrics.initialize."""
    match raft.role:
        case Leader():
            return "leader"
        case Candidate():
            return "candidate"
        case Prospective(voted=voted):
            return "prospective" if voted is None else "prospective-voted"
        case Unattached(voted=voted) if voted is not None:
            return "unattached-voted"
        case Follower():
            key = raft.configuration.key
            is_voter = key is not None and raft.controls.voters.is_voter(key)
            return "follower" if is_voter else "observer"
    return "unattached"


def _vote(raft: RaftState) -> ReplicaKey | None:
    return raft.configuration.key if isinstance(raft.role, Leader) else voted_of(raft.role)


def _vote_id(reading: Reading) -> int:
    vote = _vote(reading.raft)
    return _UNKNOWN if vote is None else vote.node_id


def _vote_directory(reading: Reading) -> _Samples:
    vote = _vote(reading.raft)
    directory = None if vote is None else vote.directory_id
    return [((directory or ZERO_UUID,), 1)]


def _observers(reading: Reading) -> int | None:
    """Return how many replicas fetch from a leader and are no voters."""
    role, voters = reading.raft.role, reading.raft.controls.voters
    if not isinstance(role, Leader):
        return None
    keys = {voter.key for voter in voters.voters}
    return sum(key not in keys for key in role.progress)


def _uncommitted_voters(reading: Reading) -> int | None:
    raft = reading.raft
    if not isinstance(raft.role, Leader):
        return None
    offset = raft.controls.last_voters_offset
    return int(offset is not None and offset >= _high_watermark(reading))


def _known(number: int | None) -> int:
    return _UNKNOWN if number is None else number


def _ignores_static_voters(reading: Reading) -> int:
    controls = reading.raft.controls
    return int(len(controls.static_voters) > 0 and len(controls.voter_sets) > 0)


def _high_watermark(reading: Reading) -> int:
    return _known(reading.raft.high_watermark)


def _metadata_lag(reading: Reading) -> int:
    return max(0, _high_watermark(reading) - reading.controller.write_end)


def _snapshot_lag(reading: Reading) -> int:
    snapshot = reading.raft.log.latest_snapshot
    end = 0 if snapshot is None else snapshot.snapshot_id.end_offset
    return max(0, reading.controller.stable_end - end)


def _registration_state(registration: BrokerRegistration) -> int:
    if registration.fenced:
        return _FENCED
    return _CONTROLLED_SHUTDOWN if registration.in_controlled_shutdown else _ACTIVE


def _registration_states(reading: Reading) -> _Samples:
    return [
        ((str(broker_id),), _registration_state(registration))
        for broker_id, registration in sorted(reading.image.brokers.items())
    ]


def _silent_ms(reading: Reading) -> _Samples:
    heartbeats = reading.controller.heartbeats
    return [
        ((str(broker_id),), reading.now_ms - state.contact_time_ms)
        for broker_id, state in sorted(() if heartbeats is None else heartbeats.brokers.items())
        if state.contact_time_ms is not None
    ]


_controller = _gauge("kafka.controller", "KafkaController")
_raft = _gauge("kafka.server", "raft-metrics")
_loader = _gauge("kafka.server", "MetadataLoader")
_emitter = _gauge("kafka.server", "SnapshotEmitter")
_log = _gauge("kafka.log", "Log")

GAUGES: Final = (
    _controller(
        "ActiveControllerCount",
        "1 on the active controller, 0 on a standby.",
        lambda reading: int(is_active(reading.controller)),
    ),
    _controller(
        "ActiveBrokerCount",
        "The registered brokers that are not fenced.",
        lambda reading: reading.counts.active_brokers,
    ),
    _controller(
        "FencedBrokerCount",
        "The registered brokers that are fenced.",
        lambda reading: reading.counts.fenced_brokers,
    ),
    _controller(
        "ControlledShutdownBrokerCount",
        "The registered brokers in controlled shutdown.",
        lambda reading: reading.counts.brokers_in_controlled_shutdown,
    ),
    _controller(
        "BrokerRegistrationState",
        "The state of each registered broker: 10 fenced, 20 in controlled shutdown, 30 active.",
        _registration_states,
        ("broker",),
    ),
    _controller(
        "TimeSinceLastHeartbeatReceivedMs",
        "How long the active controller has not heard of each broker with a session.",
        _silent_ms,
        ("broker",),
    ),
    _controller(
        "GlobalTopicCount", "The topics.", lambda reading: reading.counts.topics
    ),
    _controller(
        "GlobalPartitionCount", "The partitions.", lambda reading: reading.counts.partitions
    ),
    _controller(
        "OfflinePartitionsCount",
        "The partitions without a leader.",
        lambda reading: reading.counts.offline_partitions,
    ),
    _controller(
        "PreferredReplicaImbalanceCount",
        "The partitions whose leader is not their first replica; offline ones count.",
        lambda reading: reading.counts.imbalanced_partitions,
    ),
    _controller(
        "LastAppliedRecordOffset",
        "The offset of the last record that is in memory, committed or not.",
        lambda reading: reading.controller.write_end - 1,
    ),
    _controller(
        "LastAppliedRecordTimestamp",
        "The time of that record, in milliseconds since 1970; -1 before the first.",
        lambda reading: reading.tally.last_applied_ms,
    ),
    _controller(
        "LastAppliedRecordLagMs",
        "The time since then.",
        lambda reading: reading.now_ms - reading.tally.last_applied_ms,
    ),
    _controller(
        "LastCommittedRecordOffset",
        "The offset of the last record that the controller knows to be committed.",
        lambda reading: reading.controller.committed_end - 1,
    ),
    _controller(
        "MetadataLag",
        "The committed records that this controller has not replayed (KIP-631).",
        _metadata_lag,
    ),
    _controller(
        "MetadataSnapshotOffsetLag",
        "The stable records that no snapshot has (KIP-631).",
        _snapshot_lag,
    ),
    _controller(
        "NewActiveControllersCount",
        "How often this node heard of a new leader since it started.",
        lambda reading: reading.tally.leaders,
    ),
    _controller(
        "EventQueueOperationsStartedCount",
        "The events that the controller has handled since it started.",
        lambda reading: reading.tally.events_started,
    ),
    _controller(
        "EventQueueOperationsTimedOutCount",
        "The requests that were answered with REQUEST_TIMED_OUT since the start.",
        lambda reading: reading.tally.events_timed_out,
    ),
    _controller(
        "IgnoredStaticVoters",
        "1 if controller.quorum.voters is set and the log names the voters instead, else 0.",
        _ignores_static_voters,
    ),
    _raft(
        "current-state",
        "1 for the state that the replica is in, 0 for the others.",
        lambda reading: [
            ((state,), int(state == current_state(reading.raft))) for state in _STATES
        ],
        ("state",),
    ),
    _raft(
        "current-leader",
        "The id of the leader; -1 if it is not known.",
        lambda reading: _known(leader_of(reading.raft.role)),
    ),
    _raft("current-epoch", "The epoch.", lambda reading: reading.raft.role.epoch),
    _raft("current-vote", "The id that the replica voted for; -1 if it has not.", _vote_id),
    _raft(
        "current-vote-directory-id",
        "1, with the directory id that the replica voted for.",
        _vote_directory,
        ("directory_id",),
    ),
    _raft(
        "high-watermark",
        "The end of what this replica knows to be committed; -1 if not known.",
        _high_watermark,
    ),
    _raft("log-end-offset", "The end of the log.", lambda reading: reading.raft.log.end_offset),
    _raft(
        "log-end-epoch",
        "The epoch of the last record.",
        lambda reading: reading.raft.log.last_epoch,
    ),
    _raft(
        "number-of-voters",
        "The voters by the log of this replica.",
        lambda reading: len(reading.raft.controls.voters),
    ),
    _raft(
        "number-of-observers",
        "The replicas that fetch from this leader without being voters; only on a leader.",
        _observers,
    ),
    _raft(
        "uncommitted-voter-change",
        "1 if a change of the voters is not committed yet, else 0; only on a leader.",
        _uncommitted_voters,
    ),
    _raft(
        "poll-idle-ratio-avg",
        "The part of the time in which nothing was to do, since somebody read this last.",
        lambda reading: reading.tally.idle_ratio,
    ),
    _gauge("kafka.server", "raft-channel-metrics")(
        "connection-count",
        "The connections to other controllers for Raft.",
        lambda reading: reading.tally.raft_connections,
    ),
    _gauge("kafka.server", "socket-server-metrics")(
        "connection-count",
        "The inbound connections of each listener.",
        lambda reading: [((name,), n) for name, n in reading.tally.connections.items()],
        ("listener",),
    ),
    _loader(
        "CurrentControllerId",
        "The id of the active controller; -1 if it is not known.",
        lambda reading: _known(reading.leader_id),
    ),
    _loader(
        "CurrentMetadataVersion",
        "The feature level of metadata.version; absent before the first.",
        lambda reading: reading.image.metadata_version,
    ),
    _loader(
        "HandleLoadSnapshotCount",
        "The snapshots that the controller has loaded since it started.",
        lambda reading: reading.tally.snapshots_loaded,
    ),
    _emitter(
        "LatestSnapshotGeneratedAgeMs",
        "The time since the newest snapshot was made or loaded; without one, since the start.",
        lambda reading: reading.now_ms - reading.controller.snapshot_ms,
    ),
    _emitter(
        "LatestSnapshotGeneratedBytes",
        "The size of the newest snapshot, made here or fetched; 0 without one.",
        lambda reading: 0 if (one := reading.raft.log.latest_snapshot) is None else len(one.data),
    ),
    _log("LogStartOffset", "The start of the log.", lambda reading: reading.raft.log.start_offset),
    _log("LogEndOffset", "The end of the log.", lambda reading: reading.raft.log.end_offset),
)  # fmt: skip
"""All gauges of a node, in the order in which they are shown."""
