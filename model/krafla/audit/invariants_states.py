"""The invariants of a partition after each record about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from krafla.audit.partition_state import NO_LEADER, RECOVERING
from krafla.audit.result import Invariant

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.audit.image import Image
    from krafla.audit.partition_state import PartitionState
    from krafla.audit.partitions import Objections


@dataclass(frozen=True, slots=True)
class StateInvariant(Invariant):
    """An invariant of a partition after every record about it."""

    objection: Callable[[PartitionState, Image], str | None]


def _isr_among_replicas(state: PartitionState, _: Image) -> str | None:
    if len(set(state.isr)) != len(state.isr):
        return f"ISR {list(state.isr)} names a broker twice"
    if not set(state.isr) <= set(state.replicas):
        return f"ISR {list(state.isr)} is not among replicas {list(state.replicas)}"
    return None


def _leader_in_isr(state: PartitionState, _: Image) -> str | None:
    if state.leader in (NO_LEADER, *state.isr):
        return None
    return f"leader {state.leader} is not in ISR {list(state.isr)}"


def _leader_is_replica(state: PartitionState, _: Image) -> str | None:
    if state.leader in (NO_LEADER, *state.replicas):
        return None
    return f"leader {state.leader} is not among replicas {list(state.replicas)}"


def _empty_isr_has_no_leader(state: PartitionState, image: Image) -> str | None:
    if state.isr or state.leader == NO_LEADER or not image.elr_enabled:
        return None
    return f"{state.leader} leads with an empty ISR"


def _elr_apart(state: PartitionState, _: Image) -> str | None:
    both = sorted(set(state.isr) & set(state.elr))
    if both:
        return f"replica {both[0]} is in both ISR and ELR"
    return None


def _one_last_leader(state: PartitionState, _: Image) -> str | None:
    if len(state.last_known_elr) > 1:
        return f"there are several last known leaders, {list(state.last_known_elr)}"
    return None


def _recovers_alone(state: PartitionState, _: Image) -> str | None:
    if state.recovery == RECOVERING and len(state.isr) > 1:
        return f"the leader is recovering, with ISR {list(state.isr)}"
    return None


def _moves_among_replicas(state: PartitionState, _: Image) -> str | None:
    strangers = sorted({*state.adding, *state.removing} - set(state.replicas))
    if strangers:
        return f"replica {strangers[0]} is added or removed, but is not a replica"
    return None


def _something_stays(state: PartitionState, _: Image) -> str | None:
    if state.replicas and not set(state.replicas) - set(state.removing):
        return "every replica is to be removed"
    return None


def _a_directory_each(state: PartitionState, _: Image) -> str | None:
    if not state.directories or len(state.directories) == len(state.replicas):
        return None
    return f"{len(state.replicas)} replicas have {len(state.directories)} directories"


_BUILDER: Final = "Kafka: PartitionChangeBuilder.build"
_ELR: Final = "KIP-966; Kafka: PartitionChangeBuilder.maybeUpdateLastKnownLeader"
_MOVE: Final = "KIP-455; Kafka: PartitionReassignmentReplicas"

STATE_INVARIANTS: Final = (
    StateInvariant("P3", _BUILDER, _leader_is_replica),
    StateInvariant("P5", _ELR, _empty_isr_has_no_leader),
    StateInvariant("P1", _BUILDER, _isr_among_replicas),
    StateInvariant("P2", _BUILDER, _leader_in_isr),
    StateInvariant("P6", _ELR, _elr_apart),
    StateInvariant("P8", _ELR, _one_last_leader),
    StateInvariant("P9", "KIP-704; " + _BUILDER, _recovers_alone),
    StateInvariant("X1", _MOVE, _moves_among_replicas),
    StateInvariant("X3", _MOVE, _something_stays),
    StateInvariant("T9", "KIP-858; " + _BUILDER, _a_directory_each),
)


def state_objections(state: PartitionState, image: Image) -> Objections:
    """Return the invariants that a partition breaks after a record, each with a sentence."""
    found = [(i, i.objection(state, image)) for i in STATE_INVARIANTS]
    return tuple((i, said) for i, said in found if said is not None)
