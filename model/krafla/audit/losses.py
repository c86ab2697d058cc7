"""What partitions lose, or do not gain, by an operation; judged at its end.

Only then does the log show which brokers the operation took out: their records stand before or
after the partition changes that they cause.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.directories import directory_online
from krafla.audit.history_checks import with_place
from krafla.audit.min_insync_replicas import ELR_CLEARED, effective_minimum
from krafla.audit.result import Finding, Invariant, Weight, evidence_of
from kraft.records.lease import (
    UNFENCE,
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
)

if TYPE_CHECKING:
    from krafla.audit.image import Image
    from krafla.audit.partition_state import Loss, PartitionState
    from kraft.records.batch import RecordBatch
    from kraft.records.lease import LeaseRecord

_SHUTDOWN_RECORDED: Final = 7
"""The metadata version 3.3-IV3: before, no record says that a broker is in controlled shutdown."""
LEADER_ELECTED: Final = Invariant(
    "P16",
    "KIP-966; Kafka: PartitionChangeBuilder.electLeader",
)
UNFENCED_ELECTED: Final = Invariant(
    "P16",
    "KIP-966; Kafka: ReplicationControlManager.handleBrokerUnfenced",
)

LOST_WITH_DIRECTORY: Final = Invariant(
    "P14",
    "KIP-858; Kafka: ReplicationControlManager.handleDirectoriesOffline",
)


class Leaderless(NamedTuple):
    """A partition that lost its leader: the record, its states, and the brokers active then."""

    offset: int
    before: PartitionState
    after: PartitionState
    active: frozenset[int]


class Unfencing(NamedTuple):
    """The record that unfences a broker, and the leaderless partitions that it should then lead."""

    offset: int
    broker: int
    partitions: dict[bytes, PartitionState]


class Offline(NamedTuple):
    """A broker that loses directories: the record, those, and partitions in sync there."""

    offset: int
    broker: int
    directories: frozenset[str]
    partitions: tuple[bytes, ...]


@dataclass(slots=True)
class Losses:
    """What partitions have lost since the last operation ended.

    `forgotten` are replicas that a record left neither in sync nor eligible, below the minimum. Of
    those Kafka leaves out only a broker that shut down uncleanly, which is in `registered`.
    `lost_directory` are the brokers that lost any directory; `without_directory` are those of them
    that lost the last. The record of that names no directory, so it leaves the image as it is.
    """

    leaderless: dict[bytes, Leaderless] = field(default_factory=dict)
    forgotten: list[tuple[int, bytes, frozenset[int]]] = field(default_factory=list)
    registered: set[int] = field(default_factory=set)
    without_directory: set[int] = field(default_factory=set)
    lost_directory: set[int] = field(default_factory=set)
    unfenced: set[int] = field(default_factory=set)
    unfencings: list[Unfencing] = field(default_factory=list)
    offline: list[Offline] = field(default_factory=list)

    def note(
        self,
        image: Image,
        offset: int,
        key: bytes,
        states: tuple[PartitionState, PartitionState],
        loss: Loss,
    ) -> None:
        """Note what a partition lost by a record, before the image has the state after it."""
        if loss.leader:
            self.leaderless[key] = Leaderless(offset, *states, image.active())
        in_sync = len(states[1].isr)
        # Most logs have hundreds of thousands of changes, and no ISR below any minimum.
        if loss.replicas and in_sync < image.entities.greatest_minimum and image.elr_enabled:
            least = effective_minimum(image, key)
            if least is not None and in_sync < least:
                self.forgotten.append((offset, key, loss.replicas))

    def note_lease(self, image: Image, offset: int, lease: LeaseRecord) -> None:
        """Note a record of the lease, before the image has it."""
        if isinstance(lease, RegisterBrokerRecord):
            self.registered.add(lease.broker_id)
        elif isinstance(lease, UnfenceBrokerRecord):
            self._note_unfenced(image, offset, lease.broker_id)
        elif isinstance(lease, BrokerRegistrationChangeRecord):
            if lease.fenced == UNFENCE:
                self._note_unfenced(image, offset, lease.broker_id)
            if not (lease.fenced or lease.in_controlled_shutdown):
                self.lost_directory.add(lease.broker_id)
                if not lease.log_dirs:
                    self.without_directory.add(lease.broker_id)
                self._note_offline(image, offset, lease)

    def _note_unfenced(self, image: Image, offset: int, broker: int) -> None:
        """Note the partitions that a broker should lead, since none leads them until now."""
        self.unfenced.add(broker)
        partitions = image.partitions
        present = partitions.present().union(partitions.touched.values())
        waiting = {s for s in present if s.leader < 0 and _leads_unfenced(s, broker, image)}
        if waiting:
            found = {k: s for k, s in partitions.states.items() if s.leader < 0 and s in waiting}
            if found:  # not so for states that no partition is in any more
                self.unfencings.append(Unfencing(offset, broker, found))

    def _note_offline(
        self, image: Image, offset: int, lease: BrokerRegistrationChangeRecord
    ) -> None:
        """Note the partitions in whose ISR a broker still is, in directories that it loses.

        Kafka writes the record behind those that take the broker out.
        """
        broker, before = lease.broker_id, image.registrations.get(lease.broker_id)
        lost = frozenset(before.directories if before else ()).difference(lease.log_dirs)
        if lost:
            states = image.partitions.states.items()
            found = tuple(k for k, state in states if _should_leave(state, broker, lost, image))
            self.offline.append(Offline(offset, broker, lost, found))

    def forget(self) -> None:
        """Forget the operation."""
        self.leaderless.clear()
        self.forgotten.clear()
        self.registered.clear()
        self.without_directory.clear()
        self.lost_directory.clear()
        self.unfenced.clear()
        self.unfencings.clear()
        self.offline.clear()

    def findings(self, image: Image, batch: RecordBatch) -> list[Finding]:
        """Return the first violation of the operation that ends with this batch, if any."""
        for offset, key, replicas in self.forgotten:
            lost = min(replicas - self.registered, default=None)
            if lost is not None:
                said = f"replica {lost} is neither in the ISR nor eligible any more"
                return [_violation(ELR_CLEARED, said, offset, key, batch)]
        if (image.metadata_version or 0) < _SHUTDOWN_RECORDED or image.may_migrate:
            return []
        return (
            self._leaders_lost(image, batch)
            or self._unfenced_do_not_lead(image, batch)
            or self._stays_offline(image, batch)
        )

    def _stays_offline(self, image: Image, batch: RecordBatch) -> list[Finding]:
        """Return the violation, if any, that a broker stays in an ISR in a directory that it loses.

        A heartbeat that also unfences its broker may elect it there (KIP-858).
        """
        for offset, broker, lost, keys in self.offline:
            for key in () if broker in self.unfenced else keys:
                now = image.partitions.states.get(key)
                if now is not None and _should_leave(now, broker, lost, image):
                    said = f"replica {broker} is in sync in a directory that goes offline"
                    return [_violation(LOST_WITH_DIRECTORY, said, offset, key, batch)]
        return []

    def _unfenced_do_not_lead(self, image: Image, batch: RecordBatch) -> list[Finding]:
        """Return the violation, if any, that an unfenced broker leaves a partition leaderless.

        A heartbeat that unfences its broker, and reports a lost directory, makes its records from
        the state before both (KIP-858), so those of such a broker are not judged.
        """
        may_lead = image.active() - image.left_over - self.lost_directory
        for offset, broker, partitions in self.unfencings:
            for key, before in partitions.items() if broker in may_lead else ():
                now = image.partitions.states.get(key)
                if now is None or now.leader >= 0 or not _leads_unfenced(now, broker, image):
                    continue
                if all(_online(state, broker, image) for state in (before, now)):
                    said = f"it has no leader, though replica {broker} is unfenced"
                    return [_violation(UNFENCED_ELECTED, said, offset, key, batch)]
        return []

    def _leaders_lost(self, image: Image, batch: RecordBatch) -> list[Finding]:
        for key, lost in self.leaderless.items():
            now = image.partitions.states.get(key)
            if now is None or now.leader >= 0:
                continue
            active = lost.active & image.active() - image.left_over - self.without_directory
            in_line = active & _in_line(lost.after, image) & _in_line(now, image)
            # Kafka elects by the directories before the record, even where it changes them.
            states = (lost.before, lost.after, now)
            able = {r for r in in_line if all(_online(state, r, image) for state in states)}
            if able:
                said = f"it has no leader, though replica {min(able)} is active"
                return [_violation(LEADER_ELECTED, said, lost.offset, key, batch)]
        return []


def _in_line(state: PartitionState, image: Image) -> frozenset[int]:
    """Return the replicas that a clean election may choose from."""
    clean = state.isr or (state.elr if image.elr_enabled else ())
    return frozenset(clean) & frozenset(state.replicas)


def _leads_unfenced(state: PartitionState, broker: int, image: Image) -> bool:
    """Return whether a partition without a leader gets one when this broker is unfenced.

    If no replica is in sync or eligible, the last known leader is elected. A reassignment may
    complete by the election, and take the broker out.

    Kafka: PartitionChangeBuilder.electAnyLeader, PartitionChangeBuilder.canElectLastKnownLeader.
    """
    if state.in_progress or broker not in state.replicas:
        return False
    if state.isr or not image.elr_enabled:
        return broker in state.isr
    return broker in state.elr or (not state.elr and state.last_known_elr == (broker,))


def _should_leave(
    state: PartitionState, broker: int, directories: frozenset[str], image: Image
) -> bool:
    """Return whether a broker should leave the ISR because it loses some directories.

    Without eligible leader replicas the last member stays.

    Kafka: PartitionChangeBuilder.build.
    """
    if broker not in state.isr or len(state.directories) != len(state.replicas):
        return False
    if len(state.isr) == 1 and not image.elr_enabled:
        return False
    return any(
        replica == broker and where in directories
        for replica, where in zip(state.replicas, state.directories, strict=True)
    )


def _online(state: PartitionState, replica: int, image: Image) -> bool:
    """Return whether the directory of a registered replica is surely online."""
    if state.directories and not image.registrations[replica].directories:
        return False
    return directory_online(state, replica, image.registrations)


def _violation(
    invariant: Invariant, said: str, offset: int, key: bytes, batch: RecordBatch
) -> Finding:
    evidence = evidence_of(invariant)
    found = Finding(Weight.VIOLATION, invariant.id, said, batch.path, None, offset, evidence)
    return with_place(found, key, batch)
