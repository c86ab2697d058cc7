"""One replica's variables in the spec, from what the replica has in memory and on disk.

Spec: KRaftState!vars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kraft.raft.roles import Candidate, Follower, Leader, Prospective, voted_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.refinement.raft.names import Naming
    from krafla.refinement.raft.terms import Terms
    from kraft.ids import OffsetAndEpoch
    from kraft.log.image import LogImage
    from kraft.raft.effects import Effect
    from kraft.raft.roles import Role
    from kraft.raft.state import RaftState

__all__ = ["Disk", "Row", "row_of"]

NO_OFFSET: Final = -1


class Row(NamedTuple):
    """The variables of a replica as plain values; each field has its variable's name."""

    epoch: int
    leader: str | None
    voted: str | None
    role: str
    granted: tuple[str, ...]
    rejected: tuple[str, ...]
    has_fetched: bool
    fetching_snapshot: OffsetAndEpoch | None
    end_offset: tuple[int, ...]
    high_watermark: int
    snapshots: tuple[OffsetAndEpoch, ...]


def row_of(name: str, state: RaftState, naming: Naming, names: Sequence[str]) -> Row:
    """Return the variables of a replica, without its log. Spec: KRaftState!vars."""
    role = state.role
    voted = voted_of(role)
    following = role if isinstance(role, Follower) else None
    standing = role if isinstance(role, Prospective | Candidate) else None
    return Row(
        role.epoch,
        naming.leader_of(state),
        None if voted is None else naming.replica(voted),
        role.__class__.__name__,
        () if standing is None else naming.voters(state, standing.granted),
        () if standing is None else naming.voters(state, standing.rejected),
        following is not None and following.has_fetched,
        None if following is None else following.fetching_snapshot,
        _end_offsets(name, role, naming, names),
        NO_OFFSET if state.high_watermark is None else state.high_watermark,
        snapshot_ids(state.log),
    )


def snapshot_ids(log: LogImage) -> tuple[OffsetAndEpoch, ...]:
    """Return the snapshots of a log, without the one from formatting the cluster."""
    return tuple(one.snapshot_id for one in log.snapshots if one.snapshot_id.end_offset > 0)


def _end_offsets(name: str, role: Role, naming: Naming, names: Sequence[str]) -> tuple[int, ...]:
    if not isinstance(role, Leader):
        return (NO_OFFSET,) * len(names)
    known = {
        naming.replica(key): progress.end_offset
        for key, progress in role.progress.items()
        if progress.end_offset is not None
    }
    known.pop(name, None)
    return tuple(known.get(one, NO_OFFSET) for one in names)


class Disk:
    """The log on a replica's disk, as the performed effects have made it.

    `java` is the sequence of its records from `start` on. A crash cannot take what is before
    `flushed`.
    """

    __slots__ = ("_naming", "_terms", "end", "flushed", "java", "start")

    def __init__(self, terms: Terms, naming: Naming) -> None:
        self._terms = terms
        self._naming = naming
        self.start = self.end = self.flushed = 0
        self.java: Any = terms.empty

    def perform(self, effects: Sequence[Effect]) -> bool:
        """Apply these effects to the log; return whether any of them changes it."""
        changed = False
        for effect in effects:
            perform = _PERFORM.get(effect.__class__.__name__)
            if perform is not None:
                perform(self, effect)
                changed = True
        return changed

    def read(self, log: LogImage) -> None:
        """Take over the log that a start found; all of it is flushed."""
        entries: list[Any] = []
        for batch in log.batches():
            entries += self._terms.entries(batch, self._naming.replica)
        # The first batch may begin before the log does.
        entries = entries[len(entries) - (log.end_offset - log.start_offset) :]
        self.java = self._terms.sequence(entries) if entries else self._terms.empty
        self.start = log.start_offset
        self.end = self.flushed = log.end_offset

    def matches(self, log: LogImage) -> bool:
        """Return whether a log in memory begins and ends where the log on disk does."""
        return log.start_offset == self.start and log.end_offset == self.end

    def append(self, effect: Any) -> None:
        """Write batches at the end."""
        entries: list[Any] = []
        for batch in effect.batches:
            entries += self._terms.entries(batch, self._naming.replica)
        self.java = self._terms.joined(self.java, self._terms.sequence(entries))
        self.end += len(entries)

    def flush(self, _effect: Any) -> None:
        """Flush all that was written."""
        self.flushed = self.end

    def truncate(self, effect: Any) -> None:
        """Truncate the log at an offset."""
        self.java = self._terms.piece(self.java, 1, effect.end_offset - self.start)
        self.end = self.flushed = effect.end_offset

    def clean(self, effect: Any) -> None:
        """Delete the log before the end of a snapshot."""
        start = effect.snapshot_id.end_offset
        self.java = self._terms.piece(self.java, start - self.start + 1, self.end - self.start)
        self.start = start

    def begin(self, effect: Any) -> None:
        """Empty the log and let it begin at the end of a snapshot."""
        self.java = self._terms.empty
        self.start = self.end = self.flushed = effect.snapshot_id.end_offset


_PERFORM: Final = {
    "AppendLog": Disk.append,
    "FlushLog": Disk.flush,
    "TruncateLog": Disk.truncate,
    "CleanLog": Disk.clean,
    "TruncateToSnapshot": Disk.begin,
}
