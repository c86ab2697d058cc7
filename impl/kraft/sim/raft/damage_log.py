"""The damage log: which copies of the log were damaged, and whether one more may be.

A promise can be tested only while enough copies are intact. So by default no disk fault takes a
copy if a majority of some voter set would be lost with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kraft.sim.raft.kinds import ALL_PROMISES, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.ids import ReplicaKey
    from kraft.raft.voters import VoterSet


class Damage(NamedTuple):
    """A fault that took a copy of the log, or a part of it."""

    time: int
    kind: str
    replica: ReplicaKey
    detail: str = ""


class DamageLog:
    """The damages of a run, in order."""

    __slots__ = ("damages", "spare")

    def __init__(self, *, spare: bool) -> None:
        self.spare = spare
        self.damages: list[Damage] = []

    @property
    def damaged(self) -> frozenset[ReplicaKey]:
        """The replicas whose copies are damaged or gone."""
        return frozenset(damage.replica for damage in self.damages)

    @property
    def promised(self) -> str:
        """The promises that still hold after the damages so far."""
        kinds = sorted(
            {damage.kind for damage in self.damages if not KINDS[damage.kind].is_default}
        )
        return "; ".join(KINDS[kind].promised for kind in kinds) if kinds else ALL_PROMISES

    def may_damage(self, replica: ReplicaKey, voter_sets: Iterable[VoterSet]) -> bool:
        """Return whether each voter set keeps a majority of intact copies without this one."""
        if not self.spare:
            return True
        damaged = self.damaged | {replica}
        return all(has_majority(voters, damaged) for voters in voter_sets)

    def note(self, damage: Damage) -> None:
        """Add a damage that took effect."""
        self.damages.append(damage)


def has_majority(voters: VoterSet, without: frozenset[ReplicaKey]) -> bool:
    """Return whether a majority of the voters is outside of these replicas."""
    lost_nodes = {key.node_id for key in without}
    whole = sum(
        voter.key not in without
        and not (voter.key.directory_id is None and voter.key.node_id in lost_nodes)
        for voter in voters.voters
    )
    return whole >= voters.majority or not voters.voters
