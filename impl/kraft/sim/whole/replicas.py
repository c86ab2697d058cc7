"""What a broker knows of the partitions that it leads or follows, as far as leadership goes.

A leader knows by their fetches who keeps up, and asks the controller for another ISR: one request
at a time, and no member that it knows by another epoch than that of its last fetch (KIP-903).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kraft.broker import partition_leader
from kraft.errors import ErrorCode
from kraft.ids import NO_BROKER_EPOCH
from kraft.image.entries import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kraft.broker.partition_leader import PartitionLeader
    from kraft.ids import BrokerEpoch, BrokerId, DirectoryId, PartitionId, TopicId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.rpc.alter_partition import AlterPartitionData, AlterPartitionResponse

    Key = tuple[TopicId, PartitionId]


@dataclass(frozen=True, slots=True)
class ReplicaFetch:
    """A follower has all that its leader has, of these partitions in these leader epochs.

    Stands for Fetch (RPC 1) of a replica; what is fetched is not said. Kafka: FetchRequest.
    """

    replica_id: BrokerId
    replica_epoch: BrokerEpoch
    partitions: tuple[tuple[TopicId, PartitionId, int], ...]


class Replicas:
    """The partitions of one broker: `leading` are its views of those that it leads."""

    __slots__ = ("_asked", "_heard", "_lag_ms", "broker_id", "leading")

    def __init__(self, broker_id: BrokerId, lag_ms: int) -> None:
        self.broker_id = broker_id
        self.leading: dict[Key, PartitionLeader] = {}
        self._lag_ms = lag_ms
        self._heard: dict[Key, dict[BrokerId, tuple[int, BrokerEpoch]]] = {}
        self._asked: tuple[AlterPartitionData, ...] = ()

    def learn(self, before: MetadataImage, image: MetadataImage, now_ms: int) -> None:
        """Make leaders and followers of what the metadata says now.

        Kafka: ReplicaManager.applyDelta.
        """
        for key in [one for one in self.leading if one not in image.partitions]:
            del self.leading[key]
            self._heard.pop(key, None)
        for key, partition in image.partitions.items():
            if before.partitions.get(key) is not partition:
                self._learn_one(key, partition, now_ms)

    def _learn_one(self, key: Key, partition: Partition, now_ms: int) -> None:
        view = self.leading.get(key)
        if not partition_leader.is_news(self.broker_id, view, partition):
            return
        learned = partition_leader.learn_partition(self.broker_id, partition)
        if learned is None:
            self.leading.pop(key, None)
            self._heard.pop(key, None)
            return
        self.leading[key] = learned
        if view is None or view.leader_epoch != learned.leader_epoch:
            # Who was in sync has the time of a lag to be heard of.
            self._heard[key] = dict.fromkeys(learned.isr, (now_ms, NO_BROKER_EPOCH))

    def fetches(
        self, image: MetadataImage, epoch: BrokerEpoch
    ) -> Iterator[tuple[BrokerId, ReplicaFetch]]:
        """Yield whom to fetch from, and what."""
        wanted: dict[int, list[tuple[TopicId, PartitionId, int]]] = {}
        for (topic_id, index), partition in image.partitions.items():
            leader = partition.leader
            if leader >= 0 and leader != self.broker_id and self.broker_id in partition.replicas:
                wanted.setdefault(leader, []).append((topic_id, index, partition.leader_epoch))
        for leader in sorted(wanted):
            yield leader, ReplicaFetch(self.broker_id, epoch, tuple(sorted(wanted[leader])))  # type: ignore[misc]

    def on_fetch(self, fetch: ReplicaFetch, now_ms: int) -> None:
        """Note that a follower keeps up."""
        for topic_id, index, leader_epoch in fetch.partitions:
            view = self.leading.get((topic_id, index))
            if view is not None and view.leader_epoch == leader_epoch:
                heard = self._heard.setdefault((topic_id, index), {})
                heard[fetch.replica_id] = now_ms, fetch.replica_epoch

    def wanted(self, image: MetadataImage, now_ms: int) -> tuple[AlterPartitionData, ...]:
        """Return which other ISRs to ask for now; until they are answered nothing else is asked.

        Kafka: Partition.maybeShrinkIsr, Partition.maybeExpandIsr.
        """
        asked = []
        for key in sorted(self.leading):
            view = self.leading[key]
            isr = self._wanted_isr(key, view, image, now_ms)
            if isr is None or not partition_leader.may_ask_for(self.broker_id, view, isr):
                continue
            heard = self._heard.get(key, {})
            epochs = {one: heard.get(one, (0, -1))[1] for one in isr}
            self.leading[key], data = partition_leader.send_alter_partition(*key, view, isr, epochs)  # type: ignore[arg-type]
            asked.append(data)
        self._asked = tuple(asked)
        return self._asked

    def _wanted_isr(
        self, key: Key, view: PartitionLeader, image: MetadataImage, now_ms: int
    ) -> tuple[BrokerId, ...] | None:
        heard = self._heard.get(key, {})

        def keeps_up(one: BrokerId) -> bool:
            at = heard.get(one)
            return one == self.broker_id or (at is not None and now_ms - at[0] <= self._lag_ms)

        kept = tuple(one for one in view.isr if keeps_up(one))
        if kept != view.isr:
            return kept
        for one in view.replicas:
            if one in view.isr or not keeps_up(one):
                continue
            registration = image.brokers.get(one)
            if registration is None or registration.fenced or registration.in_controlled_shutdown:
                continue
            if heard[one][1] not in {-1, registration.epoch}:
                continue
            return (*view.isr, one)
        return None

    def on_altered(self, response: AlterPartitionResponse) -> None:
        """Take what the controller says of the ISRs that were asked for."""
        answers = {(one.topic_id, one.partition_index): one for one in response.partitions}
        for data in self._asked:
            key = data.topic_id, data.partition_index
            view = self.leading.get(key)
            if view is None or not partition_leader.is_awaited(view, data):
                continue
            self.leading[key] = partition_leader.on_alter_partition_response(
                view, response.error_code, answers.get(key)
            )
            if response.error_code is not ErrorCode.NONE:
                self._give_up(key)
        self._asked = ()

    def on_failure(self) -> None:
        """Give up what was asked: nobody answered, or nobody who could."""
        for data in self._asked:
            self._give_up((data.topic_id, data.partition_index))
        self._asked = ()

    def _give_up(self, key: Key) -> None:
        """Ask again later. Kafka retries the same request; what is in it is decided anew here."""
        view = self.leading.get(key)
        if view is not None and view.pending:
            self.leading[key] = replace(view, pending=())

    def unassigned(
        self, image: MetadataImage, directories: Sequence[DirectoryId]
    ) -> tuple[tuple[DirectoryId, TopicId, PartitionId], ...]:
        """Return the replicas whose directory the metadata does not know yet, and where they are.

        Kafka: AssignmentsManager. KIP-858.
        """
        if not directories:
            return ()
        found = []
        for key in sorted(image.partitions):
            partition = image.partitions[key]
            if self.broker_id in partition.replicas:
                at = partition.replicas.index(self.broker_id)
                if partition.directories[at] == UNASSIGNED:
                    topic_id, index = key
                    found.append((directories[index % len(directories)], topic_id, index))
        return tuple(found)
