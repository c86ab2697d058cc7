"""The invariants of reassignments: adding and removing replicas.

A record that leaves no adding and no removing replicas ends a reassignment. It is a cancellation if
all removing replicas stay and all adding ones go, else a completion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.invariants_partitions import ChangeInvariant, Transition
from krafla.audit.partition_state import NO_LEADER

if TYPE_CHECKING:
    from krafla.audit.partition_state import PartitionState

_COMPLETE: Final = "KIP-455; Kafka: PartitionReassignmentReplicas.maybeCompleteReassignment"
_REVERT: Final = "KIP-455; Kafka: PartitionReassignmentRevert"


def _ends(t: Transition) -> bool:
    return t.before.in_progress and not t.after.in_progress


def _completes_at_once(t: Transition) -> bool:
    """Return whether one record sets a target and completes it.

    A target in another order is no reassignment: it needs no replica in sync.
    """
    moves = set(t.before.replicas) != set(t.after.replicas)
    return moves and not t.before.in_progress and not t.after.in_progress


def _target(state: PartitionState) -> tuple[int, ...]:
    return tuple(r for r in state.replicas if r not in state.removing)


def _is_completion(t: Transition) -> bool:
    """Return whether a record that ends a reassignment looks like its completion.

    If a replica is both added and removed, a cancellation keeps no removing replica. Then the
    replicas that are left tell the two apart or, if a completion leaves the same ones, the ISR.
    """
    before, left = t.before, t.after.replicas
    if before.adding and left == tuple(r for r in before.replicas if r not in before.adding):
        return left == _target(before) and set(left) <= set(t.after.isr)
    kept = set(t.after.replicas)
    removing = set(t.before.removing)
    return bool(kept & set(t.before.adding)) or bool(removing and not kept & removing)


def _leader_after_completion(t: Transition) -> str | None:
    if not _ends(t) or t.after.leader in (NO_LEADER, *t.after.replicas):
        return None
    return f"the reassignment ends, but leader {t.after.leader} is no longer a replica"


def _cleared_with_the_replicas(t: Transition) -> str | None:
    if not t.before.in_progress or not t.lost or not t.after.in_progress:
        return None
    return f"replica {min(t.lost)} is dropped, but the reassignment stays in progress"


def _completes_as_planned(t: Transition) -> str | None:
    if not _ends(t) or not _is_completion(t):
        return None
    # One record may set a new target and complete it; then the replicas are the new target.
    planned = _target(t.before)
    if t.after.replicas == planned:
        return None
    renamed = set(t.after.replicas) != set(planned) and set(t.after.isr) <= set(t.before.isr)
    if renamed:
        return None
    return f"replicas are {list(t.after.replicas)}, but the target was {list(planned)}"


def _complete_in_sync(t: Transition) -> str | None:
    if not _completes_at_once(t) and not (_ends(t) and _is_completion(t)):
        return None
    missing = sorted(set(t.after.replicas) - set(t.after.isr))
    return f"the reassignment completes without {missing[0]} in the ISR" if missing else None


def _comes_back(t: Transition) -> str | None:
    if not _ends(t) or _is_completion(t):
        return None
    before = set(t.before.replicas) - set(t.before.adding)
    # Otherwise, if all replicas are in sync, they may be a new target that is complete at once.
    if set(t.after.replicas) in (before, set(t.after.isr)):
        return None
    return f"after the cancellation replicas are {list(t.after.replicas)}, not {sorted(before)}"


def _not_stuck(t: Transition) -> str | None:
    if not t.after.in_progress:
        return None
    if t.after.isr == (t.after.leader,) and t.after.leader not in t.before.isr:
        # As built: the election that left only the leader in sync comes after this check.
        return None
    if t.after.leader == NO_LEADER:
        # As built: without an ELR, the last in-sync replica is not removed from the ISR.
        return None
    target = _target(t.after)
    if target and set(target) <= set(t.after.isr) - set(t.after.removing):
        return f"all of target {list(target)} is in sync, but the reassignment is not complete"
    return None


def _added_or_removed(t: Transition) -> str | None:
    both = set(t.after.adding) & set(t.after.removing)
    # As built: an empty set does not overwrite a set. So if a new target leaves out a replica that
    # an unfinished reassignment was adding, that replica is in both sets.
    stale = set(t.before.adding) if t.change.adding is None else set()
    if both - stale:
        return f"replica {min(both - stale)} is both added and removed"
    return None


def _in_ascending_order(t: Transition) -> str | None:
    """Return an objection to adding or removing replicas that a change names out of order.

    The difference of two sets of replicas is a sorted set. A partition that a migration from
    ZooKeeper copied may have them in any order, but a change names only those that it sets.

    Kafka: PartitionReassignmentReplicas.calculateDifference.
    """
    for name, named in (("adding", t.change.adding), ("removing", t.change.removing)):
        if named is not None and named != tuple(sorted(named)):
            return f"{name} replicas are {list(named)}, not in ascending order"
    return None


REASSIGNMENT_INVARIANTS: Final = (
    ChangeInvariant("X9", _COMPLETE, _leader_after_completion),
    ChangeInvariant("X2", "Kafka: PartitionReassignmentReplicas", _added_or_removed),
    ChangeInvariant(
        "X2",
        "KIP-455; Kafka: PartitionReassignmentReplicas.calculateDifference",
        _in_ascending_order,
    ),
    ChangeInvariant("X7", _COMPLETE, _cleared_with_the_replicas),
    ChangeInvariant("X4", _COMPLETE, _completes_as_planned),
    ChangeInvariant("X5", "KAFKA-15665; " + _COMPLETE, _complete_in_sync),
    ChangeInvariant("X6", _COMPLETE, _not_stuck),
    ChangeInvariant("X8", _REVERT, _comes_back),
)
