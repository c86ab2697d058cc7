"""The invariants of each change of a partition: before, after, and the record.

The more specific ones are checked first, because their sentences say more. What a partition must be
after every record is in `invariants_states`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.audit.directories import directory_online, foreign_directory
from krafla.audit.invariants import ACTIVE, MINIMUM_METADATA_VERSION
from krafla.audit.partition_state import (
    NO_CHANGE,
    NO_LEADER,
    RECOVERED,
    RECOVERING,
    made_without_elr,
)
from krafla.audit.result import Invariant

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionChange, PartitionState

MV_3_2_IV0, MV_3_6_IV0 = 3, 12
"""Metadata versions: the first with recovery states, and with ISR shrinks that keep the leader
epoch."""


class Transition(NamedTuple):
    """A PartitionChangeRecord: the partition before and after it, its fields, the image."""

    before: PartitionState
    after: PartitionState
    change: PartitionChange
    image: Image

    @property
    def version(self) -> int:
        """The metadata version, the least before the log names one."""
        return self.image.metadata_version or MINIMUM_METADATA_VERSION

    @property
    def lost(self) -> frozenset[int]:
        """The replicas that the partition no longer has."""
        return frozenset(self.before.replicas) - frozenset(self.after.replicas)


@dataclass(frozen=True, slots=True)
class ChangeInvariant(Invariant):
    """An invariant of every PartitionChangeRecord."""

    objection: Callable[[Transition], str | None]


_BUILDER: Final = "Kafka: PartitionChangeBuilder.build"
_ELR: Final = "KIP-966; Kafka: PartitionChangeBuilder.maybeUpdateLastKnownLeader"


def _something_changes(t: Transition) -> str | None:
    return UNCHANGED if t.before == t.after else None


def _leader_epoch_for_a_lost_replica(t: Transition) -> str | None:
    if t.lost and t.change.leader == NO_CHANGE:
        return f"replica {min(t.lost)} is dropped without a leader field to raise the leader epoch"
    return None


def _isr_leaves_the_epoch_alone(t: Transition) -> str | None:
    gone = set(t.before.isr) - set(t.after.isr)
    same = t.before.leader == t.after.leader and not t.lost
    if t.image.may_migrate:
        return None  # brokers on ZooKeeper need the new epoch (KAFKA-15109)
    if t.version >= MV_3_6_IV0:
        if same and t.before.isr != t.after.isr and t.change.leader != NO_CHANGE:
            return "only the ISR changes, but a leader field raises the leader epoch"
    elif gone and t.change.leader == NO_CHANGE:
        return "the ISR shrinks without a leader field to raise the leader epoch"
    return None


def _elected_cleanly(t: Transition) -> str | None:
    leader, before = t.after.leader, t.before
    if (
        leader in (NO_LEADER, before.leader, *_in_line(t))
        or before.leader in t.after.isr
        or t.after.recovery == RECOVERING
        or t.version < MV_3_2_IV0
        or (before.in_progress and not t.after.in_progress)
    ):
        return None
    return f"leader {leader} needs no recovery, but was in neither ISR nor ELR"


def _in_line(t: Transition) -> set[int]:
    """Return the replicas that a change may elect without a recovery.

    A member of the ELR is elected if no member of the old ISR stays. A broker that moves its
    replica into a directory that is not online leaves the ISR by a second record: both are made
    from the state before, though the first empties the ELR.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs.
    """
    before, registered = t.before, t.image.registrations
    if set(before.isr) & set(t.after.isr):
        return set(before.isr)
    moved = not any(directory_online(before, replica, registered) for replica in before.isr)
    return {*before.isr, *before.elr, *(t.image.emptied.get(before, ()) if moved else ())}


def _isr_is_not_emptied(t: Transition) -> str | None:
    # As built: an empty ISR stays empty when eligible leader replicas are disabled.
    if not t.before.isr or t.after.isr:
        return None
    if not t.image.elr_enabled:
        return "the ISR is emptied"
    return f"ISR {list(t.before.isr)} is emptied at once" if len(t.before.isr) > 1 else None


def _order_kept_without_the_leader(t: Transition) -> str | None:
    """Return an objection to another order of an ISR that loses its leader.

    The leader asks for any order, but for no ISR without itself. So the controller took it out.

    Kafka: ReplicationControlManager.validateAlterPartitionData, Replicas.copyWithout.
    """
    before, after = t.before, t.after
    if before.leader not in before.isr or before.leader in after.isr or t.lost:
        return None
    if not set(after.isr) <= set(before.isr):
        return None
    kept = [replica for replica in before.isr if replica in after.isr]
    if kept == list(after.isr):
        return None
    return f"leader {before.leader} leaves an ISR, and {list(after.isr)} is not its order, {kept}"


def _recovery_begins_uncleanly(t: Transition) -> str | None:
    if not t.before.recovery == RECOVERED != t.after.recovery:
        return None
    if t.before.leader == t.after.leader or t.after.leader == NO_LEADER:
        return "a recovery begins without a new leader"
    if t.after.leader in (*t.before.isr, *t.before.elr):
        return f"leader {t.after.leader} is to recover, but was in ISR or ELR"
    return None


def _recovery_ends_by_its_leader(t: Transition) -> str | None:
    """Return what is wrong with the end of a recovery, that only the leader's request brings.

    The leader stays in the ISR and leads on, unless a reassignment completes, or its directory is
    not online: then Kafka elects another one in the same record.

    Kafka: ReplicationControlManager.alterPartition, .validateAlterPartitionData.
    """
    before, after = t.before, t.after
    if not before.recovery == RECOVERING != after.recovery or t.image.may_migrate:
        return None
    if before.leader == NO_LEADER:
        return "a recovery ends, though no replica led"
    if before.in_progress and not after.in_progress:
        return None
    if before.leader not in after.isr:
        return f"a recovery ends, though its leader {before.leader} leaves the ISR"
    if after.leader != before.leader and directory_online(
        before, before.leader, t.image.registrations
    ):
        return f"a recovery ends, though {before.leader} no longer leads"
    return None


def _directories_stay(t: Transition) -> str | None:
    emptied = t.before.directories and not t.after.directories
    return "the directories of its replicas are removed" if emptied else None


def _new_replicas_in_own_directories(t: Transition) -> str | None:
    if t.change.replicas is None or len(t.after.directories) != len(t.after.replicas):
        return None
    placed = zip(t.after.replicas, t.after.directories, strict=True)
    fresh = [(replica, where) for replica, where in placed if replica not in t.before.replicas]
    replicas, directories = tuple(zip(*fresh, strict=True)) or ((), ())
    return foreign_directory(t.image.registrations, replicas, directories)


def _one_replica_moves(t: Transition) -> str | None:
    """Return an objection to a change of several directories; a broker moves only its own replica.

    A partition older than directories names none before, and is not judged.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs.
    """
    before, named = t.before, t.change.directories
    if t.change.replicas is not None or not named:
        return None
    if not len(named) == len(before.directories) == len(before.replicas):
        return None
    places = zip(before.replicas, before.directories, named, strict=True)
    moved = [replica for replica, old, new in places if old != new]
    return f"replicas {moved} change their directories at once" if len(moved) > 1 else None


def _leader_forgets_the_last_known(t: Transition) -> str | None:
    # Without ELR a change leaves the last known leader, and a later one with ELR clears it.
    if not t.image.elr_enabled or not t.after.last_known_elr or t.after.leader == NO_LEADER:
        return None
    if made_without_elr(t.before, t.after):
        return None
    return f"{t.after.leader} leads, yet a last known leader is set"


def _last_leader_is_known(t: Transition) -> str | None:
    """Return what is wrong with the last known leader of a record that empties the ISR.

    Kafka names the leader before, also where none led. A record without a leader field may be the
    second of its operation, which Kafka makes from the partition before both.
    """
    emptied = t.before.isr and not t.after.isr and t.image.elr_enabled
    if not emptied or t.change.leader != NO_LEADER or t.before.leader == NO_LEADER:
        return None
    named = list(t.after.last_known_elr)
    if named == [t.before.leader]:
        return None
    said = f"the last known leader is {named[0]}" if named else "there is no last known leader"
    return f"{said}, though {t.before.leader} led until the ISR was emptied"


def _elr_among_replicas(t: Transition) -> str | None:
    strangers = set(t.after.elr) - set(t.after.replicas)
    if strangers and not strangers <= set(t.before.elr) | t.lost:
        return f"{min(strangers)} is in the ELR, but is not a replica"
    return None


def _elr_was_in_sync(t: Transition) -> str | None:
    """Return which replica becomes eligible without having been in sync.

    The second record for a replica that moves is made from the state before the first, which
    empties the ELR.

    Kafka: ReplicationControlManager.handleAssignReplicasToDirs.
    """
    if not t.image.elr_enabled or set(t.after.elr) <= {*t.before.elr, *t.before.isr}:
        return None
    were = {*t.before.elr, *t.before.isr, *t.image.emptied.get(t.before, ())}
    gained = set(t.after.elr) - were
    return f"{min(gained)} becomes eligible, but was in neither ISR nor ELR" if gained else None


def _none_eligible_without_the_feature(t: Transition) -> str | None:
    if t.image.elr_enabled:
        return None
    if t.after.elr:
        return f"replicas {list(t.after.elr)} are eligible, though the feature is off"
    if t.change.last_known_elr:
        return "the record sets a last known leader, though eligible leader replicas are off"
    return None


def _elected_while_active(t: Transition) -> str | None:
    leader = t.after.leader
    if leader == t.before.leader or not t.image.excused_among((leader,)):
        return None
    return f"{leader} is elected, and is not active"


def _is_unclean_revert(t: Transition) -> bool:
    """Return whether a change is an unclean revert of a reassignment.

    It leaves the first replica in the ISR, active or not, because every replica in sync was added.
    It elects none that is not active (P11).

    Kafka: PartitionReassignmentRevert.unclean,
    ReplicationControlManager.cancelPartitionReassignment.
    """
    if not t.before.in_progress or t.after.in_progress:
        return False
    return t.after.isr == t.after.replicas[:1] and set(t.before.isr) <= set(t.before.adding)


def _joins_while_active(t: Transition) -> str | None:
    if _is_unclean_revert(t):
        return None
    joined = t.image.excused_among(set(t.after.isr) - set(t.before.isr))
    return f"broker {joined[0]} joins the ISR, and is not active" if joined else None


UNCHANGED: Final = "the record changes nothing"
CHANGE_HAS_EFFECT: Final = ChangeInvariant("E7", "KAFKA-16624; " + _BUILDER, _something_changes)
CHANGE_INVARIANTS: Final = (
    CHANGE_HAS_EFFECT,
    ChangeInvariant("E5", _BUILDER, _leader_epoch_for_a_lost_replica),
    ChangeInvariant("E6", "KAFKA-15021; " + _BUILDER, _isr_leaves_the_epoch_alone),
    ChangeInvariant("P10", "KIP-704; " + _BUILDER, _recovery_begins_uncleanly),
    ChangeInvariant(
        "P10",
        "KIP-704; Kafka: ReplicationControlManager.validateAlterPartitionData",
        _recovery_ends_by_its_leader,
    ),
    ChangeInvariant("P15", "KIP-966; Kafka: PartitionChangeBuilder.electLeader", _elected_cleanly),
    ChangeInvariant("T9", "KIP-858; " + _BUILDER, _directories_stay),
    ChangeInvariant(
        "T9", "KIP-858; Kafka: ClusterControlManager.defaultDir", _new_replicas_in_own_directories
    ),
    ChangeInvariant(
        "T9",
        "KIP-858; Kafka: ReplicationControlManager.handleAssignReplicasToDirs",
        _one_replica_moves,
    ),
    ChangeInvariant(
        "P4",
        _BUILDER + "; ReplicationControlManager.generateLeaderAndIsrUpdates",
        _isr_is_not_emptied,
    ),
    ChangeInvariant(
        "P4",
        "Kafka: ReplicationControlManager.generateLeaderAndIsrUpdates, Replicas.copyWithout",
        _order_kept_without_the_leader,
    ),
    ChangeInvariant("P6", _ELR, _elr_among_replicas),
    ChangeInvariant(
        "P6",
        "KIP-966; Kafka: PartitionChangeBuilder.maybePopulateTargetElr",
        _elr_was_in_sync,
    ),
    ChangeInvariant(
        "P6",
        "KIP-966; Kafka: PartitionChangeBuilder.maybeUpdateRecordElr",
        _none_eligible_without_the_feature,
    ),
    ChangeInvariant("P8", _ELR, _leader_forgets_the_last_known),
    ChangeInvariant("P8", _ELR, _last_leader_is_known),
    ChangeInvariant("P11", ACTIVE, _elected_while_active),
    ChangeInvariant(
        "P12",
        "KIP-841; Kafka: ReplicationControlManager.validateAlterPartitionData",
        _joins_while_active,
    ),
)
