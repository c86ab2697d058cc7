"""The history of a run: what was ever true, which no replica remembers.

A present state forgets: an epoch that all replicas have left, a vote whose voter has moved on, a
high watermark that was shown and taken back. So the checks keep, for the whole run, the leader of
each epoch, the votes, which record was at each offset in each epoch, and what was ever committed.
Of every disk they keep what was written to it and what was flushed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from krafla.fuzz.engine.violation import Violated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.ids import NodeId, ReplicaKey
    from kraft.log.batches import LogBatch
    from kraft.log.image import LogImage
    from kraft.raft.state import RaftState

__all__ = [
    "NO_FILE",
    "CommittedLog",
    "Elections",
    "History",
    "QuorumFile",
    "Replica",
    "Written",
    "name_of",
    "order_of",
]

# Where a batch has its CRC, which covers everything but the offset and the epoch.
_CRC = slice(17, 21)
_PRUNED_AT = 50_000


def name_of(key: ReplicaKey | None) -> str:
    """Return what a sentence calls a replica."""
    if key is None:
        return "an observer without an id"
    return f"node {key.node_id}"


def order_of(key: ReplicaKey) -> tuple[int, str]:
    """Return the key by which replicas are sorted, so that no hash seed decides their order."""
    return key.node_id, key.directory_id or ""


class QuorumFile(NamedTuple):
    """What the quorum-state file on a disk says."""

    epoch: int = 0
    leader_id: NodeId | None = None
    voted: ReplicaKey | None = None


NO_FILE: Final = QuorumFile()


class Written(NamedTuple):
    """A batch that was written: its CRC, its number of records, and the epoch before it."""

    crc: bytes
    size: int
    epoch_before: int


@dataclass(slots=True)
class Fetches:
    """The fetches since a leader was elected or its voters changed; times are of its own clock.

    ``fetched`` has the time of each replica's last successful fetch. ``quorum`` is the time since
    which a majority has fetched. Once that is too long ago, ``polls_left`` counts the polls that
    may still do something else first.
    """

    since: int = 0
    fetched: dict[ReplicaKey, int] = field(default_factory=dict)
    quorum: int = 0
    polls_left: int | None = None


@dataclass(slots=True)
class Replica:
    """One replica: what is on its disk, what it has said, and its state while it runs.

    ``start``, ``end`` and ``flushed`` describe the log on its disk. Up to ``verified`` its log was
    compared with what is committed. ``owes_flush``: it flushes what it fetches, as all but brokers
    do. ``voters`` are the voter records in its log, as offset and keys. ``damaged``: a fault took
    or changed what it had flushed, so it owes nothing. ``interrupted``: it crashed in the middle of
    a step, so a write may be done or not; if that write truncates the log, the log may now end at
    ``may_end_at``.
    """

    key: ReplicaKey
    file: QuorumFile = NO_FILE
    has_file: bool = False
    log: LogImage | None = None
    start: int = 0
    end: int = 0
    flushed: int = 0
    owes_flush: bool = True
    last_epoch: int = 0
    state: RaftState | None = None
    verified: int = 0
    voters: list[tuple[int, frozenset[ReplicaKey]]] = field(default_factory=list)
    damaged: bool = False
    interrupted: bool = False
    may_end_at: int | None = None
    next_commit: int = -1
    told: tuple[int, NodeId | None] = (-1, None)
    last_correlation: int = -1
    fetches: Fetches = field(default_factory=Fetches)

    def is_sole_voter(self, state: RaftState) -> bool:
        """Return whether its node is the only voter in a state."""
        return state.controls.voters.node_ids == (self.key.node_id,)

    def has_durably(self, end: int, epoch: int) -> bool:
        """Return whether its disk is sure to keep a log with ``epoch`` before ``end``.

        Two logs with a record of one epoch at one offset are equal up to there; other checks make
        sure of that.
        """
        if self.damaged:
            return True
        if self.log is None or self.flushed < end:
            return False
        return self.start >= end or self.log.epoch_before(end) == epoch


@dataclass(slots=True)
class Elections:
    """The leader of each epoch, and each replica's votes."""

    leaders: dict[int, NodeId] = field(default_factory=dict)
    leading: dict[int, ReplicaKey] = field(default_factory=dict)
    firsts: dict[int, tuple[int, int]] = field(default_factory=dict)
    votes: dict[tuple[ReplicaKey, int], ReplicaKey] = field(default_factory=dict)

    def leads(self, epoch: int, leader_id: NodeId, name: str) -> None:
        """Note which node is said to lead an epoch; there is only one."""
        known = self.leaders.setdefault(epoch, leader_id)
        if known != leader_id:
            raise Violated(
                "ElectionSafetyInv",
                f"{name} believes that node {leader_id} leads epoch {epoch}; node {known} does",
            )

    def becomes_leader(self, epoch: int, key: ReplicaKey) -> None:
        """Note which replica becomes leader of an epoch; only one does, and once."""
        self.leads(epoch, key.node_id, name_of(key))
        if epoch in self.leading:
            raise Violated(
                "OneLeaderPerEpochInv",
                f"{name_of(key)} becomes leader of epoch {epoch}, of which "
                f"{name_of(self.leading[epoch])} was leader before",
            )
        self.leading[epoch] = key

    def begins(self, epoch: int, leader_id: int, offset: int) -> None:
        """Note the LeaderChange record of an epoch; there is one, at one offset, of one leader."""
        known = self.firsts.setdefault(epoch, (leader_id, offset))
        if known != (leader_id, offset):
            raise Violated(
                "OneLeaderPerEpochInv",
                f"epoch {epoch} begins with the record of node {leader_id} at offset {offset}, "
                f"and with that of node {known[0]} at {known[1]}",
            )

    def votes_for(self, voter: ReplicaKey, epoch: int, candidate: ReplicaKey) -> None:
        """Note a vote; a replica has one in each epoch."""
        known = self.votes.setdefault((voter, epoch), candidate)
        if known.node_id != candidate.node_id or (
            None not in (known.directory_id, candidate.directory_id) and known != candidate
        ):
            raise Violated(
                "VoteOncePerEpochProp",
                f"in epoch {epoch} {name_of(voter)} voted for {name_of(known)} "
                f"and then for {name_of(candidate)}",
            )


class CommittedLog:
    """All batches that were ever committed, by base offset, epoch and end.

    Batches before ``start`` are forgotten: no log goes back that far.
    """

    __slots__ = ("_bases", "_ends", "_epochs", "end", "last_epoch", "start")

    def __init__(self) -> None:
        self.start = 0
        self.end = 0
        self.last_epoch = 0
        self._bases: list[int] = []
        self._ends: list[int] = []
        self._epochs: list[int] = []

    def extend(self, batches: Iterable[LogBatch]) -> None:
        """Add the batches that follow the end, and skip those before it."""
        for batch in batches:
            if batch.base_offset >= self.end:
                self._bases.append(batch.base_offset)
                self._ends.append(batch.end_offset)
                self._epochs.append(batch.epoch)
                self.end = batch.end_offset
                self.last_epoch = batch.epoch

    def differs_from(self, batches: Iterable[LogBatch]) -> LogBatch | None:
        """Return the first of these batches that is not the committed one at its offset.

        The batches are consecutive; those beyond the committed end are skipped.
        """
        index = -1
        for batch in batches:
            base = batch.base_offset
            if base >= self.end:
                return None
            if base < self.start:
                continue
            if index < 0:
                index = bisect_left(self._bases, base)
            if self._bases[index] != base or self._epochs[index] != batch.epoch:
                return batch
            if self._ends[index] != batch.end_offset:
                return batch
            index += 1
        return None

    def epoch_before(self, end: int) -> int | None:
        """Return the epoch of the batch that ends at this offset; None if none does."""
        index = bisect_left(self._ends, end)
        if index < len(self._ends) and self._ends[index] == end:
            return self._epochs[index]
        return None

    def epoch_at(self, offset: int) -> int | None:
        """Return the epoch of the committed record at an offset; None if it is not remembered."""
        index = bisect_right(self._bases, offset) - 1
        return self._epochs[index] if index >= 0 and offset < self._ends[index] else None

    def has_epoch(self, epoch: int) -> bool:
        """Return whether a remembered committed record has this epoch."""
        index = bisect_left(self._epochs, epoch)
        return index < len(self._epochs) and self._epochs[index] == epoch

    def forget_before(self, offset: int) -> None:
        """Forget the batches that are entirely before an offset."""
        count = bisect_right(self._ends, offset)
        if 0 < count < len(self._ends):
            for column in (self._bases, self._ends, self._epochs):
                del column[:count]
            self.start = self._bases[0]


@dataclass(slots=True)
class History:
    """All that was ever true in a run, and each replica's disk.

    ``written``: every batch ever written, by epoch and offset. ``snapshots``: the values of every
    snapshot ever written, by its id. ``begun_with_voters``: the offsets of voter records in the
    batch that begins an epoch. ``suspended``: why properties of committed records cannot be checked
    any more; empty while they can. ``unsafe``: the fault after which Raft promises nothing.
    """

    replicas: dict[ReplicaKey, Replica] = field(default_factory=dict)
    elections: Elections = field(default_factory=Elections)
    committed: CommittedLog = field(default_factory=CommittedLog)
    written: dict[tuple[int, int], Written] = field(default_factory=dict)
    snapshots: dict[tuple[int, int], int] = field(default_factory=dict)
    begun_with_voters: set[int] = field(default_factory=set)
    suspended: str = ""
    unsafe: str = ""
    _prune_at: int = _PRUNED_AT

    def replica(self, key: ReplicaKey) -> Replica:
        """Return what is known of a replica, which may be new."""
        found = self.replicas.get(key)
        if found is None:
            found = self.replicas[key] = Replica(key)
        return found

    def of_voter(self, key: ReplicaKey) -> Replica | None:
        """Return the replica of a voter; a voter without a disk is its node's latest replica."""
        found = self.replicas.get(key)
        if found is None and key.directory_id is None:
            for each in self.replicas.values():
                if each.key.node_id == key.node_id:
                    found = each
        return found

    def write(self, batch: LogBatch, epoch_before: int, key: ReplicaKey) -> None:
        """Note a batch that a replica wrote: each epoch has only one batch at an offset."""
        this = Written(batch.raw[_CRC], batch.count, epoch_before)
        known = self.written.setdefault((batch.epoch, batch.base_offset), this)
        if known != this:
            raise Violated(
                "LogMatchingInv",
                f"{name_of(key)} writes another batch of epoch {batch.epoch} at offset "
                f"{batch.base_offset} than was written before, or after another epoch",
            )
        if len(self.written) > self._prune_at:
            self._prune()

    def _prune(self) -> None:
        """Forget what is no longer on any disk, so that memory grows no larger than the logs."""
        kept = [one for one in self.replicas.values() if not one.damaged]
        start = min((one.start for one in kept), default=0)
        self.written = {at: one for at, one in self.written.items() if at[1] >= start}
        self.committed.forget_before(start)
        self._prune_at = max(_PRUNED_AT, 2 * len(self.written))
