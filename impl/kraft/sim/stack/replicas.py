"""The replicas of one broker process, on its disk.

`kraft.broker` has the rules. This module applies them to the disk, to the requests in flight, and
to what observers are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from kraft.broker import partition_leader, partitions, produce_purgatory, replica_log, replication
from kraft.broker.partitions import DROPPED, LEADS, BrokerPartitions
from kraft.broker.replication import Leading
from kraft.errors import ErrorCode
from kraft.rpc.replica_fetch import FetchedPartition, ReplicaFetchRequest, ReplicaFetchResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kraft.broker.partition_leader import PartitionLeader
    from kraft.broker.partitions import PartitionKey
    from kraft.broker.produce_purgatory import DelayedProduce
    from kraft.broker.replica_log import ReplicaLog
    from kraft.broker.replication import FollowerState, Replica
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionResponse
    from kraft.rpc.produce import ProduceRequest
    from kraft.sim.stack.broker_disk import BrokerDisk
    from kraft.sim.stack.configuration import StackKnobs

_RECORDS_MAXIMUM: Final = 20
_RETRIED: Final = frozenset((ErrorCode.NOT_CONTROLLER, ErrorCode.UNKNOWN_SERVER_ERROR))
_TOPIC: Final = 2
_BROKER: Final = 4
_MIN_ISR: Final = "min.insync.replicas"


class Acknowledged(NamedTuple):
    """A producer is told by the leader of an epoch that a log is committed."""

    key: PartitionKey
    leader_epoch: int
    log: ReplicaLog


class Lost(NamedTuple):
    """A replica is lost with its directory."""

    key: PartitionKey


class FetchUnderWay(NamedTuple):
    """An unanswered fetch, and when it was sent."""

    correlation_id: int
    sent_ms: int
    request: ReplicaFetchRequest


class Replicas:
    """The replicas of a broker process. It has none before it has `begun`.

    `told` holds the news for observers; `leads` are the partitions that it leads.
    """

    __slots__ = (
        "_delayed", "_disk", "_fetching", "_knobs", "_learned", "_unanswered", "leads", "own",
        "told",
    )  # fmt: skip

    def __init__(self, broker_id: BrokerId, knobs: StackKnobs, disk: BrokerDisk) -> None:
        self.own = BrokerPartitions(broker_id)
        self.leads: tuple[PartitionKey, ...] = ()
        self.told: list[Any] = []
        self._knobs = knobs
        self._disk = disk
        self._learned: MetadataImage | None = None
        self._fetching: dict[int, FetchUnderWay] = {}
        self._unanswered: dict[PartitionKey, AlterPartitionData] = {}
        self._delayed: list[DelayedProduce] = []

    @property
    def broker_id(self) -> BrokerId:
        """The id of the broker."""
        return self.own.broker_id

    @property
    def leading(self) -> dict[PartitionKey, PartitionLeader]:
        """Return the views of the partitions that it leads."""
        roles = ((key, self.own.replicas[key].role) for key in self.leads)
        return {key: role.view for key, role in roles if isinstance(role, Leading)}

    @property
    def asks(self) -> frozenset[PartitionKey]:
        """Return the partitions with an unanswered AlterPartition."""
        return frozenset(self._unanswered)

    @property
    def begun(self) -> bool:
        """Whether the disks were read, which is after the broker has replayed its registration."""
        return self._learned is not None

    # Metadata

    def begin(self, image: MetadataImage, now_ms: int) -> None:
        """Read the disks, remove stray replicas, and lead and follow from now on.

        Kafka: BrokerMetadataPublisher.initializeManagers.
        """
        self.own, stray = partitions.load(self.broker_id, image, self._disk.logs)
        for directory, key in stray:
            del self._disk.logs[directory][key]
        self._learn(None, image, now_ms)

    def learn(self, image: MetadataImage, now_ms: int) -> None:
        """Lead, follow, open and drop replicas as the metadata says."""
        if self._learned is not None:
            self._learn(self._learned, image, now_ms)

    def _learn(self, before: MetadataImage | None, image: MetadataImage, now_ms: int) -> None:
        had = self.own.replicas
        self._learned = image
        self.own, changes = partitions.learn(
            self.own, before, image, self._disk.healthy, self._disk.failed, now_ms
        )
        if self.own.replicas is had:
            return
        for change in changes:
            if change.what == DROPPED:
                self._disk.logs[had[change.key].directory].pop(change.key, None)
            elif change.what != LEADS:
                self._keep(change.key, self.own.replicas[change.key])
        self.told += changes
        self._count_leads()
        for key in self.leads:
            self._advance(key, now_ms)

    def lose_directory(self, failed: DirectoryId) -> None:
        """Lose the replicas in a failed directory."""
        self.told += [Lost(key) for key in sorted(self._disk.logs[failed])]
        self._disk.fail(failed)
        self.own = partitions.lose_directory(self.own, failed)
        self._count_leads()

    def unassigned(self) -> tuple[Any, ...]:
        """Return the replicas whose directory differs from the metadata, with their actual one."""
        return () if self._learned is None else partitions.unassigned(self.own, self._learned)

    def _count_leads(self) -> None:
        replicas = self.own.replicas
        self.leads = tuple(
            sorted(key for key, one in replicas.items() if isinstance(one.role, Leading))
        )

    def _keep(self, key: PartitionKey, replica: Replica) -> None:
        """Write the log of a replica to its disk."""
        self._disk.logs[replica.directory][key] = replica.log

    def _set(self, key: PartitionKey, replica: Replica) -> None:
        self.own = replace(self.own, replicas=self.own.replicas.set(key, replica))

    # Followers and leaders

    def fetches(
        self, epoch: BrokerEpoch, now_ms: int, next_id: Callable[[], int]
    ) -> Iterator[tuple[int, FetchUnderWay]]:
        """Yield the leaders to fetch from, and the fetches.

        A leader gets no new fetch before it has answered the last one, or that has timed out.
        """
        for leader, asked in partitions.fetches(self.own).items():
            under_way = self._fetching.get(leader)
            if under_way is None or now_ms - under_way.sent_ms > self._knobs.replica_lag_ms:
                request = ReplicaFetchRequest(self.broker_id, epoch, asked)
                fetch = self._fetching[leader] = FetchUnderWay(next_id(), now_ms, request)
                yield leader, fetch

    def on_fetch(self, request: ReplicaFetchRequest, now_ms: int) -> ReplicaFetchResponse:
        """Handle a follower's fetch, and return the response."""
        replicas = self.own.replicas.mutate()
        answers = []
        heard = []
        for ask in request.partitions:
            key = ask.topic_id, ask.partition_index
            replica = replicas.get(key)
            if replica is None:
                code = ErrorCode.NOT_LEADER_OR_FOLLOWER
                if key in self.own.offline:
                    code = ErrorCode.KAFKA_STORAGE_ERROR
                answers.append(FetchedPartition(*key, code))
                continue
            replicas[key], answer = replication.on_fetch(
                replica, ask, request.replica_id, request.replica_epoch, now_ms, _RECORDS_MAXIMUM
            )
            answers.append(answer)
            if answer.error_code is ErrorCode.NONE:
                heard.append(key)
        self.own = replace(self.own, replicas=replicas.finish())
        for key in heard:
            self._advance(key, now_ms)
        return ReplicaFetchResponse(tuple(answers))

    def on_fetched(self, leader: int, correlation_id: int, response: ReplicaFetchResponse) -> None:
        """Handle a leader's response, unless its fetch has timed out."""
        under_way = self._fetching.get(leader)
        if under_way is None or under_way.correlation_id != correlation_id:
            return
        del self._fetching[leader]
        replicas = self.own.replicas.mutate()
        for asked, answer in zip(under_way.request.partitions, response.partitions, strict=True):
            key = asked.topic_id, asked.partition_index
            replica = replicas.get(key)
            if replica is None:
                continue
            after = replication.on_fetched(replica, asked, answer)
            replicas[key] = after
            if after.log is not replica.log:
                self._keep(key, after)
        self.own = replace(self.own, replicas=replicas.finish())

    def _advance(self, key: PartitionKey, now_ms: int) -> None:
        replica = self.own.replicas[key]
        if replica.high_watermark == replica.log.end_offset:
            return

        def joins_soon(one: BrokerId, known: FollowerState) -> bool:
            lag_ms = self._knobs.replica_lag_ms
            return replication.is_caught_up(replica, known, now_ms, lag_ms) and self._is_eligible(
                one, known
            )

        after = replication.advance_high_watermark(
            self.broker_id, replica, self._min_isr(key), joins_soon
        )
        if after is not replica:
            self._set(key, after)

    def _is_eligible(self, one: BrokerId, known: FollowerState) -> bool:
        assert self._learned is not None, "only leaders ask"
        return replication.is_isr_eligible(self._learned, one, known)

    def _min_isr(self, key: PartitionKey) -> int:
        image = self._learned
        topic = None if image is None else image.topics.get(key[0])
        if image is None or topic is None:
            return self._knobs.min_insync_replicas
        for resource in ((_TOPIC, topic.name), (_BROKER, str(self.broker_id)), (_BROKER, "")):
            configured = image.configurations.get(resource)
            if configured is not None and _MIN_ISR in configured:
                return int(configured[_MIN_ISR])
        return self._knobs.min_insync_replicas

    # Producers

    def produce(self, request: ProduceRequest, token: int, now_ms: int) -> None:
        """Append a producer's records; `answers` yields the response once they are committed."""
        replicas, delayed = produce_purgatory.produce(
            self.own.replicas, request, token, self._min_isr, now_ms
        )
        self.own = replace(self.own, replicas=replicas)
        for key, code in zip(delayed.keys, delayed.codes, strict=True):
            if code is None:
                self._keep(key, replicas[key])
                self._advance(key, now_ms)
        self._delayed.append(delayed)

    def answers(self, now_ms: int) -> Iterator[tuple[int, Any]]:
        """Yield the responses due now, with their tokens; call it after each event."""
        if not self._delayed:
            return
        waiting = []
        for delayed in self._delayed:
            after = produce_purgatory.look_again(delayed, self.own.replicas, self._min_isr)
            self._note_acknowledged(delayed, after)
            if after.is_done or now_ms >= after.deadline_ms:
                yield after.token, after.response
            else:
                waiting.append(after)
        self._delayed = waiting

    def _note_acknowledged(self, before: DelayedProduce, after: DelayedProduce) -> None:
        """Tell observers which appends are committed now, even if the response waits for more."""
        for number, (was, code) in enumerate(zip(before.codes, after.codes, strict=True)):
            if was is None and code is ErrorCode.NONE:
                key = after.keys[number]
                replica = self.own.replicas[key]
                assert isinstance(replica.role, Leading), "only leaders acknowledge"
                log = replica_log.truncate(replica.log, after.ends[number])
                self.told.append(Acknowledged(key, replica.role.view.leader_epoch, log))

    # The in-sync replicas

    def wanted(self, epoch: BrokerEpoch, now_ms: int) -> tuple[AlterPartitionData, ...]:
        """Return the ISRs to request now: the unanswered ones again, and new ones.

        Kafka: AlterPartitionManager.maybePropagateIsrChanges.
        """
        for key in self.leads:
            replica = self.own.replicas[key]
            role = replica.role
            assert isinstance(role, Leading), "only leaders ask"
            asked = self._unanswered.get(key)
            if asked is not None and not partition_leader.is_awaited(role.view, asked):
                del self._unanswered[key]
            isr = replication.wanted_isr(
                self.broker_id, replica, now_ms, self._knobs.replica_lag_ms, self._is_eligible
            )
            if isr is None or not partition_leader.may_ask_for(self.broker_id, role.view, isr):
                continue
            epochs = {
                one: role.followers.get(one, replication.NOT_HEARD).broker_epoch for one in isr
            }
            epochs[self.broker_id] = epoch
            view, data = partition_leader.send_alter_partition(*key, role.view, isr, epochs)
            self._set(key, replace(replica, role=replace(role, view=view)))
            self._unanswered[key] = data
        for key in [one for one in self._unanswered if one not in self.leads]:
            del self._unanswered[key]
        return tuple(self._unanswered[key] for key in sorted(self._unanswered))

    def on_altered(self, response: AlterPartitionResponse, now_ms: int) -> None:
        """Handle the controller's answer to requested ISRs.

        After a final refusal the leader waits for newer metadata; other refused requests are sent
        again.

        Kafka: Partition.handleAlterPartitionError.
        """
        if response.error_code is not ErrorCode.NONE:
            return
        for answer in response.partitions:
            key = answer.topic_id, answer.partition_index
            asked, replica = self._unanswered.get(key), self.own.replicas.get(key)
            if asked is None or answer.error_code in _RETRIED:
                continue
            del self._unanswered[key]
            role = None if replica is None else replica.role
            if replica is None or not isinstance(role, Leading):
                continue
            if partition_leader.is_awaited(role.view, asked):
                view = partition_leader.on_alter_partition_response(
                    role.view, response.error_code, answer
                )
                self._set(key, replace(replica, role=replace(role, view=view)))
                self._advance(key, now_ms)
