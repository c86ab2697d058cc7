"""What the records of a dynamic quorum tell of its voters, beside their ids and directories.

Kafka: VoterSet, VotersRecord.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LEVEL: Final = 1
"""The level of kraft.version that every recorded voter supports: no record lists them below."""


class Voter(NamedTuple):
    """The endpoints of a voter, each a name, a host and a port, and its range of kraft.version."""

    endpoints: frozenset[tuple[str, str, int]]
    low: int
    high: int


Told: TypeAlias = "Mapping[tuple[int, str], Voter]"
"""The voters of a record, by id and directory."""


def told_of(listed: Iterable[Mapping[str, Any]]) -> Told:
    """Return what a KRaftVotersRecord tells of the voters that it lists."""
    return {
        (voter["voterId"], voter["voterDirectoryId"]): Voter(
            frozenset((one["name"], one["host"], one["port"]) for one in voter["endpoints"]),
            voter["kRaftVersionFeature"]["minSupportedVersion"],
            voter["kRaftVersionFeature"]["maxSupportedVersion"],
        )
        for voter in listed
    }


def voters_objection(before: Told, after: Told) -> str | None:
    """Return what is wrong with the voters of a record; `before` are those of the last one, if any.

    A record adds, removes or updates one voter: all others stay as they are.

    Kafka: AddVoterHandler, RemoveVoterHandler, UpdateVoterHandler,
    LeaderState.appendStartOfEpochControlRecords.
    """
    for (number, _), voter in sorted(after.items()):
        if not voter.endpoints:
            return f"voter {number} has no endpoint"
        if not voter.low <= _LEVEL <= voter.high:
            return (
                f"voter {number} supports kraft.version {voter.low} to {voter.high}, not {_LEVEL}"
            )
    changed = _different(before, after)
    if not changed or (len(changed) == 1 and before.keys() == after.keys()):
        return None
    return f"the record changes voter {changed[0]} beside another one"


def checkpoint_objection(before: Told, after: Told) -> str | None:
    """Return what is wrong with the voters of a checkpoint; `before` are those of the log.

    Kafka: RecordsSnapshotWriter.Builder.setVoterSet.
    """
    if not before:
        return voters_objection(before, after)
    changed = _different(before, after)
    return f"voter {changed[0]} is not as the log tells" if changed else None


def _different(before: Told, after: Told) -> list[int]:
    """Return the ids of the voters in both that differ, in order."""
    both = before.keys() & after.keys()
    return sorted(key[0] for key in both if before[key] != after[key])
