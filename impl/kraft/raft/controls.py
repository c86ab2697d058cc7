"""The voters and the kraft.version by the records of a log, with their whole history.

A truncation takes back what it cuts off; a snapshot brings its own.

Spec: KRaftVoters!LatestVoters.
Kafka: KRaftControlRecordStateMachine, VoterSetHistory, TreeMapLogHistory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraft.raft.voters import VoterSet


class VotersAt(NamedTuple):
    """A voter set and the offset of its record; -1: it is from a bootstrap snapshot."""

    offset: int
    voters: VoterSet


class VersionAt(NamedTuple):
    """A kraft.version and the offset of its record."""

    offset: int
    version: int


@dataclass(frozen=True, slots=True)
class ControlHistory:
    """Voter sets and kraft.versions in the order of their offsets, the static voters first."""

    static_voters: VoterSet
    voter_sets: tuple[VotersAt, ...] = ()
    versions: tuple[VersionAt, ...] = ()

    @property
    def voters(self) -> VoterSet:
        """The voters by the last record of them, committed or not.

        Spec: KRaftVoters!LatestVoters. Kafka: KRaftControlRecordStateMachine.lastVoterSet.
        """
        return self.voter_sets[-1].voters if self.voter_sets else self.static_voters

    @property
    def version(self) -> int:
        """The kraft.version by the last record of it, 0 without one."""
        return self.versions[-1].version if self.versions else 0
