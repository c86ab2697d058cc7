"""What a reassignment may do to a partition: every ChangeInvariant about adding and removing.

A record that leaves nothing to add or remove ends a reassignment. It is a cancellation if all that
was to be removed stays and all that was added goes, else a completion.
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


def _target(state: PartitionState) -> tuple[int, ...]:
    return tuple(r for r in state.replicas if r not in state.removing)


def _is_completion(t: Transition) -> bool:
    """Return whether a record that ends a reassignment looks like its completion.

    Where a replica is both added and removed, a cancellation leaves none of what is removed: it is
    known by the replicas that it leaves, or, if a completion leaves the same, by the ISR.
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
    return f"the reassignment ends, and leader {t.after.leader} is no replica any more"


def _cleared_with_the_replicas(t: Transition) -> str | None:
    if not t.before.in_progress or not t.lost or not t.after.in_progress:
        return None
    return f"replica {min(t.lost)} is dropped, and the reassignment stays in progress"


def _completes_as_planned(t: Transition) -> str | None:
    if not _ends(t) or not _is_completion(t):
        return None
    # One record may name a new target and complete it; then the replicas are that target's.
    planned = _target(t.before)
    if t.after.replicas == planned:
        return None
    renamed = set(t.after.replicas) != set(planned) and set(t.after.isr) <= set(t.before.isr)
    if renamed:
        return None
    return f"replicas are {list(t.after.replicas)}, the target was {list(planned)}"


def _complete_in_sync(t: Transition) -> str | None:
    if not _ends(t) or not _is_completion(t):
        return None
    missing = sorted(set(t.after.replicas) - set(t.after.isr))
    return f"the reassignment completes without {missing[0]} in the ISR" if missing else None


def _comes_back(t: Transition) -> str | None:
    if not _ends(t) or _is_completion(t):
        return None
    before = set(t.before.replicas) - set(t.before.adding)
    # What else all replicas in sync may be is a new target that is complete at once.
    if set(t.after.replicas) in (before, set(t.after.isr)):
        return None
    return f"after cancelling, replicas are {list(t.after.replicas)}, not those of {sorted(before)}"


def _not_stuck(t: Transition) -> str | None:
    if not t.after.in_progress:
        return None
    if t.after.isr == (t.after.leader,) and t.after.leader not in t.before.isr:
        # As built: the election that made it the only one in sync comes after the question.
        return None
    if t.after.leader == NO_LEADER:
        # As built: the last one in sync was to leave, which is not written without an ELR.
        return None
    target = _target(t.after)
    if target and set(target) <= set(t.after.isr) - set(t.after.removing):
        return f"all of target {list(target)} are in sync, and the reassignment is not complete"
    return None


def _added_or_removed(t: Transition) -> str | None:
    both = set(t.after.adding) & set(t.after.removing)
    # As built: an empty set does not overwrite the one that is there, so a new target that leaves
    # out what an unfinished reassignment brought in has it in both.
    stale = set(t.before.adding) if t.change.adding is None else set()
    if both - stale:
        return f"replica {min(both - stale)} is both added and removed"
    return None


REASSIGNMENT_INVARIANTS: Final = (
    ChangeInvariant("X9", "after a reassignment the leader is a replica", _COMPLETE,
                    _leader_after_completion),
    ChangeInvariant("X2", "no replica is both added and removed, unless it was being added before",
                    "Kafka: PartitionReassignmentReplicas", _added_or_removed),
    ChangeInvariant("X7", "a record that drops a replica ends the reassignment", _COMPLETE,
                    _cleared_with_the_replicas),
    ChangeInvariant("X4", "a completed reassignment leaves the target in its order", _COMPLETE,
                    _completes_as_planned),
    ChangeInvariant("X5", "a reassignment completes with every target replica in sync",
                    "KAFKA-15665; " + _COMPLETE, _complete_in_sync),
    ChangeInvariant("X6", "a reassignment that can be complete is", _COMPLETE, _not_stuck),
    ChangeInvariant("X8", "a cancelled reassignment leaves the replicas from before", _REVERT,
                    _comes_back),
)  # fmt: skip
