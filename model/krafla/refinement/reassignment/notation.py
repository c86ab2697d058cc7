"""Partitions and their change records in the notation of PartitionChange.

There the ISR and the adding and removing replicas are sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.values import Value, record
from kraft.records.topics import NO_LEADER_CHANGE, NO_RECOVERY_CHANGE, RECOVERED, RECOVERING

if TYPE_CHECKING:
    from kraft.image.entries import Partition
    from kraft.records.topics import PartitionChangeRecord

__all__ = ["NO_CHANGE", "RECOVERY", "change_value", "eligibility_value",
           "partition_value"]  # fmt: skip

RECOVERY: Final = {RECOVERED: "RECOVERED", RECOVERING: "RECOVERING"}
NO_CHANGE: Final = ()


def partition_value(partition: Partition) -> Value:
    """Return a partition. Spec: PartitionChange!Partition."""
    return record(
        replicas=partition.replicas,
        isr=frozenset(partition.isr),
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        adding=frozenset(partition.adding_replicas),
        removing=frozenset(partition.removing_replicas),
        recovery=RECOVERY[partition.leader_recovery_state],
    )


def eligibility_value(partition: Partition) -> Value:
    """Return which other replicas may lead a partition. Spec: PartitionChangeElr!Eligibility."""
    return record(
        elr=frozenset(partition.eligible_leader_replicas),
        last_known_leader=frozenset(partition.last_known_elr),
    )


def change_value(change: PartitionChangeRecord | None) -> Value:
    """Return the fields that a record sets. Spec: PartitionChangeElr!BuildElr."""
    if change is None:
        return NO_CHANGE
    fields: dict[str, Value] = {}
    if change.leader != NO_LEADER_CHANGE:
        fields["leader"] = change.leader
    if change.replicas is not None:
        fields["replicas"] = change.replicas
    if change.leader_recovery_state != NO_RECOVERY_CHANGE:
        fields["recovery"] = RECOVERY[change.leader_recovery_state]
    sets = {
        "isr": change.isr,
        "adding": change.adding_replicas,
        "removing": change.removing_replicas,
        "elr": change.eligible_leader_replicas,
        "last_known_leader": change.last_known_elr,
    }
    fields |= {name: frozenset(members) for name, members in sets.items() if members is not None}
    return record(**fields)
