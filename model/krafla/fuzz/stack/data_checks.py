"""Checks that acknowledged data is in the log of every later leader.

AcknowledgedDataStaysProp: what was acknowledged with acks=all is in the log of every leader that is
elected in a later leader epoch, unless a replica that was not in sync was elected in between, or
the leader was in sync and a fault has taken its disk or directory since.

Two losses are excused because Kafka, and so the spec, is built that way. A broker that is removed
from the replicas can stay eligible to lead (ElrOutside of specs/broken/reassignment). When it is a
replica again, it is elected with the data it kept, which is none. And a replica that was eligible
when the feature of KIP-966 was disabled stays eligible, which counts again once the feature is
enabled again.

A replica that has lost its copy counts as in sync again once it has begun another copy and has
joined the ISR after that. From then on it is expected to have everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from krafla.fuzz.engine.violation import Violated
from krafla.fuzz.stack.permissions import is_elr_enabled
from kraft.broker.partitions import LEADS, OPENED, ReplicaChange
from kraft.broker.replica_log import ReplicaLog, holds
from kraft.ids import BrokerId
from kraft.sim.stack.replicas import Acknowledged, Lost

if TYPE_CHECKING:
    from krafla.fuzz.stack.committed_log import CommittedLog
    from kraft.controller.events import CommittedBatch
    from kraft.ids import DirectoryId, PartitionId, TopicId
    from kraft.image.entries import Partition
    from kraft.image.metadata_image import MetadataImage
    from kraft.sim.raft.steps import ListenerStep, SimStep

__all__ = ["DATA_PROPERTIES", "DataChecks"]

DATA_PROPERTIES: Final = ("AcknowledgedDataStaysProp",)
Key: TypeAlias = "tuple[TopicId, PartitionId]"
_RECOVERING: Final = 1
_IDENTITY: Final = frozenset(("duplicate-node-id", "cloned-disk"))


class _Partition:
    """What is known of the data of one partition.

    ``acknowledged`` and ``elected`` have logs by leader epoch: the longest that was acknowledged in
    it, and the one with which its leader began. Everything up to ``forgiven`` is excused.
    ``outside`` are brokers that have been eligible ever since they were no replicas, or since
    eligibility was disabled.
    """

    __slots__ = ("acknowledged", "elected", "forgiven", "outside")

    def __init__(self) -> None:
        self.acknowledged: dict[int, ReplicaLog] = {}
        self.elected: dict[int, ReplicaLog] = {}
        self.forgiven = -1
        self.outside: frozenset[BrokerId] = frozenset()

    def forgive(self, epoch: int) -> None:
        """Excuse later leaders from having what was acknowledged up to an epoch."""
        if epoch > self.forgiven:
            self.forgiven = epoch
            self.acknowledged = {at: log for at, log in self.acknowledged.items() if at > epoch}
            self.elected = {at: log for at, log in self.elected.items() if at > epoch}


class DataChecks:
    """What is known of the data of all partitions of a run.

    ``_lost`` are the copies that faults took, by partition and broker: whether another was begun.
    """

    def __init__(self, committed_log: CommittedLog) -> None:
        self._committed_log = committed_log
        self._partitions: dict[Key, _Partition] = {}
        self._lost: dict[tuple[Key, int], bool] = {}
        self._disks: dict[int, DirectoryId | None] = {}
        self._confused: set[int] = set()
        committed_log.observers.append(self._committed)

    # What happens to machines

    def observe(self, step: SimStep) -> None:
        """Note a disk that was replaced, or two processes with one node id."""
        node_id = BrokerId(step.replica.node_id)
        if step.kind == "start":
            directory_id = step.replica.directory_id
            if self._disks.setdefault(node_id, directory_id) != directory_id:
                self._disks[node_id] = directory_id
                for key, partition in self._committed_log.image.partitions.items():
                    if node_id in partition.replicas:
                        self._lost[key, node_id] = False
        elif step.fault in _IDENTITY:
            self._confused.add(node_id)

    def _committed(
        self, _batch: CommittedBatch, before: MetadataImage, after: MetadataImage
    ) -> None:
        if is_elr_enabled(before) and not is_elr_enabled(after):
            self._give_up_eligibility(after)
        if after.partitions is before.partitions:
            return
        for key, partition in after.partitions.items():
            old = before.partitions.get(key)
            if old is not None and old is not partition:
                self._changed(key, old, partition)

    def _give_up_eligibility(self, image: MetadataImage) -> None:
        """Expect nothing of brokers that stay eligible while eligibility is disabled."""
        for key, partition in image.partitions.items():
            if partition.eligible_leader_replicas:
                known = self._of(key)
                known.outside |= frozenset(partition.eligible_leader_replicas)

    def _changed(self, key: Key, old: Partition, new: Partition) -> None:
        for broker_id in new.isr:
            if broker_id not in old.isr and self._lost.get((key, broker_id)):
                del self._lost[key, broker_id]
        in_sync = {*old.isr, *old.eligible_leader_replicas}
        forced = bool(new.isr) and in_sync.isdisjoint(new.isr)
        unclean = new.leader_epoch != old.leader_epoch and (
            new.leader_recovery_state == _RECOVERING
            or (new.leader >= 0 and new.leader not in in_sync)
        )
        known = self._of(key)
        was_outside = new.leader in known.outside and new.leader not in old.isr
        if forced or unclean or was_outside:
            known.forgive(old.leader_epoch)
        eligible = frozenset(new.eligible_leader_replicas)
        known.outside = (known.outside & eligible) | (eligible - frozenset(new.replicas))

    def _of(self, key: Key) -> _Partition:
        found = self._partitions.get(key)
        if found is None:
            found = self._partitions[key] = _Partition()
        return found

    # What brokers do

    def check(self, step: SimStep, listener: ListenerStep) -> None:
        """Check a step of a broker. Raises Violated."""
        node_id = BrokerId(step.replica.node_id)
        for effect in listener.effects:
            key = effect.key
            if isinstance(effect, Lost):
                self._lost[key, node_id] = False
            elif isinstance(effect, Acknowledged):
                self._acknowledged(effect)
            elif isinstance(effect, ReplicaChange):
                if effect.what == OPENED and (key, node_id) in self._lost:
                    self._lost[key, node_id] = True
                elif effect.what == LEADS:
                    self._elected(node_id, effect)

    def _acknowledged(self, told: Acknowledged) -> None:
        """Note an acknowledgement to a producer, perhaps by a leader that was deposed."""
        if self._is_confused(told.key):
            return
        partition = self._of(told.key)
        epoch = told.leader_epoch
        if epoch <= partition.forgiven:
            return
        known = partition.acknowledged.get(epoch)
        if known is None or known.end_offset < told.log.end_offset:
            partition.acknowledged[epoch] = told.log
        for later in sorted(partition.elected):
            if later > epoch:
                _compare(told.key, told.log, epoch, partition.elected[later], later)

    def _elected(self, node_id: int, leads: ReplicaChange) -> None:
        partition = self._of(leads.key)
        if self._is_confused(leads.key) or leads.leader_epoch <= partition.forgiven:
            return
        if (leads.key, node_id) in self._lost:
            del self._lost[leads.key, node_id]
            partition.forgive(leads.leader_epoch - 1)
        partition.elected[leads.leader_epoch] = leads.log
        for epoch in sorted(partition.acknowledged):
            if epoch < leads.leader_epoch:
                told = partition.acknowledged[epoch]
                _compare(leads.key, told, epoch, leads.log, leads.leader_epoch)

    def _is_confused(self, key: Key) -> bool:
        """Return whether two processes acted as one of its replicas: then nothing is promised."""
        if not self._confused:
            return False
        partition = self._committed_log.image.partitions.get(key)
        return partition is None or not self._confused.isdisjoint(partition.replicas)


def _compare(key: Key, told: ReplicaLog, epoch: int, log: ReplicaLog, later: int) -> None:
    if not holds(log, told):
        topic_id, index = key
        raise Violated(
            "AcknowledgedDataStaysProp",
            f"all before offset {told.end_offset} of partition {index} of {topic_id} was "
            f"acknowledged in leader epoch {epoch}; the leader of epoch {later} begins with "
            f"{log.end_offset} records, as {log.runs} (acknowledged: {told.runs})",
        )
