"""The state of one partition, and its changes by records.

Kafka: PartitionRegistration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from kraft.records.schema import Fields

NO_CHANGE: Final = -2
"""The leader field of a PartitionChangeRecord that leaves the leader as it is."""
NO_RECOVERY_CHANGE: Final = -1
RECOVERED, RECOVERING = 0, 1
NO_LEADER: Final = -1


class PartitionState(NamedTuple):
    """A partition without its epochs: `Partitions` counts those, so that equal states are shared.

    `directories` is empty for a partition older than directory ids (KIP-858).
    """

    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    recovery: int = RECOVERED
    directories: tuple[str, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @property
    def in_progress(self) -> bool:
        """Whether a reassignment is in progress."""
        return bool(self.adding or self.removing)


class Epochs(NamedTuple):
    """The two epochs of a partition."""

    leader: int
    partition: int


class PartitionChange(NamedTuple):
    """The fields of a PartitionChangeRecord; None and NO_CHANGE leave a field as it is."""

    leader: int
    isr: tuple[int, ...] | None
    replicas: tuple[int, ...] | None
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    recovery: int = NO_RECOVERY_CHANGE
    directories: tuple[str, ...] | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None

    def applied_to(self, state: PartitionState) -> PartitionState:
        """Return the partition after the change. Kafka: PartitionRegistration.merge."""
        changed: dict[str, Any] = {
            name: new
            for name, new, none in zip(self._fields, self, _NOTHING, strict=True)
            if new != none
        }
        return state._replace(**changed)


_NOTHING: Final = PartitionChange(NO_CHANGE, None, None)
_ONLY_EMPTIES_ELR: Final = _NOTHING._replace(elr=())


def state_of(fields: Fields) -> PartitionState:
    """Return the state that a PartitionRecord gives its partition."""
    return PartitionState(
        fields["leader"],
        fields["isr"],
        fields["replicas"],
        fields["addingReplicas"],
        fields["removingReplicas"],
        fields.get("leaderRecoveryState", RECOVERED),
        fields.get("directories", ()),
        fields.get("eligibleLeaderReplicas") or (),
        fields.get("lastKnownElr") or (),
    )


def epochs_of(fields: Fields) -> Epochs:
    """Return the epochs that a PartitionRecord gives its partition."""
    return Epochs(fields["leaderEpoch"], fields["partitionEpoch"])


def change_of(fields: Fields) -> PartitionChange:
    """Return the change that a PartitionChangeRecord describes."""
    return PartitionChange(
        fields["leader"],
        fields["isr"],
        fields["replicas"],
        fields["addingReplicas"],
        fields["removingReplicas"],
        fields["leaderRecoveryState"],
        fields.get("directories"),
        fields.get("eligibleLeaderReplicas"),
        fields.get("lastKnownElr"),
    )


FIRST_EPOCHS: Final = Epochs(0, 0)
"""The epochs of a new partition."""


def made_without_elr(before: PartitionState, after: PartitionState) -> bool:
    """Return whether a change may be made as if eligible leader replicas were disabled.

    Up to Kafka 4.1, that of a replica's directory is: it empties the ELR, and leaves the last known
    leader. Only a broker that moves its replica changes a directory and no replica.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs.
    """
    if before.directories == after.directories or before.replicas != after.replicas:
        return False
    return not after.elr and before.last_known_elr == after.last_known_elr


def kept_in_sync(before: PartitionState, after: PartitionState) -> int:
    """Return the size of an ISR that should clear what is left of the ELR; 0 if none is left.

    As built, an election from the ELR comes after the ELR is cleared. Then no member of the old ISR
    stays, and the others of the ELR stay eligible. Only a leader clears the last known one: after
    an unclean revert of a reassignment a partition may have an ISR and no leader.

    Kafka: PartitionChangeBuilder.maybePopulateTargetElr, maybeUpdateLastKnownLeader.
    """
    if not after.elr and (not after.last_known_elr or after.leader == NO_LEADER):
        return 0
    if made_without_elr(before, after):
        return 0
    return len(after.isr) if set(before.isr) & set(after.isr) else 0


class Loss(NamedTuple):
    """What a partition loses: its leader, and replicas neither in sync nor eligible any more.

    `nothing` says that the record leaves the partition as it was, in all its fields.
    """

    leader: bool
    replicas: frozenset[int]
    nothing: bool = False


def loss_of(before: PartitionState, after: PartitionState, change: PartitionChange) -> Loss | None:
    """Return what a change takes from a partition, None if it changes something and takes nothing.

    An unclean election forgets replicas, and so does a broker that assigns its replica to a
    directory, as Kafka makes that record without eligible leader replicas: those lose none. Where
    the directory stays the same, the record empties the ELR and names nothing else.
    """
    if before == after:
        return Loss(leader=False, replicas=frozenset(), nothing=True)
    leaderless = before.leader >= 0 > after.leader
    were = {*before.isr, *before.elr}
    replicas = were - {*after.isr, *after.elr}
    unclean = RECOVERING in (before.recovery, after.recovery) or not were >= {*after.isr}
    if unclean or change.directories is not None or change == _ONLY_EMPTIES_ELR:
        replicas = set()
    return Loss(leaderless, frozenset(replicas)) if leaderless or replicas else None
