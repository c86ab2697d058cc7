"""The voters and the kraft.version in the records of a log, with their whole history.

A truncation undoes the records that it cuts off; a snapshot brings voters and version of its own.

Spec: KRaftVoters!LatestVoters.
Kafka: KRaftControlRecordStateMachine, VoterSetHistory, TreeMapLogHistory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from kraft.raft.snapshot_file import read_snapshot
from kraft.raft.voter_records import kraft_version_of, voters_of
from kraft.records.control_schemas import KRAFT_VERSION, KRAFT_VOTERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.log.batches import LogBatch
    from kraft.log.image import LogImage, Snapshot
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
    """Voter sets and kraft.versions in the order of their offsets, the static voters first.

    A set is taken as the log has it, whether or not its majorities meet those of the one before:
    what keeps them together is that a leader changes one voter at a time.
    """

    static_voters: VoterSet
    voter_sets: tuple[VotersAt, ...] = ()
    versions: tuple[VersionAt, ...] = ()

    @classmethod
    def of_log(cls, static_voters: VoterSet, log: LogImage) -> ControlHistory:
        """Return the history of a whole log: the snapshot it begins with, and its batches.

        A log that ends before its newest snapshot has nothing to add to it.
        Spec: KRaftState!History. Kafka: KRaftControlRecordStateMachine.updateState.
        """
        latest = log.latest_snapshot
        if latest is not None and latest.snapshot_id.end_offset > log.end_offset:
            return cls.from_snapshot(static_voters, latest)
        for snapshot in log.snapshots:
            if snapshot.snapshot_id.end_offset == log.start_offset:
                return cls.from_snapshot(static_voters, snapshot).with_batches(log.batches())
        return cls(static_voters).with_batches(log.batches())

    @classmethod
    def from_snapshot(cls, static_voters: VoterSet, snapshot: Snapshot) -> ControlHistory:
        """Return the history of an empty log that begins at the end of this snapshot.

        The voters and version of the snapshot count from its last offset on, which is -1 for a
        bootstrap snapshot. Raises CorruptRecordError as `read_snapshot`.
        Kafka: KRaftControlRecordStateMachine.maybeLoadSnapshot.
        """
        content = read_snapshot(snapshot.data)
        offset = snapshot.snapshot_id.end_offset - 1
        return cls(
            static_voters,
            () if content.voters is None else (VotersAt(offset, content.voters),),
            (VersionAt(offset, content.version),) if content.version else (),
        )

    @property
    def voters(self) -> VoterSet:
        """The voters in the last voters record, committed or not.

        Spec: KRaftVoters!LatestVoters. Kafka: KRaftControlRecordStateMachine.lastVoterSet.
        """
        return self.voter_sets[-1].voters if self.voter_sets else self.static_voters

    @property
    def version(self) -> int:
        """The kraft.version in the last record of it, 0 without one."""
        return self.versions[-1].version if self.versions else 0

    @property
    def last_voters_offset(self) -> int | None:
        """The offset of the last voters record, None if there is none.

        -1 stands for a bootstrap snapshot. Spec: KRaftVoters!VotersOffset.
        Kafka: KRaftControlRecordStateMachine.lastVoterSetOffset.
        """
        return self.voter_sets[-1].offset if self.voter_sets else None

    def at(self, offset: int) -> tuple[VoterSet, int]:
        """Return voters and kraft.version by the records up to this offset, itself included.

        Kafka: KRaftControlRecordStateMachine.voterSetAtOffset, kraftVersionAtOffset.
        """
        earlier = self.truncated(offset + 1)
        return earlier.voters, earlier.version

    def with_batches(self, batches: Iterable[LogBatch]) -> ControlHistory:
        """Return the history with what these batches, appended after it, have to say.

        Raises CorruptRecordError for voters with the same node id.
        Kafka: KRaftControlRecordStateMachine.maybeLoadLog.
        """
        voter_sets: list[VotersAt] = []
        versions: list[VersionAt] = []
        for batch in batches:
            for offset, (kind, fields) in enumerate(batch.controls, batch.base_offset):
                if kind == KRAFT_VOTERS.api_key:
                    voter_sets.append(VotersAt(offset, voters_of(fields)))
                elif kind == KRAFT_VERSION.api_key:
                    versions.append(VersionAt(offset, kraft_version_of(fields)))
        if not voter_sets and not versions:
            return self
        return replace(
            self,
            voter_sets=(*self.voter_sets, *voter_sets),
            versions=(*self.versions, *versions),
        )

    def truncated(self, end_offset: int) -> ControlHistory:
        """Return the history without what records from this offset on have said.

        Kafka: KRaftControlRecordStateMachine.truncateNewEntries.
        """
        return replace(
            self,
            voter_sets=tuple(each for each in self.voter_sets if each.offset < end_offset),
            versions=tuple(each for each in self.versions if each.offset < end_offset),
        )
