"""Seeded bugs of changes of the voters, and of telling apart the disks of a node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from krafla.fuzz.engine.mutant import Mutant, Probe, seed_bug
from kraft.raft.voters import VoterSet

__all__ = ["CHANGES"]

CHANGES: Final[list[Mutant]] = []
# Voters change all the time, while leaders are cut off.
_CHANGING: Final = (("add-voter", 150), ("isolation", 2_500), ("remove-voter", 150))


@seed_bug(
    CHANGES,
    "change-before-commit",
    "Raft, 2015",
    "kraft.raft.voter_changes:_refusal",
    "Voters change before anything of the epoch is committed.",
    _CHANGING,
)
def _change_before_commit(right: Any, probe: Probe) -> Any:
    def refusal(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        if leader.pending_change is not None or turn.high_watermark is not None:
            return probe.choose(answer, answer)
        unsupported = turn.controls.version < 1 or turn.controls.last_voters_offset is None
        return probe.choose(answer, answer if unsupported else None)

    return refusal


@seed_bug(
    CHANGES,
    "two-changes",
    "KAFKA-17973",
    "kraft.raft.voter_changes:_refusal",
    "Voters change while the last change is not committed.",
    _CHANGING,
)
def _two_changes(right: Any, probe: Probe) -> Any:
    def refusal(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        ready = turn.high_watermark is not None and turn.controls.version > 0
        return probe.choose(answer, None if ready else answer)

    return refusal


@seed_bug(
    CHANGES,
    "two-voters-at-once",
    "KAFKA-17973",
    "kraft.raft.voters:VoterSet.remove",
    "One record removes two voters.",
)
def _two_voters_at_once(right: Any, probe: Probe) -> Any:
    def remove(voters: Any, key: Any) -> Any:
        answer = right(voters, key)
        more = answer is not None and len(answer.voters) > 2
        return probe.choose(answer, VoterSet(answer.voters[1:]) if more else answer)

    return remove


@seed_bug(
    CHANGES,
    "adds-a-stranger",
    "R8",
    "kraft.raft.voter_changes:_is_caught_up",
    "A replica that has never fetched becomes a voter.",
    _CHANGING,
)
def _adds_a_stranger(right: Any, probe: Probe) -> Any:
    def is_caught_up(turn: Any, leader: Any, key: Any) -> Any:
        return probe.choose(right(turn, leader, key), True)

    return is_caught_up


@seed_bug(
    CHANGES,
    "truncation-keeps-voters",
    "any Raft",
    "kraft.raft.controls:ControlHistory.truncated",
    "Voters whose record was truncated stay in force.",
    _CHANGING,
)
def _truncation_keeps_voters(right: Any, probe: Probe) -> Any:
    def truncated(history: Any, end_offset: int) -> Any:
        return probe.choose(right(history, end_offset), history)

    return truncated


@seed_bug(
    CHANGES,
    "effective-at-commit",
    "any Raft",
    "kraft.raft.high_watermark:majority_offset",
    "The high watermark uses the committed voters instead of the latest ones.",
    _CHANGING,
)
def _effective_at_commit(right: Any, probe: Probe) -> Any:
    def majority_offset(turn: Any, leader: Any) -> Any:
        answer = right(turn, leader)
        offset = turn.controls.last_voters_offset
        pending = offset is not None and offset >= (turn.high_watermark or 0) and offset > 0
        if not pending or len(turn.controls.voter_sets) < 2:
            return probe.choose(answer, answer)
        ends = []
        for voter in turn.controls.voter_sets[-2].voters.voters:
            known = leader.progress.get(voter.key)
            own = voter.key.node_id == turn.configuration.node_id
            end = turn.log.end_offset if own else known and known.end_offset
            ends.append(-1 if end is None else end)
        ends.sort(reverse=True)
        return probe.choose(answer, ends[len(ends) // 2])

    return majority_offset


@seed_bug(
    CHANGES,
    "snapshot-forgets-voters",
    "S88",
    "kraft.raft.controls:ControlHistory.from_snapshot",
    "A log that begins at a snapshot uses the first voters.",
)
def _snapshot_forgets_voters(right: Any, probe: Probe) -> Any:
    function = right.__func__

    def from_snapshot(cls: Any, static_voters: Any, snapshot: Any) -> Any:
        answer = function(cls, static_voters, snapshot)
        late = snapshot.snapshot_id.end_offset > 0
        return probe.choose(answer, replace(answer, voter_sets=()) if late else answer)

    return classmethod(from_snapshot)


@seed_bug(
    CHANGES,
    "any-disk-votes",
    "S24 KIP-853",
    "kraft.raft.validation:is_addressed",
    "A vote is granted that was requested from another disk of the node.",
)
def _any_disk_votes(right: Any, probe: Probe) -> Any:
    def is_addressed(turn: Any, voter_id: Any, directory_id: Any) -> Any:
        return probe.choose(right(turn, voter_id, directory_id), True)

    return is_addressed


@seed_bug(
    CHANGES,
    "any-disk-is-voter",
    "S24 KIP-853",
    "kraft.raft.voters:VoterSet.is_voter",
    "A voter's node is a voter with any disk.",
)
def _any_disk_is_voter(right: Any, probe: Probe) -> Any:
    def is_voter(voters: Any, key: Any) -> Any:
        return probe.choose(right(voters, key), voters.get(key.node_id) is not None)

    return is_voter


@seed_bug(
    CHANGES,
    "any-disk-commits",
    "KIP-853",
    "kraft.raft.fetch_requests:_note_position",
    "Another disk of a voter's node counts as the voter.",
)
def _any_disk_commits(right: Any, probe: Probe) -> Any:
    def note_position(turn: Any, role: Any, request: Any) -> None:
        voter = turn.controls.voters.get(request.replica_id)
        other = voter is not None and voter.key.directory_id not in (
            None,
            request.replica_directory_id,
        )
        probe.trigger(different=other)
        if other and voter is not None:
            request = replace(request, replica_directory_id=voter.key.directory_id)
        right(turn, role, request)

    return note_position
